"""Launches on POSIX: one selector loop a process, no thread, no buffer that can fill up in either direction."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO

import psutil

from conformance.model import Seconds
from conformance.observation import StdinRecord
from conformance.process import exits, tree
from conformance.process.capture import Capture
from conformance.process.deadline import Deadline
from conformance.process.launch import Cancellation, CancelledError, Completed, Launch
from conformance.process.leftovers import describe
from conformance.status import ExitStatus, FailedToStart, TimedOut
from conformance.witness import CHUNK_BYTES

assert sys.platform != "win32"

PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
STRAY_POLL_SECONDS = 0.02
INHERITED_SIGNALS = (
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGALRM", "SIGTERM", "SIGUSR1", "SIGUSR2",
    "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD",
)  # fmt: skip
"""What a parent may have left ignored; Python itself restores SIGPIPE."""
BURST_CHUNKS = 16
DRAIN_SECONDS = 5.0
"""How long after the tree has been killed its pipes may take to end, in seconds."""


def run(launch: Launch, cancellation: Cancellation) -> Completed:
    """Start `launch` and return what came of it, when nothing of its tree runs any more.

    Raises CancelledError when `cancellation` is thrown while it runs; the tree is killed then as well.
    """
    started = time.monotonic()
    stdout, stderr = Capture(launch.stdout), Capture(launch.stderr)
    try:
        process = subprocess.Popen(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.directory,
            env=dict(launch.environment),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        status: ExitStatus = FailedToStart(error.errno or 0, error.strerror or str(error))
        return Completed(status, stdout.finish(), stderr.finish(), StdinRecord(0, broken_pipe=False), (), Seconds(0.0))
    with process, _Exchange(process, launch, stdout, stderr) as exchange:
        leftovers: list[psutil.Process] | None = None
        try:
            status = exchange.until_exit(Deadline(launch, started), cancellation)
            ended = time.monotonic()
            if isinstance(status, TimedOut):
                leftovers = [*tree.descendants(process.pid), *tree.strays(process.pid, launch)]
            else:
                leftovers = exchange.linger(ended + launch.linger, cancellation)
            described = describe(leftovers)
        finally:
            if leftovers != [] or isinstance(status, TimedOut):
                exchange.strays |= tree.kill_tree(process.pid, launch)
            tree.collect(process.pid, exchange.strays)
            process.wait()
        exchange.drain(time.monotonic() + DRAIN_SECONDS)
    return Completed(
        status,
        stdout.finish(),
        stderr.finish(),
        exchange.stdin_record,
        described,
        Seconds(round(ended - started, 6)),
    )


class _Exchange:
    """Moves bytes between the harness and one process until both sides are done."""

    def __init__(self, process: subprocess.Popen[bytes], launch: Launch, stdout: Capture, stderr: Capture) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._payload = process.stdin, launch.stdin
        self._launch, self._pid = launch, process.pid
        self._captures: dict[IO[bytes], Capture] = {process.stdout: stdout, process.stderr: stderr}
        self._selector = selectors.DefaultSelector()
        self._sent = 0
        self._pending = memoryview(b"")
        self._broken_pipe = False
        self._exit = exits.watch_exit(process)
        self.strays: set[int] = set()
        """The pids that outlived the process."""

    def __enter__(self) -> _Exchange:
        for stream in self._captures:
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
        self._exit.close()

    @property
    def stdin_record(self) -> StdinRecord:
        """How much the process was sent, and whether it stopped taking it."""
        return StdinRecord(self._sent, self._broken_pipe)

    def until_exit(self, deadline: Deadline, cancellation: Cancellation) -> ExitStatus:
        """Exchange bytes until the process ends or `deadline` has come, and return how it ended.

        Raises CancelledError.
        """
        if self._exit.descriptor is not None:
            self._selector.register(self._exit.descriptor, selectors.EVENT_READ)
        self._selector.register(cancellation.descriptor, selectors.EVENT_READ)
        only_bytes_came = False
        while True:
            status = None if only_bytes_came else self._exit.status()
            if status is not None:
                return status
            if cancellation.thrown:
                raise CancelledError
            remaining = deadline.remaining()
            if remaining <= 0:
                return TimedOut()
            only_bytes_came = self._turn(min(remaining, deadline.poll_seconds, self._exit.poll_seconds))

    def linger(self, end: float, cancellation: Cancellation) -> list[psutil.Process]:
        """Let what the process left running finish writing, until `end` (monotonic seconds); return what still runs.

        Raises CancelledError.
        """
        if self._exit.descriptor is not None and self._exit.descriptor in self._selector.get_map():
            self._selector.unregister(self._exit.descriptor)
        self._stop_sending()
        while True:
            if cancellation.thrown:
                raise CancelledError
            strays = tree.strays(self._pid, self._launch)
            self.strays.update(stray.pid for stray in strays)
            remaining = end - time.monotonic()
            if remaining <= 0 or not (self._open_streams or strays):
                return strays
            self._turn(min(remaining, STRAY_POLL_SECONDS))

    def drain(self, end: float) -> None:
        """Take what still stands in the pipes, now that nobody can write to them, at the latest until `end`."""
        while self._open_streams and time.monotonic() < end:
            self._turn(end - time.monotonic())
        for stream in self._open_streams:
            self._close(stream)

    @property
    def _open_streams(self) -> list[IO[bytes]]:
        return [stream for stream in self._captures if not stream.closed]

    def _turn(self, seconds: float) -> bool:
        """Wait until something can be moved, and move it; tell whether that was all that happened.

        Where no descriptor tells of the end of the process, it never is.
        """
        events = self._selector.select(seconds)
        moved = 0
        for key, _ in events:
            if key.fileobj is self._stdin:
                self._send()
            elif key.fileobj in self._captures:
                self._receive(key.fileobj)
            else:
                continue
            moved += 1
        return 0 < moved == len(events) and self._exit.descriptor is not None

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
            self._broken_pipe = True  # the rest of the input was for the process that ended, and for nobody else
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
            self._captures[stream].feed(chunk)

    def _close(self, stream: IO[bytes]) -> None:
        self._selector.unregister(stream)
        stream.close()


@contextlib.contextmanager
def prepared_for_children() -> Iterator[None]:
    """Make this process a good parent for hooks, and undo it on leaving.

    - A signal that is ignored here would be ignored in every hook as well (a harness started by `nohup` or with `&`),
      and pwsh hands that on to its natives; exec turns a signal that has a handler back to its default.
    - On Linux, orphans of a hook come to this process, so that they can be found and collected.
    """
    with _handled_signals(), _no_blocked_signals(), _subreaper():
        yield


@contextlib.contextmanager
def _handled_signals() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set handlers; what it set holds here too
        return
    signals = [signal.Signals[name] for name in INHERITED_SIGNALS]
    ignored = [number for number in signals if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, _still_ignored)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def _still_ignored(number: int, frame: object) -> None:
    """Do nothing, as the disposition that this handler stands in for."""


@contextlib.contextmanager
def _no_blocked_signals() -> Iterator[None]:
    """A blocked signal would stay blocked in hooks; the threads that start them take their mask from this one."""
    before = signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _subreaper() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    before = ctypes.c_int()
    libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)
