"""Talk to a shell that reads code from its standard input, as many tools do: a marker on stdout ends each answer."""

from __future__ import annotations

import os
import re
import sys
import time
from functools import partial
from typing import IO

import psutil

from conformance.model import Seconds
from conformance.observation import StdinRecord
from conformance.payload import Literal
from conformance.process import exchange, server, tree
from conformance.process.capture import Capture
from conformance.process.deadline import Deadline
from conformance.process.launch import Completed, Launch
from conformance.process.leftovers import describe
from conformance.process.talk import Markers
from conformance.status import Exited, ExitStatus, NotReported, TimedOut

assert sys.platform != "win32"

HELD_BYTES = 1024
"""How much of what came last is held back: a marker is never longer."""
LAST_CODE = 0xFFFFFFFF
SHOWN_BYTES = 80


def perform(session: server.Server, launch: Launch, talk: Markers) -> Completed:
    """Have `session` perform the body of `launch`; raises CancelledError."""
    started = time.monotonic()
    stdout, stderr = Capture(launch.stdout), Capture(launch.stderr)
    answer = _Answer(session, talk, stdout)
    traffic = exchange.Traffic(
        _copy(session.requests, "wb"),
        Literal(talk.request),
        {_copy(session.replies, "rb"): answer, _copy(session.messages, "rb"): stderr},
    )
    rest = partial(tree.rest, session.pid, session.launch, launch)
    with exchange.Exchange(traffic, answer, rest) as flow:
        leftovers: list[psutil.Process] = []
        try:
            status = flow.until_end(Deadline(launch, started), session.cancellation)
            ended = time.monotonic()
            if isinstance(status, TimedOut):
                leftovers = rest()
            elif not answer.complete:
                leftovers = flow.linger(ended + launch.linger, session.cancellation)
                status = answer.status() or status  # the marker may have come with the end
            described = describe(leftovers)
        finally:
            if not (answer.complete and session.serves):
                session.end(launch, strays=flow.strays)
        if session.serves:
            flow.leave()
        else:
            flow.drain(time.monotonic() + exchange.DRAIN_SECONDS)
    answer.finish()
    return Completed(
        status,
        stdout.finish(),
        stderr.finish(),
        StdinRecord(0, broken_pipe=False),  # what was sent is the request, and none of it was for the body
        described,
        Seconds(round(ended - started, 6)),
    )


class _Answer:
    """Finds the markers in what comes on stdout; as the ending of an exchange it tells when the last one has come."""

    def __init__(self, session: server.Server, markers: Markers, output: Capture) -> None:
        self._session = session
        self._markers = markers
        self._output = output
        self._begun = not markers.begin
        self._held = bytearray()
        self._searched = 0
        """How much of what is held has no marker in it, except where one has only begun."""
        self._without_line_end = 0
        self._told: ExitStatus | None = None
        self.feed(session.unread)

    @property
    def complete(self) -> bool:
        """Whether the marker at the end has come."""
        return self._told is not None

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
        return self._session.exit.status() if self._told is None else self._told

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of stdout: what stands between the markers is output, what follows them is kept."""
        self._held += chunk
        if self._told is None and (self._begun or self._begins()):
            end = self._markers.end.search(self._held, max(0, self._searched - HELD_BYTES))
            if end is None:
                self._give_away()
            else:
                self._told = _status(end["code"] or b"0")
                line = self._held.rfind(b"\n", 0, end.start()) + 1
                self._output.feed(bytes(self._held[: line if self._markers.by_lines else end.start()]))
                del self._held[: end.end()]

    def _begins(self) -> bool:
        """Look for the marker at the beginning; what comes before it is nobody's."""
        begin = self._markers.begin
        found = self._held.find(begin)
        self._begun = found >= 0
        del self._held[: found + len(begin) if self._begun else max(0, len(self._held) - len(begin) + 1)]
        return self._begun

    def _give_away(self) -> None:
        """Hand on what belongs to the output whatever comes."""
        length = safe = max(0, len(self._held) - HELD_BYTES)
        if self._markers.by_lines:
            length = self._held.rfind(b"\n", self._without_line_end, safe) + 1
            self._without_line_end = safe - length
        self._output.feed(bytes(self._held[:length]))
        del self._held[:length]
        self._searched = len(self._held)

    def finish(self) -> None:
        """Keep what came beyond the marker for the next answer; without one, all of it was output."""
        if self._told is not None:
            self._session.unread = bytes(self._held)
        elif self._begun:
            self._output.feed(bytes(self._held))


def _status(code: bytes) -> ExitStatus:
    if re.fullmatch(rb"[0-9]{1,10}", code) and int(code) <= LAST_CODE:
        return Exited(int(code))
    return NotReported(f"the shell printed {code[:SHOWN_BYTES].decode('utf-8', 'replace')!r} for the exit code")


def _copy(stream: IO[bytes], mode: str) -> IO[bytes]:
    return os.fdopen(os.dup(stream.fileno()), mode, buffering=0)
