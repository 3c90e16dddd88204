"""Whether a step came out as a pattern documents it: the small questions behind `contract.judge`. Pure."""

from __future__ import annotations

from collections.abc import Collection

from conformance.model import Expectation, ObservedPattern, Started
from conformance.observation import CapturedStream, StepObservation
from conformance.payload import EMPTY, Payload, sha256
from conformance.shapes import ANYTHING, beginning, documented_sha256
from conformance.status import satisfies


def pattern_departs(pattern: ObservedPattern, started: Started, expectation: Expectation) -> bool:
    """Tell whether what `pattern` documents differs from what the contract asks for at all.

    What may be anything differs where nothing else is documented to do so; beside a status it only goes with that.
    """
    untold = ANYTHING in (pattern.stdout, pattern.stderr, pattern.received)
    if untold and pattern.status is None and pattern.started is None:
        return True
    if pattern.status is not None and not satisfies(expectation.status, pattern.status):
        return True
    if pattern.started is not None and pattern.started is not started:
        return True
    return _stream_departs(pattern.stdout, expectation.stdout, expectation.stderr) or _stream_departs(
        pattern.stderr, expectation.stderr, expectation.stdout
    )


def _stream_departs(pattern: Payload | str | None, expected: Payload | None, other: Payload | None) -> bool:
    if pattern is None or pattern == ANYTHING or expected is None:
        return False
    start = beginning(pattern)
    if start is not None:
        return expected.slice(0, len(start)) != start
    return documented_sha256(pattern, expected, other or EMPTY) != sha256(expected)


def named_subjects(pattern: ObservedPattern) -> set[str]:
    """Return the subjects of which `pattern` says something."""
    named = {
        "status": pattern.status,
        "stdout": pattern.stdout,
        "stderr": pattern.stderr,
        "started": pattern.started,
        "stdin": pattern.received,
    }
    return {subject for subject, value in named.items() if value is not None}


def agreed_subjects(
    pattern: ObservedPattern, expectation: Expectation, observed: StepObservation, departing: Collection[str]
) -> set[str]:
    """Return the subjects in which a step, which departs from the contract in `departing`, is as `pattern` has it."""
    agreed = {
        "status": pattern.status is not None and satisfies(pattern.status, observed.status),
        "stdout": _stream_as_documented(pattern.stdout, observed.stdout, expectation.stdout, expectation.stderr),
        "stderr": _stream_as_documented(pattern.stderr, observed.stderr, expectation.stderr, expectation.stdout),
        "started": pattern.started is not None and (pattern.started is Started.YES) == bool(observed.witness.marks),
        "stdin": pattern.started is Started.NO or (pattern.received is not None and "stdin" in departing),
    }
    return {subject for subject, agrees in agreed.items() if agrees}


def _stream_as_documented(
    pattern: Payload | str | None, captured: CapturedStream, expected: Payload | None, other: Payload | None
) -> bool:
    if pattern is None:
        return False
    start = beginning(pattern)
    if start is not None:
        return captured.head.startswith(start)
    return pattern == ANYTHING or captured.sha256 == documented_sha256(pattern, expected or EMPTY, other or EMPTY)
