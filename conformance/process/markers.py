"""Talk to a shell that reads code from its standard input, as many tools do: a marker on stdout ends each answer."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import IO

import psutil

from conformance.model import Seconds
from conformance.payload import Literal
from conformance.process import tree
from conformance.process.capture import Capture
from conformance.process.deadline import Deadline
from conformance.process.exchange import DRAIN_SECONDS, Exchange, Traffic
from conformance.process.launch import Completed, Launch
from conformance.process.leftovers import describe
from conformance.process.server import Server
from conformance.process.talk import Markers
from conformance.status import Exited, ExitStatus, TimedOut

assert sys.platform != "win32"

HELD_BYTES = 1024
"""How much of what came last is held back: a marker is never longer."""


def perform(session: Server, launch: Launch, talk: Markers) -> Completed:
    """Have `session` perform the body of `launch`; raises CancelledError."""
    started = time.monotonic()
    stdout, stderr = Capture(launch.stdout), Capture(launch.stderr)
    answer = _Answer(session, talk, stdout)
    traffic = Traffic(
        _copy(session.requests, "wb"),
        Literal(talk.request),
        {_copy(session.replies, "rb"): answer, _copy(session.messages, "rb"): stderr},
    )
    with Exchange(traffic, answer, partial(tree.rest, session.pid, session.launch, launch)) as exchange:
        leftovers: list[psutil.Process] = []
        try:
            status = exchange.until_end(Deadline(launch, started), session.cancellation)
            ended = time.monotonic()
            if isinstance(status, TimedOut):
                leftovers = tree.rest(session.pid, session.launch, launch)
            elif not answer.complete:
                leftovers = exchange.linger(ended + launch.linger, session.cancellation)
            described = describe(leftovers)
        finally:
            if not answer.complete:
                session.end(launch)
        if answer.complete:
            exchange.leave()
        else:
            exchange.drain(time.monotonic() + DRAIN_SECONDS)
    answer.finish()
    return Completed(
        status,
        stdout.finish(),
        stderr.finish(),
        exchange.stdin_record,
        described,
        Seconds(round(ended - started, 6)),
    )


class _Answer:
    """Finds the markers in what comes on stdout; as the ending of an exchange it tells when the last one has come."""

    def __init__(self, session: Server, markers: Markers, output: Capture) -> None:
        self._session = session
        self._markers = markers
        self._output = output
        self._begun = not markers.begin
        self._held = b""
        self._code: int | None = None
        self.feed(session.unread)

    @property
    def complete(self) -> bool:
        """Whether the marker at the end has come."""
        return self._code is not None

    @property
    def poll_seconds(self) -> float:
        """How often `status` has to be asked."""
        return self._session.exit.poll_seconds

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What tells of the end of the session."""
        return self._session.exit.descriptors

    def status(self) -> ExitStatus | None:
        """Return the code beside the marker, or how the shell ended; None while it runs."""
        return self._session.exit.status() if self._code is None else Exited(self._code)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of stdout: what stands between the markers is output, what follows them is kept."""
        searched = max(0, len(self._held) - HELD_BYTES)
        self._held += chunk
        if self._code is not None:
            return
        if not self._begun:
            _, found, rest = self._held.partition(self._markers.begin)
            if not found:
                return
            self._begun, self._held, searched = True, rest, 0
        end = self._markers.end.search(self._held, searched)
        if end is not None:
            self._code = int(end["code"] or 0)
            self._output.feed(self._held[: self._end_of_output(end.start())])
            self._held = self._held[end.end() :]
        else:
            self._give(self._end_of_output(max(0, len(self._held) - HELD_BYTES)))

    def _end_of_output(self, position: int) -> int:
        """Return where the output before `position` ends that can be given away."""
        return self._held.rfind(b"\n", 0, position) + 1 if self._markers.by_lines else position

    def _give(self, length: int) -> None:
        self._output.feed(self._held[:length])
        self._held = self._held[length:]

    def finish(self) -> None:
        """Keep what came beyond the marker for the next answer; without one, all of it was output."""
        if self._code is None:
            self._output.feed(self._held)
        else:
            self._session.unread = self._held


def _copy(stream: IO[bytes], mode: str) -> IO[bytes]:
    return os.fdopen(os.dup(stream.fileno()), mode, buffering=0)
