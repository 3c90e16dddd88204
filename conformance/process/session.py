"""Sessions on POSIX."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from conformance.process import markers, server, swapped_streams
from conformance.process.launch import Cancellation, Completed, Launch
from conformance.process.talk import Markers, Session, Talk

assert sys.platform != "win32"


class PosixSession:
    """Hands bodies to one process. Attributes: `launch`, how it was started."""

    def __init__(self, process: server.Server) -> None:
        self._process = process
        self.launch = process.launch

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""
        return self._process.serves

    def perform(self, launch: Launch, talk: Talk) -> Completed:
        """Have the body that `talk` holds performed, as `launch` says; raises CancelledError."""
        if isinstance(talk, Markers):
            return markers.perform(self._process, launch, talk)
        return swapped_streams.perform(self._process, launch, talk)


@contextmanager
def open_session(launch: Launch, cancellation: Cancellation) -> Iterator[Session]:
    """Start the program of `launch` as a session, and kill it with all that is left of it on leaving.

    Raises OSError where the system refuses to start it.
    """
    process = server.Server(launch, cancellation)
    try:
        yield PosixSession(process)
    finally:
        process.end()
