"""What a wrong status means for the caller, in the words that a bug report gets."""

from __future__ import annotations

import pytest

from conformance.diagnosis import hexdump, status_discrepancy
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut


@pytest.mark.parametrize(
    ("expected", "observed", "meaning"),
    [
        (Exited(2), Exited(0), "the failure is reported as success"),
        (Signalled(9), Exited(0), "the failure is reported as success"),
        (Exited(256), Exited(0), "the failure is reported as success"),
        (Exited(0), Exited(1), "the success is reported as a failure"),
        (Exited(7), Exited(1), "the code collapsed to 1"),
        (Signalled(9), Exited(1), "the code collapsed to 1"),
        (Exited(300), Exited(44), "the code was cut to its low 8 bits"),
        (Exited(0xC0000005), Exited(5), "the code was cut to its low 8 bits"),
        (Exited(7), Exited(2), "the code became 2, which callers take for a verdict"),
        (Exited(7), Exited(8), "the caller sees another code than the hook's own"),
        (Exited(7), Signalled(9), "the process that the caller waits for died of a signal"),
        (Exited(7), TimedOut(), "the route hung"),
        (TimedOut(), Exited(0), "the hook was to run until its deadline"),
        (Exited(7), NotReported("why"), "nobody tells the caller how the hook ended"),
        (Exited(7), FailedToStart(7, "too long"), "the caller gets no exit code at all"),
    ],
)
def test_meaning_of_a_status(expected: ExitStatus, observed: ExitStatus, meaning: str) -> None:
    found = status_discrepancy(expected, observed)
    assert found.meaning.startswith(meaning)
    assert found.difference == f"expected {expected}, came {observed}"


def test_a_hexdump_has_absolute_offsets_and_nothing_that_a_terminal_obeys() -> None:
    assert hexdump(bytes(range(0x18, 0x2A)), offset=0x40) == [
        "00000040  18 19 1a 1b 1c 1d 1e 1f 20 21 22 23 24 25 26 27  |........ !\"#$%&'|",
        "00000050  28 29                                            |()|",
    ]
