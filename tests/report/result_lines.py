"""Result lines as a run writes them, for tests that run nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.condition import Condition
from conformance.model import Deviation, EnvironmentKey, ObservedPattern, Origin, Seconds
from conformance.observation import (
    Basis,
    CapturedStream,
    Discrepancy,
    Observation,
    Result,
    ResultKind,
    StdinRecord,
    StepObservation,
    System,
    WitnessRecord,
)
from conformance.report.codec import result_line
from conformance.status import Exited, ExitStatus

HERE = EnvironmentKey("linux", "x86_64", "bash", "5.2.15", "local")
DOCUMENTED = Deviation(
    ("r",),
    ("f",),
    (),
    (ObservedPattern(None, None, None, None),),
    Condition(),
    "it is so",
    "https://x/1",
    Origin("m", 3),
)


def line(
    case: str,
    came: ExitStatus,
    expected: ExitStatus | None = None,
    *,
    deviation: Deviation | None = None,
    provisional: bool = False,
    stdout: bytes = b"",
    lost: Mapping[str, str] | None = None,
    system: System | None = None,
) -> dict[str, Any]:
    """Return the line of a case that came out as `came`; `lost` are discrepancies, each with its meaning."""
    expected = came if expected is None else expected
    found = dict(lost or {}) | ({} if came == expected else {"status": "another code"})
    missed = ResultKind.FAIL if deviation is None else ResultKind.DEVIATES
    step = StepObservation(
        came, _stream(stdout), _stream(b""), StdinRecord(0, broken_pipe=False), WitnessRecord(1), (), Seconds(0.1)
    )
    return result_line(
        Result(
            case,
            HERE,
            missed if found else ResultKind.PASS,
            "why",
            provisional=provisional,
            status=came,
            expected=expected,
            discrepancies=tuple(Discrepancy(subject, "", meaning) for subject, meaning in found.items()),
            deviation=deviation,
            observation=Observation((step,), system),
        )
    )


def driven(version: str = "1.0", basis: Basis = Basis.BYTES) -> System:
    """Return a system that an adapter drives."""
    return System("thing", version, basis)


def silent_line(case: str, kind: ResultKind) -> dict[str, Any]:
    """Return the line of a case of which nothing is known."""
    return result_line(Result(case, HERE, kind, "for a reason"))


def codes(route: str, found: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return a line of `route` for each fixture in `found`, which ended with that code."""
    return [line(f"{fixture}/{route}", Exited(code)) for fixture, code in found.items()]


def without(lines: Sequence[dict[str, Any]], index: int) -> list[dict[str, Any]]:
    """Return `lines` but for one."""
    return [*lines[:index], *lines[index + 1 :]]


def _stream(data: bytes) -> CapturedStream:
    return CapturedStream(len(data), hashlib.sha256(data).hexdigest(), data, data, None)
