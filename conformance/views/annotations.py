"""A report as annotations of a GitHub workflow: commands in the log, which nothing in a report can add to.

Sources: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from conformance.observation import ResultKind
from conformance.report.findings import line_gates
from conformance.report.results import Told
from conformance.views.text import printable, shortened

SHOWN = 10
"""GitHub shows so many of each kind for a step."""
CHARACTERS = 2000
Note = tuple[str, str]
"""A title and a message."""


def workflow_commands(told: Told) -> Iterator[str]:
    """Yield the lines for a job's log: errors for what fails the run, warnings for what is provisional."""
    counts = told.results.counts()
    whole = [("incomplete", told.cut_short)] if told.cut_short else []
    whole += [("finding", finding) for finding in told.findings]
    wrong = [ResultKind.ERROR, ResultKind.FAIL, ResultKind.FIXED]
    errors = chain(whole, _gating(told, wrong))
    yield from _commands("error", errors, len(whole) + told.results.gating + counts.get(ResultKind.ERROR, 0))
    provisional = sum(counts.get(kind, 0) for kind in wrong[1:]) - told.results.gating
    yield from _commands("warning", _provisional(told, wrong[1:]), provisional)


def _gating(told: Told, kinds: Iterable[ResultKind]) -> Iterator[Note]:
    for kind in kinds:
        for line in told.results.lines([kind]):
            if line_gates(line) or kind is ResultKind.ERROR:
                yield f"{kind} {line['id']}", f"on {line['environment']}: {line['reason']}"


def _provisional(told: Told, kinds: Iterable[ResultKind]) -> Iterator[Note]:
    for kind in kinds:
        for line in told.results.lines([kind]):
            if not line_gates(line):
                yield f"provisional {kind} {line['id']}", f"on {line['environment']}: {line['reason']}"


def _commands(command: str, notes: Iterable[Note], count: int) -> Iterator[str]:
    shown = SHOWN if count <= SHOWN else SHOWN - 1
    for title, message in islice(notes, shown):
        yield f"::{command} title={_property(title)}::{_data(message)}\n"
    if count > shown:
        yield f"::{command} title=conformance::and {count - shown} more, which the report names\n"


def _data(text: str) -> str:
    text = printable(shortened(text, CHARACTERS))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
