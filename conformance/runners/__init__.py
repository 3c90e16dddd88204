"""Runners: where the processes of a route run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from conformance.model import EnvironmentKey, Route
from conformance.observation import WitnessRecord
from conformance.process import Completed, Conversation, Launch, Session
from conformance.shells import Shell


@dataclass(frozen=True)
class Availability:
    """Whether a runner can be used on this machine; `reason` says why not."""

    available: bool
    reason: str = ""


@dataclass(frozen=True)
class Stage:
    """What one case has to itself at a place."""

    folder: Path
    """Holds the body and the route's files."""
    working_directory: Path
    environment: Mapping[str, str]
    """The whole environment of the case's processes."""
    witness_file: Path


class Place(Protocol):
    """An opened runner: one worker's private corner of it."""

    def stage(self) -> AbstractContextManager[Stage]:
        """Prepare what one case has to itself, and clear it away afterwards."""

    def body(self, text: str, dialect: str, stage: Stage) -> str:
        """Return the body `text`, written in `dialect`, with `{{native:N}}`, `{{mark}}` and `{{witness}}` rendered.

        Raises InexpressibleError where the place lacks what the body asks for.
        """

    def wired(self, argv: tuple[str, ...], wiring: Mapping[str, str]) -> tuple[str, ...]:
        """Return the command that runs `argv` with the standard streams of `wiring` closed or full.

        Raises InexpressibleError where the place has no such stream.
        """

    def run(self, launch: Launch) -> Completed:
        """Run a process to its end."""

    def session(self, launch: Launch) -> AbstractContextManager[Session]:
        """Start a process that is given one body after the other; raises OSError where it cannot be started."""

    def conversation(self, launch: Launch) -> AbstractContextManager[Conversation]:
        """Start a program that is asked for one body after the other; raises OSError where it cannot be started."""

    def witnessed(self, stage: Stage) -> WitnessRecord:
        """Read what the body's natives and witnesses wrote down."""


class Runner(Protocol):
    """Where cases run."""

    name: str

    def probe(self) -> Availability:
        """Tell whether this machine has what the runner needs."""

    def sessions(self) -> Availability:
        """Tell whether sessions can be held there."""

    def shell(self, name: str) -> Shell:
        """Return the shell called `name` there; raises ShellError, the same one each time."""

    def program(self, name: str) -> Path:
        """Return the program called `name` there, which is no shell; raises ShellError where it is missing."""

    def system(self, name: str) -> Path:
        """Return the folder where the system called `name` is installed; raises HarnessError where it is not."""

    def environment_key(self, route: Route) -> EnvironmentKey:
        """Return the environment key of results that `route` gets there, as far as its shell is known."""

    def open(self) -> AbstractContextManager[Place]:
        """Open a place for one worker."""
