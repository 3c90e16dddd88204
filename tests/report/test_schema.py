"""The published schema of a report: it says what the code writes, and refuses everything else."""

from __future__ import annotations

import copy
import hashlib
import io
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, get_args

import pytest
from conftest import REPORT_ENVIRONMENT, report_schema, valid_lines

from conformance.catalog import load_catalog
from conformance.condition import Condition
from conformance.errors import ALL_AS_DOCUMENTED, SOMETHING_DIFFERS, HarnessError
from conformance.model import Deviation, EnvironmentKey, Expectation, ObservedPattern, Origin, Seconds
from conformance.observation import (
    CapturedStream,
    Difference,
    Discrepancy,
    Leftover,
    Observation,
    Received,
    Result,
    ResultKind,
    StdinRecord,
    StepObservation,
    WitnessRecord,
)
from conformance.process.capture import HEAD_BYTES, TAIL_BYTES
from conformance.process.leftovers import COMMAND_CHARACTERS
from conformance.report.codec import FORMAT, result_line
from conformance.report.writer import ReportWriter
from conformance.selection import Selection
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut, status_to_json

Place = tuple[str | int, ...]
"""Keys and indices from a line down to a value."""

STATUSES: tuple[ExitStatus, ...] = (
    Exited(7), Signalled(9), TimedOut(), FailedToStart(2, "No such file or directory"), NotReported("why"),
)  # fmt: skip
FREE_NAMES: set[Place] = {("runs", 0, "child_environment"), ("fixtures", 0, "steps", 0, "bodies")}
"""Objects that hold any name."""
MAY_LACK: set[Place] = {*FREE_NAMES, ("results",)}
"""Objects whose keys may be missing."""
MAY_BE_NULL = {"status", "expected", "rule", "deviation", "difference", "system", "decision", "stdin"}


def step(status: ExitStatus) -> StepObservation:
    stream = CapturedStream(3, hashlib.sha256(b"abc").hexdigest(), b"abc", b"abc", Difference(1, 0, b"axc", b"abc"))
    received = Received(3, hashlib.sha256(b"abc").hexdigest())
    return StepObservation(
        status,
        stream,
        stream,
        StdinRecord(3, broken_pipe=False),
        WitnessRecord(1, (received,)),
        (Leftover(7, "sleep 60"),),
        Seconds(0.5),
        decision="block",
    )


@cache
def lines() -> dict[str, dict[str, Any]]:
    """Return a line of each kind, as the code writes them, in which every key that there is has a value."""
    deviation = Deviation(
        ("r",),
        ("f",),
        (),
        (ObservedPattern(Exited(1), None, "anything", None),),
        Condition(),
        "why",
        "https://x",
        Origin("m", 3),
    )
    result = Result(
        "exit-codes/exit-7/bash-file",
        EnvironmentKey("linux", "x86_64", "bash", "5.2.15", "local"),
        ResultKind.DEVIATES,
        "reason",
        status=NotReported("why"),
        expected=Exited(7),
        rule=Expectation(Exited(7), None, None, None, Condition(), "why", "https://x", (), Origin("f", 1)),
        discrepancies=(Discrepancy("status", "expected 7, came 1", "the code collapsed"),),
        deviation=deviation,
        observation=Observation(tuple(map(step, STATUSES))),
    )
    stream = io.StringIO()
    writer = ReportWriter(stream, "in memory")
    catalog = load_catalog(["full"])
    case = next(case for case in catalog.cases() if case.route.stdin is not None)
    writer.header(catalog, (case,), REPORT_ENVIRONMENT, Selection())
    writer.result(result_line(result))
    writer.footer(["something is wrong"], 1)
    return {line["kind"]: line for line in valid_lines(stream.getvalue())}


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of `value` and of everything in it."""
    yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*place, key))


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def changed(line: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """Return `line` with another `value` at `place`."""
    copied = copy.deepcopy(line)
    at(copied, place[:-1])[place[-1]] = value
    return copied


def objects(line: dict[str, Any]) -> list[Place]:
    return [place for place in places(line) if isinstance(at(line, place), dict)]


@pytest.mark.parametrize("kind", ["header", "result", "footer"])
class TestEveryPlaceOfALine:
    def test_a_missing_key_is_refused(self, kind: str) -> None:
        line = lines()[kind]
        accepted = []
        for place in (place for place in objects(line) if place not in MAY_LACK):
            for key in at(line, place):
                copied = copy.deepcopy(line)
                del at(copied, place)[key]
                if report_schema().is_valid(copied):
                    accepted.append((*place, key))
        assert accepted == []

    def test_a_key_more_is_refused(self, kind: str) -> None:
        line = lines()[kind]
        tried = [place for place in objects(line) if place not in FREE_NAMES]
        assert [place for place in tried if report_schema().is_valid(changed(line, (*place, "extra"), 1))] == []

    def test_another_type_is_refused(self, kind: str) -> None:
        line = lines()[kind]
        accepted = []
        for place in (place for place in places(line) if place):
            wrong: list[Any] = [1 if isinstance(at(line, place), str) else "x"]
            if place[-1] not in MAY_BE_NULL:
                wrong.append(None)
            accepted += [(place, value) for value in wrong if report_schema().is_valid(changed(line, place, value))]
        assert accepted == []

    def test_a_number_below_what_it_counts_is_refused(self, kind: str) -> None:
        line = lines()[kind]
        numbers = [place for place in places(line) if type(at(line, place)) in (int, float) and place[-1] != "errno"]
        assert numbers
        assert [place for place in numbers if report_schema().is_valid(changed(line, place, -1))] == []


@pytest.mark.parametrize(
    ("kind", "place", "value"),
    [
        ("header", ("kind",), "Header"),
        ("header", ("format",), FORMAT + 1),
        ("header", ("tool", "name"), "conformance"),
        ("header", ("suite", "digest"), "A" * 64),
        ("header", ("runs",), []),
        ("header", ("runs", 0, "environment"), "linux-x86_64"),
        ("header", ("runs", 0, "started_at"), "2025-01-31 12:00:00"),
        ("header", ("routes", 0, "id"), "Bash"),
        ("header", ("fixtures", 0, "id"), "exit-7"),
        ("result", ("id",), "exit-7/bash-file"),
        ("result", ("id",), "exit-codes/exit-7/bash-file\n"),
        ("result", ("result",), "passed"),
        ("result", ("basis",), "lines"),
        ("result", ("discrepancies", 0, "subject"), "signal"),
        ("result", ("status", "kind"), "hung"),
        ("result", ("steps", 0, "status"), {"kind": "exited", "number": 7}),
        ("result", ("steps", 0, "status", "code"), 2**32),
        ("result", ("steps", 0, "stdout", "head"), "YWJ"),
        ("result", ("steps", 0, "stdout", "sha256"), "ab"),
        ("result", ("deviation", "url"), "ftp://example.org"),
        ("result", ("deviation", "anything"), ["status"]),
        ("footer", ("results",), {"passed": 1}),
        ("footer", ("results",), {"pass": 0}),
        ("footer", ("exit_code",), 2),
    ],
)
def test_an_unknown_word_or_form_is_refused(kind: str, place: Place, value: Any) -> None:
    assert not report_schema().is_valid(changed(lines()[kind], place, value))


def test_the_lines_above_hold_every_key_of_the_schema() -> None:
    used = {place[-1] for line in lines().values() for place in places(line) if place}
    known = {name for part in _parts(report_schema().schema) for name in part.get("properties", ())}
    assert known - used == set()


def test_every_key_is_described() -> None:
    described = [
        (name, "description" in value or "description" in _target(value))
        for part in _parts(report_schema().schema)
        for name, value in part.get("properties", {}).items()
    ]
    assert [name for name, has in described if not has] == []


def test_the_words_are_those_of_the_code() -> None:
    parts = report_schema().schema["$defs"]
    assert parts["result_kind"]["enum"] == [str(kind) for kind in ResultKind]
    assert parts["header"]["properties"]["format"]["const"] == FORMAT
    assert report_schema().schema["$id"].endswith(f":{FORMAT}")
    codes = [ALL_AS_DOCUMENTED, SOMETHING_DIFFERS, HarnessError.exit_code]
    assert parts["footer"]["properties"]["exit_code"]["enum"] == codes
    assert {type(status) for status in STATUSES} == set(get_args(ExitStatus))
    assert {form["properties"]["kind"]["const"]: set(form["properties"]) for form in parts["status"]["oneOf"]} == {
        status_to_json(status)["kind"]: {"kind", *(field.name for field in fields(status))} for status in STATUSES
    }


def test_the_limits_in_descriptions_are_those_of_the_code() -> None:
    parts = report_schema().schema["$defs"]
    for name, limit in (("head", HEAD_BYTES), ("tail", TAIL_BYTES)):
        assert f"up to {limit}," in parts["stream"]["properties"][name]["description"]
    leftover = parts["step"]["properties"]["leftovers"]["items"]
    assert f"up to {COMMAND_CHARACTERS} characters" in leftover["properties"]["command"]["description"]


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in `schema`."""
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _parts(part)


def _target(value: dict[str, Any]) -> dict[str, Any]:
    """Return the definition that `value` refers to."""
    name = value.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = report_schema().schema["$defs"].get(name, {})
    return found
