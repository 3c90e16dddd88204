"""Move bytes between the harness and one body: one selector loop, no thread, no buffer that can fill up either way."""

from __future__ import annotations

import os
import selectors
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Protocol

import psutil

from conformance.observation import StdinRecord
from conformance.payload import Payload
from conformance.process import exits
from conformance.process.deadline import Deadline
from conformance.process.launch import Cancellation, CancelledError
from conformance.status import ExitStatus, TimedOut
from conformance.witness import CHUNK_BYTES

assert sys.platform != "win32"

STRAY_POLL_SECONDS = 0.02
BURST_CHUNKS = 16
DRAIN_SECONDS = 5.0
"""How long after the tree has been killed its pipes may take to end, in seconds."""


class Sink(Protocol):
    """Takes what comes on one stream."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""


@dataclass(frozen=True)
class Traffic:
    """What flows: the payload into `stdin`, and each of the other streams into its sink. The exchange closes them."""

    stdin: IO[bytes]
    payload: Payload
    sinks: Mapping[IO[bytes], Sink]


class Exchange:
    """Exchanges bytes with a body until both sides are done."""

    def __init__(self, traffic: Traffic, ending: exits.Ending, rest: Callable[[], list[psutil.Process]]) -> None:
        """`ending` tells of the end of the body, `rest` what of its tree still runs then."""
        self._stdin, self._payload = traffic.stdin, traffic.payload
        self._sinks = dict(traffic.sinks)
        self._ending = ending
        self._rest = rest
        self._selector = selectors.DefaultSelector()
        self._watched: tuple[int, ...] = ()
        self._sent = 0
        self._pending = memoryview(b"")
        self._broken_pipe = False
        self.strays: set[int] = set()
        """The pids that outlived the body."""

    def __enter__(self) -> Exchange:
        for stream in self._sinks:
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        os.set_blocking(self._stdin.fileno(), False)
        if self._payload.length:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        else:
            self._stdin.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for stream in (self._stdin, *self._sinks):
            stream.close()

    @property
    def stdin_record(self) -> StdinRecord:
        """How much the body was sent, and whether it stopped taking it."""
        return StdinRecord(self._sent, self._broken_pipe)

    def until_end(self, deadline: Deadline, cancellation: Cancellation) -> ExitStatus:
        """Exchange bytes until the body ends or `deadline` has come, and return how it ended.

        Raises CancelledError.
        """
        self._selector.register(cancellation.descriptor, selectors.EVENT_READ)
        while True:
            status = self._ending.status()
            if status is not None:
                return status
            if cancellation.thrown:
                raise CancelledError
            remaining = deadline.remaining()
            if remaining <= 0:
                return TimedOut()
            self._watch(self._ending.descriptors)
            self._turn(min(remaining, deadline.poll_seconds, self._ending.poll_seconds))

    def linger(self, end: float, cancellation: Cancellation) -> list[psutil.Process]:
        """Let what the body left running finish writing, until `end` (monotonic seconds); return what still runs.

        Raises CancelledError.
        """
        self._watch(())
        self._stop_sending()
        self._turn(0)  # mostly everything has ended by now, and what is left has to be looked for only once
        while True:
            if cancellation.thrown:
                raise CancelledError
            rest = self._rest()
            self.strays.update(process.pid for process in rest)
            remaining = end - time.monotonic()
            if remaining <= 0 or not (self._open_streams or rest):
                return rest
            self._turn(min(remaining, STRAY_POLL_SECONDS))

    def drain(self, end: float) -> None:
        """Take what still stands in the pipes, now that nobody can write to them, at the latest until `end`."""
        while self._open_streams and time.monotonic() < end:
            self._turn(end - time.monotonic())

    def leave(self) -> None:
        """Take what stands in the pipes now, and wait for no end of them."""
        for stream in self._open_streams:
            self._receive(stream)

    @property
    def _open_streams(self) -> list[IO[bytes]]:
        return [stream for stream in self._sinks if not stream.closed]

    def _watch(self, descriptors: tuple[int, ...]) -> None:
        if descriptors != self._watched:
            for descriptor in self._watched:
                self._selector.unregister(descriptor)
            for descriptor in descriptors:
                self._selector.register(descriptor, selectors.EVENT_READ)
            self._watched = descriptors

    def _turn(self, seconds: float) -> None:
        """Wait until something happens, and move what can be moved."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._stdin:
                self._send()
            elif key.fileobj in self._sinks:
                self._receive(key.fileobj)

    def _send(self) -> None:
        if not self._pending:
            self._pending = memoryview(self._payload.slice(self._sent, self._sent + CHUNK_BYTES))
        try:
            written = os.write(self._stdin.fileno(), self._pending)
            self._pending = self._pending[written:]
            self._sent += written
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._broken_pipe = True
        if self._broken_pipe or self._sent == self._payload.length:
            self._close(self._stdin)

    def _stop_sending(self) -> None:
        if not self._stdin.closed:
            self._broken_pipe = True  # the rest of the input was for the body that ended, and for nobody else
            self._close(self._stdin)

    def _receive(self, stream: IO[bytes]) -> None:
        for _ in range(BURST_CHUNKS):  # as long as more comes at once, which saves asking; then the others have a turn
            try:
                chunk = os.read(stream.fileno(), CHUNK_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                self._close(stream)
                return
            self._sinks[stream].feed(chunk)

    def _close(self, stream: IO[bytes]) -> None:
        self._selector.unregister(stream)
        stream.close()
