"""Annotations of a run on GitHub: workflow commands for its log.

Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from conformance.report.findings import line_gates
from conformance.report.index import IndexedReport
from conformance.report.results import Told, told_of
from conformance.views.text import printable, shortened
from conformance.views.verdict import verdict

Line = Mapping[str, Any]

SHOWN = 10
"""GitHub shows so many annotations of a kind for a step, so one that counts the others may be the last of them."""
MESSAGE_CHARACTERS = 1000
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


class _Annotation(NamedTuple):
    title: str
    message: str


def workflow_commands(report: IndexedReport) -> Iterator[str]:
    """Yield an error for each thing that makes the run fail, the worst first, and a warning for what is provisional."""
    told = told_of(report)
    counts = told.results.counts()
    whole = [_Annotation("conformance: finding", finding) for finding in told.findings[:SHOWN]]
    ahead = []
    if told.cut_short:
        ahead.append(_Annotation("conformance: incomplete", verdict(told).sentence))
    elif told.lacks_a_shell:
        ahead.append(_Annotation("conformance: a required shell is missing", verdict(told).sentence))
    total = len(ahead) + len(told.findings) + counts.get("error", 0) + told.results.gating
    yield from _commands("error", chain(ahead, whole, _cases(told, gating=True)), total)
    failing = sum(counts.get(kind, 0) for kind in ("fail", "fixed"))
    yield from _commands("warning", _cases(told, gating=False), failing - told.results.gating)


def _cases(told: Told, *, gating: bool) -> Iterator[_Annotation]:
    for kind in ("error", "fail", "fixed"):
        for line in told.results.lines([kind]):
            if (kind == "error" or line_gates(line)) is gating:
                note = "provisional " if line["provisional"] and kind != "error" else ""
                message = f"{shortened(line['reason'], MESSAGE_CHARACTERS)}\non {line['environment']}"
                yield _Annotation(f"{note}{kind} {line['id']}", message)


def _commands(kind: str, found: Iterable[_Annotation], total: int) -> Iterator[str]:
    shown = SHOWN if total <= SHOWN else SHOWN - 1
    for annotation in islice(found, shown):
        yield _command(kind, annotation)
    if total > shown:
        more = f"and {total - shown} more: the report has them all"
        yield _command(kind, _Annotation(f"conformance: {total - shown} more", more))


def _command(kind: str, annotation: _Annotation) -> str:
    title = printable(annotation.title).translate(_PROPERTY)
    message = printable(shortened(annotation.message, 2 * MESSAGE_CHARACTERS)).translate(_DATA)
    return f"::{kind} title={title}::{message}\n"
