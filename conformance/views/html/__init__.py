"""A report as one HTML file that needs nothing else: no network, no server, no other file.

What a report says is never markup: it stands as JSON, in which no tag can be, and the program of the page puts it into
text nodes only. The page's policy lets nothing run or load but that one program and that one style.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

from conformance.report.index import IndexedReport
from conformance.views.html.data import data_of
from conformance.views.terminal import WORDS
from conformance.views.text import printable

_FOLDER = Path(__file__).resolve().parent
WRONG = ("error", "fail", "fixed")
WRONG_SHOWN = 100
"""So many cases are listed above the grid; the rest is counted."""


def page(report: IndexedReport) -> Iterator[str]:
    """Yield the parts of the page."""
    style, program = (_text(name) for name in ("page.css", "page.js"))
    top, bottom = Template(_text("page.html")).substitute(
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {_digest(style)}; "
        f"script-src {_digest(program)}",
        style=style,
        program=program,
        verdict=_escaped(_verdict(report)),
        wrong="".join(_wrong(report)),
        counts="".join(f"<li>{count} {_escaped(result)}</li>" for result, count in report.counts().items()),
        data="\0",
    ).split("\0")  # fmt: skip
    yield top
    yield from data_of(report)
    yield bottom


def _verdict(report: IndexedReport) -> str:
    counts = report.counts()
    total = sum(counts.values())
    if not report.complete:
        return f"Incomplete: {total} results of {report.header['cases']} cases"
    findings = len(report.footer["findings"]) if report.footer is not None else 0
    wrong = report.gating + counts.get("error", 0) + findings
    if wrong:
        return f"{wrong} of {total} results and findings are not as documented"
    return f"All {total} results are as documented" if total else "No results"


def _wrong(report: IndexedReport) -> Iterator[str]:
    """Yield what is wrong, as items of a list, the whole run first."""
    if report.footer is not None:
        for number in report.footer["incomplete"]:
            run = report.header["runs"][number]
            shard = f"shard {run['shard']['part']}/{run['shard']['of']}"
            yield f"<li>Incomplete: {_escaped(run['environment'])}, {shard}</li>"
        yield from (f"<li>{_escaped(finding)}</li>" for finding in report.footer["findings"])
    counts = report.counts()
    left = WRONG_SHOWN
    for result in WRONG:
        for line in report.lines([result]) if counts.get(result) else ():
            if not left:
                break
            left -= 1
            address = f"#case={line['id']}&amp;on={escape(line['environment'])}".replace("+", "%2B")
            reason = _escaped(line["reason"].partition("\n")[0])
            note = " (provisional)" if line["provisional"] else ""
            yield f'<li><a href="{address}">{WORDS[result]} {_escaped(line["id"])}</a>{note}: {reason}</li>'
    more = sum(counts.get(result, 0) for result in WRONG) - WRONG_SHOWN
    if more > 0:
        yield f"<li>and {more} more, which the filters show</li>"


def _escaped(text: str) -> str:
    return escape(printable(text))


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
