"""What is said to a session: the values that a route makes, whatever the system."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from conformance.model import Seconds
from conformance.process.launch import Completed, Launch
from conformance.status import ExitStatus


@dataclass(frozen=True)
class SwappedStreams:
    """A body for a session that takes the streams of each from named pipes, and replies on a channel of its own.

    The request is one line, `ID FOLDER DIRECTORY`. FOLDER holds the `body`, its `environment` (`NAME=VALUE`, each ended
    by NUL) and the named pipes `stdin`, `stdout` and `stderr`; DIRECTORY is where it works. The session opens the
    pipes, replies `ID opened`, performs the body on them, gives them up, and replies `ID exited CODE`. When the body
    ends the session itself, the way in which that ended is the body's.
    """

    folder: Path
    """Where the body and its environment lie, and the named pipes are made."""

    @property
    def identity(self) -> str:
        """The ID: the name of the folder, which no other request has."""
        return self.folder.name


@dataclass(frozen=True)
class Markers:
    """A body for a shell that reads code from its standard input and prints a marker behind what the body printed.

    What the body leaves running goes on, and what that writes later comes in the answer to a later body.
    """

    request: bytes
    begin: bytes
    """What comes before it is nobody's; nothing where there is no such marker."""
    end: re.Pattern[bytes]
    """What follows the output, with a group `code` that is the exit code, or empty for 0."""
    by_lines: bool
    """Whether the line with `end` is no output as a whole; a line that has not ended is then held, however long."""


Talk = SwappedStreams | Markers


@dataclass(frozen=True)
class Answer:
    """What a program says of a body that it was asked to run."""

    status: ExitStatus
    stdout: bytes
    stderr: bytes
    decision: str | None


@dataclass(frozen=True)
class Question:
    """A body for a program that is asked in lines, and answers with one line for each."""

    line: bytes
    """The question, with the newline at its end."""
    read: Callable[[bytes], Answer]
    """Makes the answer of a line; raises ValueError, with what to do, where it is none."""
    grace: Seconds
    """Seconds beyond the body's deadline that the program has for its answer."""


class Session(Protocol):
    """A process that is given bodies until one of them, or it itself, ends it."""

    launch: Launch
    """How it was started."""

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""

    def perform(self, launch: Launch, talk: Talk) -> Completed:
        """Have the body that `talk` holds performed; `launch` is what it would be if it were launched by itself.

        A session that has not said how the body ended is ended. Raises CancelledError.
        """


SHOWN_BYTES = 80

Read = TypeVar("Read")


def shown(line: bytes) -> str:
    """Return the beginning of a line for a message."""
    return repr(line[:SHOWN_BYTES].decode("utf-8", "replace")) + ("..." if len(line) > SHOWN_BYTES else "")


class Conversation(Protocol):
    """A program that is asked for one body after the other."""

    launch: Launch
    """How it was started."""

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""

    def first_line(self, seconds: float, read: Callable[[bytes], Read]) -> Read:
        """Return what `read` makes of the line with which the program begins.

        Raises RouteBrokenError where there is none, or `read` raises ValueError; CancelledError.
        """

    def perform(self, launch: Launch, question: Question) -> Completed:
        """Ask `question` and return what the answer says of its body; `launch` is what that would be by itself.

        Raises RouteBrokenError where there is no such answer, after which nothing more is asked, and CancelledError.
        """

    def farewell(self, seconds: float) -> bool:
        """End the program's standard input, and return whether it ends by itself within `seconds`."""
