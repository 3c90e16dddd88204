"""The process of a session on POSIX, with the harness's ends of its pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import suppress

from conformance.process import exits, posix, tree
from conformance.process.launch import Cancellation, Launch
from conformance.witness import CHUNK_BYTES

assert sys.platform != "win32"

MESSAGE_BYTES = 500
"""How much of what a session said about itself is told."""


class Server:
    """A process that is given bodies until one of them, or it itself, ends it.

    Attributes: `launch`, how it was started; `requests`, `replies` and `messages`, the harness's ends of its pipes;
    `exit`, which tells of its end; `unread`, what it sent beyond the end of the last body's answer; `retired`, whether
    it has said that it takes no more bodies.
    """

    def __init__(self, launch: Launch, cancellation: Cancellation) -> None:
        """Start the program of `launch`; raises OSError where the system refuses it."""
        self.cancellation = cancellation
        self.launch = launch
        self._process = posix.start(launch)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.requests, self.replies, self.messages = self._process.stdin, self._process.stdout, self._process.stderr
        self.exit = exits.watch_exit(self._process)
        self.unread = b""
        self.retired = False
        self._said = b""
        self._ended = False
        for stream in (self.replies, self.messages):
            os.set_blocking(stream.fileno(), False)

    @property
    def pid(self) -> int:
        """The session's own process."""
        return self._process.pid

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""
        return not self._ended and not self.retired and self.exit.status() is None

    def message(self) -> str:
        """Return the beginning of what the session said about itself last."""
        self.listen()
        return self._said[:MESSAGE_BYTES].decode("utf-8", "replace").strip()

    def listen(self) -> None:
        """Take what the session has said about itself, so that it never has to wait for room to say more."""
        with suppress(BlockingIOError):
            self._said = os.read(self.messages.fileno(), CHUNK_BYTES) or self._said

    def forget_messages(self) -> None:
        """Let `message` return only what the session says from now on."""
        self.listen()
        self._said = b""

    def end(self, *launches: Launch, strays: Collection[int] = ()) -> None:
        """Kill the session, with all that the bodies of `launches` left behind, where that has not been done yet.

        `strays` are the pids that were seen of what they left, and may have ended since.
        """
        if self._ended:
            return
        self._ended = True
        tree.collect(self.pid, {*strays, *tree.kill_tree(self.pid, self.launch, *launches)})
        self.exit.close()
        with self._process:  # which closes its pipes
            pass
