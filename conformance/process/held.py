"""A program on POSIX that the harness talks with, and the tree below it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psutil

from conformance.process import exits, posix, tree
from conformance.process.conversation import LineConversation
from conformance.process.launch import Cancellation, Launch
from conformance.status import ExitStatus

assert sys.platform != "win32"


class HeldProgram:
    """A program in a session of its own. Attributes: `process` and `launch`."""

    def __init__(self, launch: Launch) -> None:
        """Start the program of `launch`; raises OSError where the system refuses it."""
        self.launch = launch
        self.process = posix.start(launch)
        self._exit = exits.watch_exit(self.process)

    def status(self) -> ExitStatus | None:
        """Return how the program ended; None while it runs."""
        return self._exit.status()

    def remains(self, body: Launch) -> list[psutil.Process]:
        """Return what still runs of `body`, known by its token."""
        return tree.with_token(self.process.pid, body)

    def kill(self, body: Launch) -> None:
        """Kill what `remains` finds, and collect what was handed to the harness."""
        tree.collect_rest(self.process.pid, tree.kill_until_none(lambda: self.remains(body)))

    def end(self, *bodies: Launch) -> None:
        """Kill the program with all that it and `bodies` started."""
        tree.collect(self.process.pid, tree.kill_tree(self.process.pid, self.launch, *bodies))
        tree.collect_adopted()
        self._exit.close()
        self.process.wait()


@contextmanager
def open_conversation(launch: Launch, cancellation: Cancellation) -> Iterator[LineConversation]:
    """Start the program of `launch` to talk with it, and kill it with all that is left of it on leaving.

    Raises OSError where the system refuses to start it.
    """
    with closing(LineConversation(HeldProgram(launch), cancellation)) as conversation:
        yield conversation
