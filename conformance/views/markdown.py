"""A report as Markdown, for the summary of a job and for comments: all that others wrote stands in it as code."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.report.index import IndexedReport
from conformance.report.results import Told, told_of
from conformance.status import status_from_json
from conformance.views.changes import COMMENT_CHARACTERS
from conformance.views.document import code, fenced
from conformance.views.terminal import MEANINGS, PROVISIONAL_MEANING, PROVISIONAL_NOTE, TEXT_NOTE
from conformance.views.text import printable, shortened
from conformance.views.verdict import WRONG, verdict

Line = Mapping[str, Any]

REASON_CHARACTERS = 2000
FINDING_CHARACTERS = 500
TITLES = {"error": "Errors", "fail": "Not as documented", "fixed": "Documented deviations that no longer happen"}
_MORE_CHARACTERS = 100
"""What the sentence on what is left out takes."""


class _Room:
    """What is left of the characters that a comment may have."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def take(self, text: str) -> bool:
        """Whether there is room for `text`, which then takes it."""
        fits = len(text) <= self._left
        self._left -= len(text) if fits else 0
        return fits


def markdown(report: IndexedReport) -> Iterator[str]:
    """Yield `report` as Markdown: what it comes to, what is wrong, and a table of its routes.

    It stays below what a comment may have, and says how much it leaves out.
    """
    told = told_of(report)
    room = _Room(COMMENT_CHARACTERS)
    top = "".join(_top(told))
    room.take(top)
    yield top
    # The table is short where the report is an ordinary one, so that it comes last and still has its room.
    table = _Room(COMMENT_CHARACTERS // 4)
    room.take(" " * (COMMENT_CHARACTERS // 4))
    yield from _listed("Findings", map(_finding, told.findings), len(told.findings), room)
    counts = told.results.counts()
    for kind in WRONG:
        yield from _listed(TITLES[kind], map(_case, told.results.lines([kind])), counts.get(kind, 0), room)
    yield from _routes(report, table)


def _top(told: Told) -> Iterator[str]:
    found = verdict(told)
    sign = "✅" if found.is_good else "❌"
    # It is in our own words but for what was cut short, which is named by its environment.
    sentence = code(shortened(found.sentence, FINDING_CHARACTERS)) if told.cut_short else found.sentence
    yield f"### {sign} conformance: {sentence}\n\n"
    counts = told.results.counts()
    yield "| cases | result | meaning |\n| ---: | --- | --- |\n"
    yield from (f"| {counts[kind]} | {kind} | {meaning} |\n" for kind, meaning in MEANINGS if counts.get(kind))
    yield "\n"
    notes = [(told.results.provisional, f"provisional: {PROVISIONAL_MEANING}")]
    notes.append((told.results.on_text, TEXT_NOTE))
    yield from (f"{count} of them {note}.\n\n" for count, note in notes if count)


def _listed(title: str, items: Iterable[str], count: int, room: _Room) -> Iterator[str]:
    if not count:
        return
    heading = f"#### {title}: {count}\n\n"
    room.take(heading + " " * _MORE_CHARACTERS)
    yield heading
    shown = 0
    for item in items:
        if not room.take(item):
            break
        shown += 1
        yield item
    if shown < count:
        yield f"- and {count - shown} more: the report has them all\n"
    yield "\n"


def _finding(finding: str) -> str:
    return f"- {code(shortened(finding, FINDING_CHARACTERS))}\n"


def _case(line: Line) -> str:
    note = PROVISIONAL_NOTE if line["provisional"] else ""
    came = ""
    if line["status"] is not None and line["expected"] is not None:
        statuses = (code(shortened(str(status_from_json(line[name])), 200)) for name in ("expected", "status"))
        came = ": expected {}, came {}".format(*statuses)
    reason = fenced(printable(shortened(line["reason"], REASON_CHARACTERS)), "text")
    details = f"<details><summary>why</summary>\n\n{reason}\n</details>\n"
    return (
        f"- {code(line['id'])} on {code(shortened(line['environment'], 200))}{came}{note}\n"
        + textwrap.indent(details, "  ")
        + "\n"
    )


def _routes(report: IndexedReport, room: _Room) -> Iterator[str]:
    columns = report.column_counts()
    kinds = [kind for kind, _ in MEANINGS if any(kind in counts.results for counts in columns.values())]
    if not columns:
        return
    yield "#### Routes\n\n" + _row(["route", "environment", *kinds]) + _row(["---", "---", *["---:"] * len(kinds)])
    shown = 0
    for column, counts in columns.items():
        numbers = [str(counts.results.get(kind, "")) for kind in kinds]
        row = _row([_cell(column.route), _cell(column.environment), *numbers])
        if not room.take(row):
            break
        shown += 1
        yield row
    if shown < len(columns):
        yield f"\nand {len(columns) - shown} more: the report has them all\n"


def _cell(text: str) -> str:
    """Return `text` as code that no cell of a table ends in: GitHub looks for its end before it looks for code."""
    return code(shortened(text, 200)).replace("|", r"\x7c")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
