"""Talk in lines with a program that the harness keeps running: a question and an answer for each body.

A thread reads what it answers, another what it says on standard error, and a third writes: so nobody ever waits for the
other, whatever the program does, on any system.
"""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Protocol

import psutil

from conformance.errors import RouteBrokenError, RouteSilentError
from conformance.model import Seconds
from conformance.observation import StdinRecord
from conformance.process.capture import Capture
from conformance.process.launch import Cancellation, CancelledError, Completed, Launch
from conformance.process.leftovers import describe
from conformance.process.talk import Question, Read, shown
from conformance.status import ExitStatus
from conformance.witness import CHUNK_BYTES

LARGEST_LINE_BYTES = 64 * 1024 * 1024
"""An answer is never longer, so that a program which writes without end cannot fill the memory."""
MESSAGE_BYTES = 500
CANCELLATION_POLL_SECONDS = 0.05
EXIT_POLL_SECONDS = 0.005
FAREWELL_SECONDS = 2.0
"""How long a program may take to end by itself when its standard input has ended, in seconds."""
LAST_WORDS_SECONDS = 0.5
"""How long to wait for what a program that broke has said about itself, in seconds."""


class Held(Protocol):
    """A program that runs, with all that it has started.

    Attributes: `process`, with three unbuffered pipes; `launch`, how it was started.
    """

    process: subprocess.Popen[bytes]
    launch: Launch

    def status(self) -> ExitStatus | None:
        """Return how the program ended; None while it runs."""

    def remains(self, body: Launch) -> list[psutil.Process]:
        """Return what still runs of `body`, known by its token."""

    def kill(self, body: Launch) -> None:
        """Kill what `remains` finds."""

    def end(self, *bodies: Launch) -> None:
        """Kill the program with all that it and `bodies` started."""


class LineConversation:
    """Hands bodies to one program. Attributes: `launch`, how that was started."""

    def __init__(self, held: Held, cancellation: Cancellation) -> None:
        assert held.process.stdin is not None
        assert held.process.stdout is not None
        assert held.process.stderr is not None
        self.launch = held.launch
        self._held = held
        self._cancellation = cancellation
        self._broken = False
        self._asked: Launch | None = None
        self._answers = _Lines(held.process.stdout)
        self._messages = _Messages(held.process.stderr)
        self._questions = _Writer(held.process.stdin)
        for thread in (self._answers, self._messages, self._questions):
            thread.start()

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""
        return not self._broken and self._held.status() is None

    def first_line(self, seconds: float, read: Callable[[bytes], Read]) -> Read:
        """Return what `read` makes of the line with which the program begins.

        Raises RouteBrokenError where there is none, or `read` raises ValueError; CancelledError.
        """
        return self._read(self._next_line(seconds), read)

    def perform(self, launch: Launch, question: Question) -> Completed:
        """Ask `question` and return what the answer says of its body; `launch` is what that would be by itself.

        Raises RouteBrokenError where there is no such answer, after which nothing more is asked, and CancelledError.
        """
        self._refuse_unasked(b"")
        self._asked = launch
        started = time.monotonic()
        self._questions.lines.put(question.line)
        line = self._next_line(launch.deadline + question.grace)
        seconds = Seconds(round(time.monotonic() - started, 6))
        leftovers = describe(self._held.remains(launch))
        if leftovers:
            self._held.kill(launch)
        self._refuse_unasked(line)
        answer = self._read(line, question.read)
        stdout, stderr = Capture(launch.stdout), Capture(launch.stderr)
        stdout.feed(answer.stdout)
        stderr.feed(answer.stderr)
        stdin = StdinRecord(launch.stdin.length, broken_pipe=False)  # how much of it was taken is not told
        return Completed(
            answer.status, stdout.finish(), stderr.finish(), stdin, leftovers, seconds, decision=answer.decision
        )

    def _read(self, line: bytes, read: Callable[[bytes], Read]) -> Read:
        try:
            return read(line)
        except ValueError as error:
            raise self._break(str(error)) from error

    def _refuse_unasked(self, answered: bytes) -> None:
        unasked = self._answers.waiting()
        if unasked is not None:
            twice = "it answered twice" if unasked == answered else "it wrote a line that was not asked for"
            raise self._break(f"{twice}: {shown(unasked)}. Write one line for each request, and the rest to stderr")

    def _next_line(self, seconds: float) -> bytes:
        end = time.monotonic() + seconds
        while True:
            if self._cancellation.thrown:
                self._broken = True
                raise CancelledError
            remaining = end - time.monotonic()
            with suppress(queue.Empty):
                return self._answers.next(min(max(remaining, 0.0), CANCELLATION_POLL_SECONDS))
            if self._answers.too_long:
                raise self._break(f"it wrote more than {LARGEST_LINE_BYTES} bytes without an end. Write whole lines")
            if self._answers.ended:
                raise self._break(self._how_it_ended())
            if remaining <= 0:
                raise self._break(
                    f"it has not answered within {seconds:g} seconds. See where it hangs", RouteSilentError
                )

    def _how_it_ended(self) -> str:
        end = time.monotonic() + FAREWELL_SECONDS
        while (status := self._held.status()) is None and time.monotonic() < end:
            time.sleep(EXIT_POLL_SECONDS)
        began = f" in the middle of a line, {shown(self._answers.unfinished)}" if self._answers.unfinished else ""
        return f"it closed its standard output{began}" if status is None else f"it ended{began}: {status}"

    def _break(self, what: str, kind: type[RouteBrokenError] = RouteBrokenError) -> RouteBrokenError:
        self._broken = True
        self._messages.join(LAST_WORDS_SECONDS if self._answers.ended else 0.0)
        said = self._messages.last.decode("utf-8", "replace").strip()
        return kind(f"the adapter is broken: {what}" + (f"; it said last: {said}" if said else ""))

    def farewell(self, seconds: float) -> bool:
        """End the program's standard input, and return whether it ends by itself within `seconds`."""
        self._questions.lines.put(None)
        end = time.monotonic() + seconds
        while self.serves and not self._cancellation.thrown and time.monotonic() < end:
            time.sleep(EXIT_POLL_SECONDS)
        return not self.serves

    def close(self) -> None:
        """End the program: it is told by the end of its standard input, and killed with what is left."""
        self.farewell(FAREWELL_SECONDS)
        self._held.end(*filter(None, [self._asked]))
        for thread in (self._answers, self._messages, self._questions):
            thread.join(FAREWELL_SECONDS)


class _Lines(threading.Thread):
    """Reads lines, at most as much of them as one may hold."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._changed = threading.Condition()
        self._whole: deque[bytes] = deque()
        self._unfinished = bytearray()
        self.too_long = False
        self.ended = False

    def next(self, seconds: float) -> bytes:
        """Return the next line without its end; raises queue.Empty where none comes within `seconds`."""
        with self._changed:
            if not self._whole and not self.ended and not self.too_long:
                self._changed.wait(seconds)
            if self._whole:
                return self._whole.popleft()
        raise queue.Empty

    @property
    def unfinished(self) -> bytes:
        """What has come of a line that has not ended."""
        return bytes(self._unfinished)

    def waiting(self) -> bytes | None:
        """Return a line that has come and was not taken; None where there is none."""
        with self._changed:
            return self._whole[0] if self._whole else None

    def run(self) -> None:
        with self._stream:
            while not self.too_long and (chunk := _read(self._stream)):
                with self._changed:
                    first, *more = chunk.split(b"\n")
                    self._unfinished += first
                    for line in more:
                        self._whole.append(bytes(self._unfinished.removesuffix(b"\r")))
                        self._unfinished = bytearray(line)
                    self.too_long = len(self._unfinished) + sum(map(len, self._whole)) > LARGEST_LINE_BYTES
                    self._changed.notify_all()
        with self._changed:
            self.ended = not self.too_long
            self._changed.notify_all()


class _Messages(threading.Thread):
    """Takes what the program says on standard error, and keeps the end of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self.last = b""

    def run(self) -> None:
        with self._stream:
            while chunk := _read(self._stream):
                self.last = (self.last + chunk)[-MESSAGE_BYTES:]


class _Writer(threading.Thread):
    """Writes the lines of a queue, until it holds None."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def run(self) -> None:
        with suppress(OSError), self._stream:  # who does not read will not answer, which is noticed
            while (line := self.lines.get()) is not None:
                view = memoryview(line)
                while view:
                    view = view[self._stream.write(view) :]


def _read(stream: IO[bytes]) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except OSError:  # an end as well: nothing more can come
        return b""
