"""The exact pattern of what came, conditions that tell environments apart, and observations read back from lines."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import pytest
from conftest import tiny_catalog
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.baseline.conditions import separating
from conformance.baseline.patterns import FEW_BYTES, UndocumentableError, pattern_of, pattern_table
from conformance.catalog import load_catalog
from conformance.catalog.matrices import observed_pattern
from conformance.catalog.values import SIGNALS
from conformance.condition import Condition, Facts
from conformance.model import Case, EnvironmentKey, Expectation, Origin, Seconds
from conformance.observation import (
    CapturedStream,
    Observation,
    Received,
    Result,
    ResultKind,
    StdinRecord,
    StepObservation,
    WitnessRecord,
)
from conformance.payload import Literal, Payload
from conformance.process.capture import Capture
from conformance.report.codec import result_line
from conformance.report.decoding import observation_in
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut

ROUTE = 'argv = ["sh", "-c", "{{body}}"]\n'


def one_case(folder: Path, stdout: str = '""') -> tuple[Case, tuple[Expectation, ...]]:
    (case,) = tiny_catalog(folder, ROUTE, '"exit 7"', stdout=stdout).cases()
    (step,) = case.fixture.steps
    return case, step.expectations


def captured(data: bytes, expected: Payload | None) -> CapturedStream:
    capture = Capture(expected)
    capture.feed(data)
    return capture.finish()


def step(expectation: Expectation, status: ExitStatus, stdout: bytes = b"", stderr: bytes = b"") -> StepObservation:
    return StepObservation(
        status,
        captured(stdout, expectation.stdout),
        captured(stderr, expectation.stderr),
        StdinRecord(0, broken_pipe=False),
        WitnessRecord(1, (Received(3, hashlib.sha256(b"abc").hexdigest()),)),
        (),
        Seconds(0.1),
    )


@pytest.mark.parametrize(
    ("status", "table"),
    [
        (Exited(1), {"exit": 1}),
        (Exited(0xC0000005), {"exit": 0xC0000005}),
        (Exited(137), {"exit": 137}),
        (Signalled(9), {"signal": "KILL"}),
        (TimedOut(), {"timed_out": True}),
        (FailedToStart(errno.E2BIG, "too long"), {"failed_to_start": "E2BIG"}),
        (NotReported("it hung up"), {"not_reported": True}),
    ],
)
def test_how_it_ended(status: ExitStatus, table: dict[str, object], tmp_path: Path) -> None:
    case, expectations = one_case(tmp_path)
    observation = Observation((step(expectations[0], status),))
    assert pattern_table(pattern_of(case, expectations, observation)) == table


def test_a_signal_without_a_name_on_all_systems_is_not_documented(tmp_path: Path) -> None:
    case, expectations = one_case(tmp_path)
    unnamed = next(number for number in range(1, 64) if number not in SIGNALS.values())
    with pytest.raises(UndocumentableError, match="has no name that all systems know"):
        pattern_of(case, expectations, Observation((step(expectations[0], Signalled(unnamed)),)))


@pytest.mark.parametrize(
    ("stdout", "told"),
    [
        (b"", "empty"),
        (b"a\r\nb", "final-newline-lost"),
        (b"a\r\nb\n\n", "final-newline-added"),
        (b"a\nb\n", "crlf-to-lf"),
        (b"a\r\nb\r\n", "lf-to-crlf"),
        (b"a\r\nc\n", {"text": "a\r\nc\n"}),
        (b"a\0", {"hex": "61 00"}),
        (b"\xff", {"hex": "ff"}),
        (b"\x1b[m", {"hex": "1b 5b 6d"}),
        (b"x" * FEW_BYTES, {"text": "x" * FEW_BYTES}),
        (b"x" * (FEW_BYTES + 1), f"sha256:{hashlib.sha256(b'x' * (FEW_BYTES + 1)).hexdigest()}"),
    ],
)
def test_what_came_on_a_stream(stdout: bytes, told: object, tmp_path: Path) -> None:
    case, expectations = one_case(tmp_path, stdout='"a\\r\\nb\\n"')
    observation = Observation((step(expectations[0], Exited(7), stdout),))
    pattern = pattern_of(case, expectations, observation)
    assert pattern_table(pattern) == {"stdout": told}
    assert observed_pattern(pattern_table(pattern), Origin("", 0)) == pattern


def several_steps() -> tuple[Case, tuple[Expectation, ...]]:
    """Return a case of three steps or more, and what is expected of each."""
    for case in load_catalog(["sessions"]).cases():
        steps = case.fixture.steps
        expected = tuple(step.expectations[0] for step in steps)
        if len(steps) > 2 and all(e.stdout == Literal(b"") and e.received_bytes is None for e in expected):
            return case, expected
    raise AssertionError("there is no such fixture any more")


def test_steps_that_differ_alike_have_one_pattern_and_others_none() -> None:
    case, expectations = several_steps()
    same = Observation(tuple(step(expectation, TimedOut(), b"x") for expectation in expectations))
    assert pattern_table(pattern_of(case, expectations, same)) == {"timed_out": True, "stdout": {"text": "x"}}
    first, *others = expectations
    rest = tuple(step(expectation, expectation.status, b"y") for expectation in others)
    with pytest.raises(UndocumentableError, match="its steps differ in different ways"):
        pattern_of(case, expectations, Observation((step(first, TimedOut(), b"x"), *rest)))


FACTS = st.builds(
    Facts,
    os=st.sampled_from(["linux", "windows", "freebsd14"]),
    dialect=st.just("sh"),
    shell=st.sampled_from(["bash", "pwsh", ""]),
    version=st.sampled_from(["7.4.14", "7.6.0-preview.1", "7.6.9", "5.2.15", "unknown"]),
    runner=st.sampled_from(["local", "docker"]),
    judged_by=st.just("last-statement"),
)


@settings(max_examples=200, deadline=None)
@given(group=st.sets(FACTS, min_size=1, max_size=4), others=st.sets(FACTS, max_size=4))
def test_conditions_hold_for_a_group_and_for_no_other(group: set[Facts], others: set[Facts]) -> None:
    others -= group
    conditions = separating(group, others, lambda condition: True)
    for facts in group:
        assert not conditions or sum(condition.matches(facts) for condition in conditions) == 1
    assert not any(condition.matches(facts) for condition in conditions for facts in others)
    if not others:
        assert conditions == (Condition(),)
    if not conditions:  # what a condition cannot name: a system, a shell or a version
        assert any(facts.os == "freebsd14" or not facts.shell or facts.version == "unknown" for facts in group)


def test_what_is_not_accepted_is_not_returned() -> None:
    facts = Facts("linux", "sh", "bash", "5.2.15", "local", "last-statement")
    assert separating([facts], [], lambda condition: condition.keys == 2) == (Condition(os="linux", shell="bash"),)
    assert separating([facts], [], lambda condition: False) == ()


def test_an_observation_comes_back_from_its_line(tmp_path: Path) -> None:
    case, expectations = one_case(tmp_path)
    observation = Observation((step(expectations[0], Signalled(9), b"\xff\0", b"e" * 5000),))

    key = EnvironmentKey("linux", "x86_64", "bash", "5.2.15", "local")
    line = result_line(Result(case.id, key, ResultKind.FAIL, "why", observation=observation))
    assert observation_in(line) == observation
