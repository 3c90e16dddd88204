"""What happened in a case, and the judgement of it: frozen values, as those of `model`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from conformance.model import Deviation, EnvironmentKey, Expectation, Seconds
from conformance.status import ExitStatus


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a stream departs from the expected one, and both sides from `window_offset` on."""

    offset: int
    window_offset: int
    expected: bytes
    observed: bytes


@dataclass(frozen=True, slots=True)
class CapturedStream:
    """What is kept of a stream, however long it was: enough to compare, name and show it."""

    length: int
    sha256: str
    head: bytes
    tail: bytes
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class StdinRecord:
    """How much of its standard input the process was sent, in bytes, and whether it closed the pipe before the end."""

    sent: int
    broken_pipe: bool


@dataclass(frozen=True, slots=True)
class Leftover:
    """A process of the hook's tree that still ran when the hook had ended, or at its deadline. It was killed."""

    pid: int
    command: str


@dataclass(frozen=True, slots=True)
class Received:
    """What one witness read from its standard input."""

    length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class WitnessRecord:
    """What the body's natives and witnesses wrote down while it ran."""

    marks: int = 0
    received: tuple[Received, ...] = ()


@dataclass(frozen=True, slots=True)
class StepObservation:
    """What happened in one step."""

    status: ExitStatus
    stdout: CapturedStream
    stderr: CapturedStream
    stdin: StdinRecord
    witness: WitnessRecord
    leftovers: tuple[Leftover, ...]
    seconds: Seconds
    repetition: int = 1
    """Which performance of the body this was, where a step has several: the first that differs, or the last."""
    decision: str | None = None
    """What the system made of the hook (`allow`, `block` or `error`), where it decides."""


class Basis(StrEnum):
    """What the comparison of streams rests on."""

    BYTES = "bytes"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class System:
    """What an adapter drives, as it says itself."""

    name: str
    version: str
    basis: Basis
    """Text, where it hands on what it has decoded and nothing else."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What happened in a case, step by step."""

    steps: tuple[StepObservation, ...]
    system: System | None = None
    """What was driven, where the route is an adapter's."""

    @property
    def basis(self) -> Basis:
        """What the comparison of streams rests on."""
        return Basis.BYTES if self.system is None else self.system.basis


class ResultKind(StrEnum):
    """The seven results that a case can have."""

    PASS = "pass"
    DEVIATES = "deviates"
    FAIL = "fail"
    FIXED = "fixed"
    ERROR = "error"
    UNAVAILABLE = "unavailable"
    SKIPPED = "skipped"


SAYS_NOTHING = (ResultKind.SKIPPED, ResultKind.UNAVAILABLE, ResultKind.ERROR)
"""The results of cases of which nothing is known: they were not run, or something broke."""


def gates(kind: str, *, provisional: bool) -> bool:
    """Whether a result of this `kind` makes a run fail: something undocumented, on ground that was seen before."""
    return kind in (ResultKind.FAIL, ResultKind.FIXED) and not provisional


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing in which an observation departs from the contract."""

    subject: str
    """`status`, `started`, `stdin`, `stdout` or `stderr`."""
    difference: str
    """What was expected and what came, without a final full stop."""
    meaning: str
    """What that means for a caller, the same words for every case in which the same thing happened."""
    evidence: str = ""
    """Hexdumps, where bytes differ."""

    @property
    def statement(self) -> str:
        """The whole of it, for a reason."""
        return f"{self.difference}: {self.meaning}." + (f"\n{self.evidence}" if self.evidence else "")


@dataclass(frozen=True, slots=True)
class Result:
    """The judgement of one case, with the sentence that a maintainer can paste into a bug report."""

    id: str
    environment: EnvironmentKey
    kind: ResultKind
    reason: str
    provisional: bool = False
    status: ExitStatus | None = None
    """How the first step that differs ended, or else the last; None where the case was not run."""
    expected: ExitStatus | None = None
    """What the contract asks of that step."""
    rule: Expectation | None = None
    """The expectation that asks it."""
    discrepancies: tuple[Discrepancy, ...] = ()
    deviation: Deviation | None = None
    """The deviation that is documented for the case, whether or not it happened."""
    observation: Observation | None = field(default=None, repr=False)

    @property
    def gates(self) -> bool:
        """Whether this result makes a run fail."""
        return gates(self.kind, provisional=self.provisional)
