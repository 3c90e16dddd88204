"""A report as Markdown: the summary of a GitHub job, or something to paste. It stays below what GitHub takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.observation import ResultKind
from conformance.report.index import Column
from conformance.report.results import Told
from conformance.status import status_from_json
from conformance.views.document import code, escaped, fenced
from conformance.views.terminal import MEANINGS, PROVISIONAL_NOTE, TEXT_NOTE
from conformance.views.text import printable, shortened
from conformance.views.verdict import verdict

Line = Mapping[str, Any]

SUMMARY_CHARACTERS = 500_000
"""The summary of a step may have 1 MiB, and a character up to 4 bytes; nearly all have one."""
REASON_CHARACTERS = 4000
FINDINGS_SHOWN = 50
ROUTES_SHOWN = 200
_WRONG = (ResultKind.ERROR, ResultKind.FAIL, ResultKind.FIXED)


def markdown(told: Told, header: Mapping[str, Any]) -> Iterator[str]:
    """Yield the summary: the verdict, what is wrong, how each route did, and what was run."""
    found = verdict(told)
    yield f"### {'✅' if found.is_good else '❌'} conformance: {escaped(found.sentence)}\n\n"
    for finding in told.findings[:FINDINGS_SHOWN]:
        yield f"- {escaped(shortened(finding, REASON_CHARACTERS))}\n"
    if len(told.findings) > FINDINGS_SHOWN:
        yield f"- and {len(told.findings) - FINDINGS_SHOWN} more findings\n"
    yield "\n"
    yield from _wrong(told)
    yield from _routes(told)
    yield from _ground(header)


def _wrong(told: Told) -> Iterator[str]:
    counts = told.results.counts()
    total = sum(counts.get(kind, 0) for kind in _WRONG)
    room, shown = SUMMARY_CHARACTERS // 2, 0
    for kind in _WRONG:
        for line in told.results.lines([kind]):
            text = _case(line)
            room -= len(text)
            if room < 0:
                yield f"and {total - shown} more\n\n"
                return
            shown += 1
            yield text


def _case(line: Line) -> str:
    note = PROVISIONAL_NOTE if line["provisional"] else ""
    summary = f"{_html(line['result'])}{_html(note)}: <code>{_html(line['id'])}</code>{_statuses(line)}"
    reason = fenced(printable(shortened(line["reason"], REASON_CHARACTERS)), "text")
    return f"<details><summary>{summary}</summary>\n\non {code(line['environment'])}\n\n{reason}\n</details>\n\n"


def _statuses(line: Line) -> str:
    if line["status"] is None:
        return ""
    expected, came = (status_from_json(line[key]) for key in ("expected", "status"))
    return f": expected <code>{_html(str(expected))}</code>, came <code>{_html(str(came))}</code>"


def _html(text: str) -> str:
    """Return one line that shows `text` where HTML stands in Markdown: every sign of either by its number."""
    line = printable(shortened(text, 300)).replace("\n", " ")
    return "".join(char if char.isalnum() or char in " -/.," else f"&#{ord(char)};" for char in line)


def _routes(told: Told) -> Iterator[str]:
    kinds = [kind for kind, _ in MEANINGS if told.results.counts().get(kind)]
    if not kinds:
        return
    counts: dict[Column, dict[str, int]] = {column: {} for column in told.results.columns()}
    for line in told.results.lines():
        of_column = counts[Column(line["route"], line["environment"])]
        of_column[line["result"]] = of_column.get(line["result"], 0) + 1
    yield _row(["route", "environment", *kinds])
    yield _row(["---", "---", *("--:" for _ in kinds)])
    for column, found in list(counts.items())[:ROUTES_SHOWN]:
        yield _row([_cell(column.route), _cell(column.environment), *(str(found.get(kind, "")) for kind in kinds)])
    yield _row(["all", "", *(str(told.results.counts()[kind]) for kind in kinds)])
    if len(counts) > ROUTES_SHOWN:
        yield f"\nand {len(counts) - ROUTES_SHOWN} more columns\n"
    if told.results.on_text:
        yield f"\n{told.results.on_text} of them {TEXT_NOTE}.\n"
    yield "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cell(text: str) -> str:
    return code(text).replace("|", "\\|")


def _ground(header: Mapping[str, Any]) -> Iterator[str]:
    tool, suite = header["tool"], header["suite"]
    told_suite = f"{tool['name']} {tool['version']}, SHA-256 {suite['digest']}"
    yield "<details><summary>What was run, and on what</summary>\n\n"
    yield f"- suite: {escaped(told_suite)}\n"
    for run in header["runs"]:
        shells = ", ".join(_shell(shell) for shell in run["shells"])
        shard = f"shard {run['shard']['part']}/{run['shard']['of']}"
        what = f"{run['environment']}, {shard} of {run['selection']}: {run['cases']} cases; {shells}"
        yield f"- {escaped(shortened(what, REASON_CHARACTERS))}\n"
    yield "\n</details>\n"


def _shell(shell: Mapping[str, str]) -> str:
    return f"{shell['name']} {shell['version']}" if "name" in shell else f"{shell['asked']} unavailable"
