"""The exact pattern of what was observed, and patterns as the tables that stand in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.catalog.matrices import observed_pattern
from conformance.catalog.values import SIGNALS
from conformance.contract import discrepancies
from conformance.model import Case, Expectation, ObservedPattern, Origin, Started
from conformance.observation import CapturedStream, Observation, StepObservation
from conformance.payload import EMPTY, Payload
from conformance.shapes import ANYTHING, recognised
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut

FEW_BYTES = 64
"""A stream is written out up to this size; a longer one is told by its digest."""

Table = dict[str, Any]

_NOWHERE = Origin("", 0)
_LAYOUT = dict.fromkeys(map(ord, "\t\r\n"))
_SIGNAL_NAMES = {number: name for name, number in SIGNALS.items()}


class UndocumentableError(Exception):
    """No single pattern tells what came; the message is a part of a sentence that says why."""


def pattern_of(case: Case, expectations: Sequence[Expectation], observation: Observation) -> ObservedPattern:
    """Return exactly that in which `observation` departs from the contract, which it does somewhere.

    Raises UndocumentableError where its steps depart in different ways.
    """
    departures = list(_departures(case, expectations, observation))
    table: Table = {}
    statuses = [_status_table(observed.status) for _, observed, subjects in departures if "status" in subjects]
    if statuses:
        table |= _one(statuses)
    for name in ("stdout", "stderr"):
        told = [_told(name, expectation, observed) for expectation, observed, found in departures if name in found]
        if told:
            table[name] = _one(_shared(told))
    started = ["yes" if observed.witness.marks else "no" for _, observed, found in departures if "started" in found]
    if started:
        table["started"] = _one(started)
    if any("stdin" in found for *_, found in departures) and table.get("started") != Started.NO:
        table["received"] = ANYTHING
    return observed_pattern(table, _NOWHERE)


Departure = tuple[Expectation, StepObservation, set[str]]


def _departures(case: Case, expectations: Sequence[Expectation], observation: Observation) -> Iterator[Departure]:
    for step, expectation, observed in zip(case.fixture.steps, expectations, observation.steps, strict=True):
        subjects = {found.subject for found in discrepancies(case, step, expectation, observed)}
        if subjects:
            yield expectation, observed, subjects


def _one(values: Sequence[Any]) -> Any:
    if not values or any(value != values[0] for value in values):
        raise UndocumentableError("its steps differ in different ways")
    return values[0]


def _shared(told: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the first way to tell a stream that tells it in every step; none where there is no such way."""
    return [way for way in told[0] if all(way in ways for ways in told)][:1]


def _told(name: str, expectation: Expectation, observed: StepObservation) -> list[Any]:
    """Return the ways to tell what came on a stream, the most telling first."""
    streams = {"stdout": (observed.stdout, expectation.stdout), "stderr": (observed.stderr, expectation.stderr)}
    captured, expected = streams.pop(name)
    ((_, other),) = streams.values()
    return [*recognised(captured, expected or EMPTY, other or EMPTY), _exactly(captured)]


def _exactly(captured: CapturedStream) -> Any:
    if captured.length > FEW_BYTES:
        return f"sha256:{captured.sha256}"
    return _bytes_table(captured.head)


def _bytes_table(data: bytes) -> Table:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex(" ")}
    return {"text": text} if text.translate(_LAYOUT).isprintable() else {"hex": data.hex(" ")}


def _status_table(status: ExitStatus) -> Table:
    match status:
        case Exited(code):
            return {"exit": code}
        case Signalled(number) if number in _SIGNAL_NAMES:
            return {"signal": _SIGNAL_NAMES[number]}
        case TimedOut():
            return {"timed_out": True}
        case FailedToStart():  # of any other error the case says nothing
            return {"failed_to_start": "E2BIG"}
        case NotReported():
            return {"not_reported": True}
    raise UndocumentableError(f"{status} has no name that all systems know")


def pattern_table(pattern: ObservedPattern) -> Table:
    """Return the table that stands for `pattern` in a file."""
    return {
        **({} if pattern.status is None else _status_table(pattern.status)),
        **{
            name: _stream_value(value)
            for name, value in (("stdout", pattern.stdout), ("stderr", pattern.stderr))
            if value is not None
        },
        **({} if pattern.started is None else {"started": str(pattern.started)}),
        **({} if pattern.received is None else {"received": pattern.received}),
    }


def _stream_value(value: Payload | str) -> Any:
    return value if isinstance(value, str) else _bytes_table(value.slice(0, value.length))
