"""Hand bodies to a session that swaps its streams for each of them."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from contextlib import ExitStack, suppress
from functools import partial
from io import FileIO
from pathlib import Path

import psutil

from conformance.model import Seconds
from conformance.observation import StdinRecord
from conformance.process import exchange, server, tree
from conformance.process.capture import Capture
from conformance.process.deadline import Deadline
from conformance.process.launch import CancelledError, Completed, Launch
from conformance.process.leftovers import describe
from conformance.process.talk import SwappedStreams
from conformance.status import LAST_8_BIT_CODE, Exited, ExitStatus, NotReported, TimedOut
from conformance.witness import CHUNK_BYTES

assert sys.platform != "win32"

LINE_BYTES = 1000
"""A reply is never longer."""
SHOWN_CHARACTERS = 80


def perform(session: server.Server, launch: Launch, talk: SwappedStreams) -> Completed:
    """Have `session` perform the body of `launch`; raises CancelledError."""
    started = time.monotonic()
    deadline = Deadline(launch, started)
    captures = Capture(launch.stdout), Capture(launch.stderr)
    replies = _Replies(session, talk.identity)
    with _NamedPipes(talk.folder) as pipes:
        try:
            session.listen()
            refusal = _hand_over(session, launch, talk, replies, deadline)
        except BaseException:
            session.end(launch)
            raise
        if refusal is not None:
            session.end(launch)
            stdout, stderr = (capture.finish() for capture in captures)
            nothing = StdinRecord(0, broken_pipe=False)
            return Completed(refusal, stdout, stderr, nothing, (), Seconds(round(time.monotonic() - started, 6)))
        pipes.are_open()
        session.forget_messages()
        traffic = exchange.Traffic(
            pipes.stdin, launch.stdin, dict(zip((pipes.stdout, pipes.stderr), captures, strict=True))
        )
        return _performed(session, launch, traffic, replies, deadline, started, captures)


def _hand_over(
    session: server.Server, launch: Launch, talk: SwappedStreams, replies: _Replies, deadline: Deadline
) -> NotReported | None:
    """Send the request and wait until the session has taken it; return why it has not."""
    with suppress(BrokenPipeError):
        os.write(session.requests.fileno(), f"{talk.identity} {talk.folder} {launch.directory}\n".encode())
    while True:
        ended = session.exit.status()
        line = replies.next()
        if line == f"{talk.identity} opened":
            return None
        if line is not None:
            return replies.out_of_turn(line)
        if ended is not None:
            said = session.message()
            return NotReported(
                f"the session ended, {ended}, before it began the body" + (f"; it said: {said}" if said else "")
            )
        if session.cancellation.thrown:
            raise CancelledError
        remaining = deadline.remaining()
        if remaining <= 0:
            return NotReported("the session had not begun the body at the deadline")
        awaited = select.poll()  # unlike select it takes descriptors above 1,023
        for descriptor in (*replies.descriptors, session.cancellation.descriptor):
            awaited.register(descriptor, select.POLLIN)
        awaited.poll(1000 * min(remaining, session.exit.poll_seconds))


def _performed(
    session: server.Server,
    launch: Launch,
    traffic: exchange.Traffic,
    replies: _Replies,
    deadline: Deadline,
    started: float,
    captures: tuple[Capture, Capture],
) -> Completed:
    rest = partial(tree.rest, session.pid, session.launch, launch)
    with exchange.Exchange(traffic, replies, rest) as flow:
        leftovers: list[psutil.Process] | None = None
        try:
            status = flow.until_end(deadline, session.cancellation)
            ended = time.monotonic()
            if isinstance(status, TimedOut | NotReported):
                leftovers = rest()
            else:
                leftovers = flow.linger(ended + launch.linger, session.cancellation)
            described = describe(leftovers)
        finally:
            if not replies.told:
                session.end(launch, strays=flow.strays)
            elif leftovers != []:
                flow.strays |= tree.kill_rest(session.pid, session.launch, launch)
            if flow.strays and replies.told:
                tree.collect_rest(session.pid, flow.strays)
        flow.drain(time.monotonic() + exchange.DRAIN_SECONDS)
    stdout, stderr = (capture.finish() for capture in captures)
    return Completed(status, stdout, stderr, flow.stdin_record, described, Seconds(round(ended - started, 6)))


class _Replies:
    """Reads what a session replies to one request; as the ending of an exchange it tells how the body ended."""

    def __init__(self, session: server.Server, identity: str) -> None:
        self._session = session
        self._identity = identity
        self._closed = False
        self.told = False
        """Whether the session has said how the body ended, and so is ready for another."""

    @property
    def poll_seconds(self) -> float:
        """How often `status` has to be asked."""
        return self._session.exit.poll_seconds

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The channel of replies, until it is closed, and what tells of the end of the session."""
        channel = () if self._closed else (self._session.replies.fileno(),)
        return (*self._session.exit.descriptors, *channel)

    def next(self) -> str | None:
        """Return the next line that has come; None where there is no whole one."""
        if not self._closed and b"\n" not in self._session.unread:
            with suppress(BlockingIOError):
                chunk = os.read(self._session.replies.fileno(), CHUNK_BYTES)
                self._closed = not chunk
                self._session.unread += chunk
        line, end, rest = self._session.unread.partition(b"\n")
        if not end and len(line) <= LINE_BYTES:
            return None
        self._session.unread = rest
        return line.decode("utf-8", "replace")

    def status(self) -> ExitStatus | None:
        """Return how the body ended; None while it runs."""
        ended = self._session.exit.status()  # before its last words are read, so that none of them is missed
        line = self.next()
        if line is None:
            return None if ended is None else self._ended_by_itself(ended)
        told = re.fullmatch(r"(\S+) exited ([0-9]{1,3})( last)?", line)
        if told is None or told[1] != self._identity or int(told[2]) > LAST_8_BIT_CODE:
            return self.out_of_turn(line)
        self.told = True
        self._session.retired = told[3] is not None
        return Exited(int(told[2]))

    def _ended_by_itself(self, ended: ExitStatus) -> ExitStatus:
        """Return the status of the body that ended the session, but where that tells of a fault of its own."""
        said = self._session.message()
        return NotReported(f"the session broke, {ended}, and said: {said}") if said else ended

    def out_of_turn(self, line: str) -> NotReported:
        """Say that `line` is no reply to this request at this time."""
        return NotReported(f"the session answered {line[:SHOWN_CHARACTERS]!r}, which is no answer to this body")


class _NamedPipes:
    """The three named pipes of a request, and the harness's ends of them.

    A pipe that is read before its writer has come is at its end, and one cannot be opened for writing before its reader
    has come; so until the session has opened all of them the harness holds a reader of `stdin` itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._stack = ExitStack()

    def __enter__(self) -> _NamedPipes:
        with ExitStack() as stack:
            self.stdout, self.stderr = (stack.enter_context(self._reader(name)) for name in ("stdout", "stderr"))
            self._keeper = stack.enter_context(self._reader("stdin"))
            self.stdin = stack.enter_context(_opened(f"{self._folder}/stdin", os.O_WRONLY))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def are_open(self) -> None:
        """Let go of the reader of `stdin`."""
        self._keeper.close()

    def _reader(self, name: str) -> FileIO:
        path = f"{self._folder}/{name}"
        os.mkfifo(path, 0o600)
        return _opened(path, os.O_RDONLY)


def _opened(path: str, flags: int) -> FileIO:
    return FileIO(os.open(path, flags | os.O_NONBLOCK), "rb" if flags == os.O_RDONLY else "wb")
