"""What is started and what came of it: the values on both sides of `process.run`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.model import Seconds
from conformance.observation import CapturedStream, Leftover, StdinRecord, StepObservation, WitnessRecord
from conformance.payload import Payload
from conformance.status import ExitStatus

TOKEN_VARIABLE = "CONFORMANCE_CASE"
"""The variable by which the processes of a hook's tree are known wherever they went."""


@dataclass(frozen=True)
class Launch:
    """A process to start, in a session of its own, with three pipes."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    """The whole environment; it holds `TOKEN_VARIABLE` with a value that no other launch has."""
    directory: Path
    """The working directory, which no other launch has."""
    stdin: Payload
    stdout: Payload | None
    """What standard output is compared with; None where nothing is expected."""
    stderr: Payload | None
    deadline: Seconds
    """Seconds after the start at which the whole tree is killed."""
    linger: Seconds
    """Seconds that the rest of the tree may still write after the process has ended."""
    started_file: Path | None = None
    """Where given, the deadline counts from when this file exists, so that a slow start costs a hook no time."""
    start_allowance: float = 0.0
    """Seconds after which the deadline begins to count without that file."""

    @property
    def token(self) -> str:
        """The value of `TOKEN_VARIABLE`."""
        return self.environment[TOKEN_VARIABLE]


@dataclass(frozen=True)
class Completed:
    """How a launch went. Nothing of its tree runs any more."""

    status: ExitStatus
    stdout: CapturedStream
    stderr: CapturedStream
    stdin: StdinRecord
    leftovers: tuple[Leftover, ...]
    seconds: Seconds
    decision: str | None = None
    """What the system made of the hook, where it decides."""

    def observation(self, witness: WitnessRecord) -> StepObservation:
        """Return what happened in the step, in which the body wrote down `witness`."""
        return StepObservation(
            status=self.status,
            stdout=self.stdout,
            stderr=self.stderr,
            stdin=self.stdin,
            witness=witness,
            leftovers=self.leftovers,
            seconds=self.seconds,
            decision=self.decision,
        )


class CancelledError(Exception):
    """The run was cancelled while the process ran; its tree has been killed."""


class Cancellation:
    """A switch that ends every running launch at once; safe to throw from a signal handler.

    Attributes: `descriptor` becomes readable when it is thrown.
    """

    def __init__(self) -> None:
        self.descriptor, self._writer = os.pipe()
        self._thrown = False

    @property
    def thrown(self) -> bool:
        """Whether the run is cancelled."""
        return self._thrown

    def throw(self) -> None:
        """Cancel the run."""
        if not self._thrown:
            self._thrown = True
            os.write(self._writer, b"!")

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.descriptor)
        os.close(self._writer)
