"""Sessions on POSIX."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from conformance.process import markers, swapped_streams
from conformance.process.launch import Cancellation, Completed, Launch
from conformance.process.server import Server
from conformance.process.talk import Markers, Session, Talk

assert sys.platform != "win32"


class PosixSession:
    """Hands bodies to one process. Attributes: `launch`, how it was started."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.launch = server.launch

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""
        return self._server.serves

    def perform(self, launch: Launch, talk: Talk) -> Completed:
        """Have the body that `talk` holds performed, as `launch` says; raises CancelledError."""
        if isinstance(talk, Markers):
            return markers.perform(self._server, launch, talk)
        return swapped_streams.perform(self._server, launch, talk)


@contextmanager
def open_session(launch: Launch, cancellation: Cancellation) -> Iterator[Session]:
    """Start the program of `launch` as a session, and kill it with all that is left of it on leaving.

    Raises OSError where the system refuses to start it.
    """
    server = Server(launch, cancellation)
    try:
        yield PosixSession(server)
    finally:
        server.end()
