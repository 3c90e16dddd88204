"""Exit statuses: which one satisfies which, how they read, and that JSON keeps them."""

from __future__ import annotations

import errno
import json
import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.status import (
    Exited,
    ExitStatus,
    FailedToStart,
    NotReported,
    Signalled,
    TimedOut,
    satisfies,
    signal_name,
    status_from_json,
    status_to_json,
)

CODES = st.one_of(st.integers(0, 255), st.integers(0, 2**32 - 1))
SIGNALS = st.integers(1, 64)
STATUSES = st.one_of(
    st.builds(Exited, CODES),
    st.builds(Signalled, SIGNALS),
    st.just(TimedOut()),
    st.builds(FailedToStart, st.integers(1, 133), st.text()),
    st.builds(NotReported, st.text()),
)


@settings(max_examples=200, deadline=None)
@given(STATUSES, STATUSES)
def test_only_a_death_by_signal_may_arrive_in_two_forms(expected: ExitStatus, observed: ExitStatus) -> None:
    two_forms = isinstance(expected, Signalled) and observed == Exited(128 + expected.number)
    other_words = (isinstance(expected, NotReported) and isinstance(observed, NotReported)) or (
        isinstance(expected, FailedToStart)
        and observed == FailedToStart(expected.errno, getattr(observed, "detail", ""))
    )
    assert satisfies(expected, observed) == (expected == observed or two_forms or other_words)


@given(st.integers(1, 133), st.integers(1, 133), st.text(), st.text())
def test_a_start_that_failed_is_the_same_in_whatever_words(expected: int, observed: int, one: str, other: str) -> None:
    assert satisfies(FailedToStart(expected, one), FailedToStart(observed, other)) == (expected == observed)
    assert not satisfies(FailedToStart(expected, one), Exited(expected))


@given(SIGNALS)
def test_a_death_by_signal_as_a_code(number: int) -> None:
    assert satisfies(Signalled(number), Signalled(number))
    assert satisfies(Signalled(number), Exited(128 + number))
    assert not satisfies(Exited(128 + number), Signalled(number))
    assert not satisfies(Signalled(number), Exited(number))
    assert not satisfies(Signalled(number), Exited(2**32 - number))


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (Exited(137), Signalled(9)),
        (Exited(124), TimedOut()),
        (TimedOut(), Exited(124)),
        (TimedOut(), Signalled(9)),
        (TimedOut(), Exited(137)),
        (Signalled(9), TimedOut()),
        (Signalled(9), Exited(9)),
        (Signalled(9), Exited(143)),
        (Exited(1), Exited(257)),
        (Exited(0), NotReported("no answer")),
        (Exited(127), FailedToStart(errno.ENOENT, "bash")),
    ],
)
def test_what_does_not_satisfy(expected: ExitStatus, observed: ExitStatus) -> None:
    assert not satisfies(expected, observed)


def test_statuses_of_different_kinds_are_never_equal() -> None:
    statuses: list[ExitStatus] = [Exited(9), Signalled(9), TimedOut(), FailedToStart(9, ""), NotReported("")]
    assert len(set(statuses)) == len(statuses)


@settings(max_examples=200, deadline=None)
@given(STATUSES)
def test_json_keeps_a_status(status: ExitStatus) -> None:
    value = json.loads(json.dumps(status_to_json(status)))
    assert status_from_json(value) == status
    assert type(status_from_json(value)) is type(status)


@pytest.mark.parametrize("value", [{}, {"kind": "killed"}, {"kind": "exited"}, {"kind": "timed_out", "code": 1}])
def test_json_of_something_else_is_refused(value: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError)):
        status_from_json(value)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Exited(0), "exited(0)"),
        (Exited(137), "exited(137)"),
        (Exited(256), "exited(256 = 0x00000100)"),
        (Exited(3221225477), "exited(3221225477 = 0xC0000005)"),
        (Signalled(9), "signalled(9 SIGKILL)"),
        (Signalled(63), "signalled(63 signal 63)"),
        (TimedOut(), "timed_out"),
        (FailedToStart(errno.ENOENT, "no bash"), "failed_to_start(ENOENT: no bash)"),
        (FailedToStart(9999, "odd"), "failed_to_start(9999: odd)"),
        (NotReported("no answer"), "not_reported(no answer)"),
    ],
)
def test_how_a_status_reads(status: ExitStatus, text: str) -> None:
    assert str(status) == text


def test_signal_names() -> None:
    assert signal_name(signal.SIGTERM) == "SIGTERM"
    assert signal_name(77) == "signal 77"
