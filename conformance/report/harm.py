"""How bad it is for a caller that a route does not deliver what the contract has: one ranking for all views."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from conformance.status import Exited, ExitStatus, NotReported, TimedOut, satisfies, status_from_json

Line = Mapping[str, Any]


class Harm(IntEnum):
    """What a caller gets in the place of what the hook said, the worst first."""

    FAILURE_AS_SUCCESS = 0
    NOBODY_TELLS = 1
    HANG = 2
    ANOTHER_CODE = 3
    SUCCESS_AS_FAILURE = 4
    NOT_STARTED = 5
    STREAM_DAMAGED = 6
    NONE = 7

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


def status_harm(wanted: ExitStatus, came: ExitStatus) -> Harm:
    """Return what it does to a caller that `came` stands where `wanted` should."""
    if satisfies(wanted, came):
        return Harm.NONE
    if came == Exited(0):
        return Harm.FAILURE_AS_SUCCESS
    if isinstance(came, NotReported):
        return Harm.NOBODY_TELLS
    if isinstance(came, TimedOut):
        return Harm.HANG
    return Harm.SUCCESS_AS_FAILURE if wanted == Exited(0) else Harm.ANOTHER_CODE


def harms_of(line: Line) -> dict[str, Harm]:
    """Return the harm of everything in the result `line` that is not as the contract has it, by its subject."""
    return {subject: _harm(line, subject) for subject in (found["subject"] for found in line["discrepancies"])}


def harm_of(line: Line) -> Harm:
    """Return the worst harm in the result `line` of a case that was run."""
    return min(harms_of(line).values(), default=Harm.NONE)


def _harm(line: Line, subject: str) -> Harm:
    if subject == "status":
        harm = status_harm(status_from_json(line["expected"]), status_from_json(line["status"]))
        # Of several steps the line tells how the first that differs ended, which may differ in its streams alone.
        return Harm.ANOTHER_CODE if harm is Harm.NONE else harm
    return Harm.NOT_STARTED if subject == "started" else Harm.STREAM_DAMAGED
