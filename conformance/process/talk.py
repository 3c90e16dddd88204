"""What is said to a session: the values that a route makes, whatever the system."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from conformance.process.launch import Completed, Launch


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
