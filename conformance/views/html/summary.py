"""What the page says without its program: what is wrong, the counts, what was run and on what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from conformance.observation import ResultKind
from conformance.report.index import IndexedReport
from conformance.views.terminal import MEANINGS, PROVISIONAL_MEANING, PROVISIONAL_NOTE, TEXT_NOTE, cell
from conformance.views.text import printable

Line = Mapping[str, Any]

RUNS_UNFOLDED = 4
LISTED = 50
"""So many errors, and so many other cases, are named above the grid; the others are counted."""


def text(value: object) -> str:
    """Return `value` as HTML that shows it and can be nothing else, in an attribute as well."""
    return escape(printable(str(value)))


def what_is_wrong(report: IndexedReport) -> Iterator[str]:
    """Yield items of an HTML list: of the report as a whole, then of its cases, the most serious first."""
    if report.footer is None:
        yield "<li>The run was cut short: the report has no footer.</li>"
    for number in report.footer["incomplete"] if report.footer is not None else ():
        yield f"<li>A run was cut short: {_run_name(report, number)}</li>"
    yield from (f"<li>{text(finding)}</li>" for finding in _findings(report))
    yield from _errors(report)
    yield from _departures(report)


def _run_name(report: IndexedReport, number: int) -> str:
    run = report.header["runs"][number]
    return text(run["environment"] + _shard(run))


def _errors(report: IndexedReport) -> Iterator[str]:
    """Say a reason once, however many cases have it."""
    first: dict[str, Line] = {}
    counts: Counter[str] = Counter()
    unnamed = 0
    for line in report.lines((ResultKind.ERROR,)):
        if line["reason"] in first or len(first) < LISTED:
            first.setdefault(line["reason"], line)
            counts[line["reason"]] += 1
        else:
            unnamed += 1
    for reason, line in first.items():
        more = f" and {counts[reason] - 1} more" if counts[reason] > 1 else ""
        yield f"<li>{_link(report, line)}{more}: {text(reason)}</li>"
    if unnamed:
        yield f"<li>and {_counted(unnamed, 'other error')}</li>"


def _departures(report: IndexedReport) -> Iterator[str]:
    counts = report.counts()
    listed = 0
    for kind in (ResultKind.FAIL, ResultKind.FIXED):
        for line in report.lines((kind,)) if counts.get(kind) and listed < LISTED else ():
            note = PROVISIONAL_NOTE if line["provisional"] else ""
            meanings = "; ".join(found["meaning"] for found in line["discrepancies"]) or _first_line(line["reason"])
            yield f"<li>{_link(report, line)} on {text(line['environment'])}{note}: {text(meanings)}</li>"
            listed += 1
            if listed == LISTED:
                break
    more = counts.get(ResultKind.FAIL, 0) + counts.get(ResultKind.FIXED, 0) - listed
    if more:
        yield f'<li><a href="#result=fail&amp;result=fixed">and {more} more</a></li>'


def _link(report: IndexedReport, line: Line) -> str:
    address = f"#case={_quoted(line['id'])}"
    if sum(column.route == line["route"] for column in report.columns()) > 1:
        address += f"&on={_quoted(printable(line['environment']))}"
    return f'<a href="{text(address)}"><b>{text(cell(line).plain)}</b> {text(line["id"])}</a>'


def _quoted(value: str) -> str:
    return quote(value, safe="/+:,")


def counts(report: IndexedReport) -> Iterator[str]:
    """Yield a button for each of the seven results; without the page's program they are the counts alone."""
    found = report.counts()
    for kind, meaning in MEANINGS:
        disabled = "" if found.get(kind) else " disabled"
        yield (
            f'<button type="button" data-result="{kind}" class="{kind}" aria-pressed="false" title="{text(meaning)}"'
            f"{disabled}><b>{found.get(kind, 0)}</b> {kind}</button>"
        )


def counts_sentence(report: IndexedReport) -> str:
    """Return all counts in a line."""
    found = report.counts()
    return ", ".join(f"{found[kind]} {kind}" for kind, _ in MEANINGS if found.get(kind)) or "no results"


def notes(report: IndexedReport) -> Iterator[str]:
    """Yield in words how many of the results gate, are provisional, or rest on text."""
    yield f"{_counted(report.gating, 'fails', 'fail') or 'none fails'} the run"
    if report.provisional:
        yield f"{report.provisional} provisional (?): {PROVISIONAL_MEANING}"
    if report.on_text:
        yield f"{report.on_text} {TEXT_NOTE} (~)"


def facts(report: IndexedReport) -> Iterator[str]:
    """Yield the HTML of what was run, and on what: the suite, then each run, folded behind its first line."""
    header = report.header
    rows = [
        ("suite", f"{header['tool']['name']} {header['tool']['version']}, SHA-256 {header['suite']['digest']}"),
        ("matrices", ", ".join(header["suite"]["matrices"])),
    ]
    if report.footer is not None:
        rows.append(("finished", report.footer["finished_at"]))
    yield _list(rows)
    runs = "".join(map(_run, header["runs"]))
    if len(header["runs"]) <= RUNS_UNFOLDED:
        yield runs
    else:
        places = ", ".join(dict.fromkeys(run["environment"] for run in header["runs"]))
        yield f"<details><summary>{len(header['runs'])} runs on {text(places)}</summary>{runs}</details>"


def _run(run: Line) -> str:
    shells = ", ".join(_short(shell) for shell in run["shells"])
    first = [run["environment"] + _shard(run), run["system"]["distribution"], shells, run["started_at"]]
    rows = [
        ("cases", f"{run['cases']} of {run['selection']}{_shard(run)}"),
        ("started", run["started_at"]),
        ("system", f"{run['system']['distribution']} (release {run['system']['release']})"),
        ("Python", run["system"]["python"]),
        *((f"shell {shell['asked']}", _whole(shell)) for shell in run["shells"]),
        *((f"${name}", value) for name, value in run["child_environment"].items()),
    ]
    summary = " · ".join(text(part) for part in first if part)
    return f"<details><summary>{summary}</summary>{_list(rows)}</details>"


def _shard(run: Line) -> str:
    shard = run["shard"]
    return f", shard {shard['part']}/{shard['of']}" if shard["of"] > 1 else ""


def _short(shell: Line) -> str:
    return f"no {shell['asked']}" if "unavailable" in shell else f"{shell['name']} {shell['version']}"


def _whole(shell: Line) -> str:
    if "unavailable" in shell:
        return f"unavailable: {shell['unavailable']}"
    return f"{shell['name']} {shell['version']}, {shell['path']} ({shell['found']})"


def _list(rows: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in rows) + "</dl>"


def _findings(report: IndexedReport) -> Sequence[str]:
    return report.footer["findings"] if report.footer is not None else ()


def _first_line(reason: str) -> str:
    return reason.partition("\n")[0]


def _counted(count: int, one: str, many: str = "") -> str:
    """Return "1 error" or "2 errors"; nothing where there is none."""
    return f"{count} {one if count == 1 else many or one + 's'}" if count else ""
