"""Launches with one thread a stream, for Windows, where no selector can watch a pipe.

What starts the process and ends its tree is a `Job`, which `windows` has; all else is here and runs on any system.

A thread that reads or writes a pipe closes it itself, and nobody else does: on Windows, closing it blocks while another
thread is inside a read of it. So where a pipe does not end although the whole job has (a process outside of the job was
handed the other end), its thread is left behind as it is, and ends with that process or with the harness.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, Protocol

import psutil

from conformance.errors import HarnessError
from conformance.model import Seconds
from conformance.observation import StdinRecord
from conformance.payload import Payload
from conformance.process.capture import Capture
from conformance.process.deadline import Deadline
from conformance.process.launch import Cancellation, CancelledError, Completed, Launch
from conformance.process.leftovers import describe
from conformance.status import Exited, ExitStatus, FailedToStart, TimedOut
from conformance.witness import BROKEN_PIPE_ERRORS, CHUNK_BYTES

DWORD_MASK = 0xFFFFFFFF
CANCELLATION_POLL_SECONDS = 0.05
OTHERS_POLL_SECONDS = 0.02
DRAIN_SECONDS = 5.0
"""How long after the job has been killed its pipes may take to end, in seconds."""
DEATH_SECONDS = 10.0
"""How long a process that was killed may take to end, in seconds."""


class Job(Protocol):
    """Holds one process with all that it starts."""

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        """Start the process in the job, with three unbuffered pipes.

        Raises OSError where the system refuses to start the program, HarnessError where the job cannot hold it.
        """

    def others(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
        """Return what runs in the job beside `process`."""

    def kill(self) -> None:
        """Kill all that runs in the job."""


def run_in_job(
    launch: Launch,
    cancellation: Cancellation,
    open_job: Callable[[], AbstractContextManager[Job]],
    failure: Callable[[OSError], FailedToStart],
) -> Completed:
    """Start `launch` in a job and return what came of it, when nothing of the job runs any more.

    `failure` tells what an error at the start means.
    Raises CancelledError when `cancellation` is thrown while it runs; the job is killed then as well.
    """
    started = time.monotonic()
    with open_job() as job:
        try:
            process = job.start(launch)
        except OSError as error:
            stdout, stderr = Capture(launch.stdout).finish(), Capture(launch.stderr).finish()
            return Completed(failure(error), stdout, stderr, StdinRecord(0, broken_pipe=False), (), Seconds(0.0))
        exchange = _Exchange(process, launch)
        try:
            status = _until_exit(process, Deadline(launch, started), cancellation)
            ended = time.monotonic()
            if isinstance(status, TimedOut):
                leftovers = job.others(process)
            else:
                leftovers = _linger(process, job, exchange, ended + launch.linger, cancellation)
            described = describe(leftovers)
        finally:
            end_job(process, job)
        exchange.drain(time.monotonic() + DRAIN_SECONDS)
    return Completed(
        status,
        exchange.stdout.capture.finish(),
        exchange.stderr.capture.finish(),
        exchange.stdin.record,
        described,
        Seconds(round(ended - started, 6)),
    )


def _until_exit(process: subprocess.Popen[bytes], deadline: Deadline, cancellation: Cancellation) -> ExitStatus:
    """Wait until the process ends or `deadline` has come, and return how it ended.

    Raises CancelledError.
    """
    while True:
        seconds = min(max(deadline.remaining(), 0.0), deadline.poll_seconds, CANCELLATION_POLL_SECONDS)
        try:
            return Exited(process.wait(seconds) & DWORD_MASK)
        except subprocess.TimeoutExpired:
            if cancellation.thrown:
                raise CancelledError from None
            if deadline.remaining() <= 0:
                return TimedOut()


def _linger(
    process: subprocess.Popen[bytes], job: Job, exchange: _Exchange, end: float, cancellation: Cancellation
) -> list[psutil.Process]:
    """Let what the process left running finish writing, until `end` (monotonic seconds); return what still runs.

    Raises CancelledError.
    """
    exchange.stdin.stop()
    while True:
        if cancellation.thrown:
            raise CancelledError
        others = job.others(process)
        remaining = end - time.monotonic()
        if remaining <= 0 or not (exchange.readers_at_work or others):
            return others
        exchange.wait(min(remaining, OTHERS_POLL_SECONDS))


def end_job(process: subprocess.Popen[bytes], job: Job) -> None:
    """Kill all that runs in `job`, `process` with it; raises HarnessError where that does not end."""
    job.kill()
    end = time.monotonic() + DEATH_SECONDS
    try:
        process.wait(DEATH_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(
            f"process {process.pid} was killed and does not end: look for what holds it (a debugger, a driver)."
        ) from error
    while job.others(process) and time.monotonic() < end:
        time.sleep(OTHERS_POLL_SECONDS)


class _Exchange:
    """Moves bytes between the harness and one process until both sides are done."""

    def __init__(self, process: subprocess.Popen[bytes], launch: Launch) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin = _Writer(process.stdin, launch.stdin)
        self.stdout = _Reader(process.stdout, launch.stdout)
        self.stderr = _Reader(process.stderr, launch.stderr)
        self._threads = (self.stdin, self.stdout, self.stderr)
        for thread in self._threads:
            thread.start()

    @property
    def readers_at_work(self) -> list[_Reader]:
        """The readers whose pipes have not ended."""
        return [reader for reader in (self.stdout, self.stderr) if reader.is_alive()]

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds`, or until a pipe ends."""
        for reader in self.readers_at_work:
            reader.join(seconds)
            return
        time.sleep(seconds)

    def drain(self, end: float) -> None:
        """Take what still stands in the pipes, now that nobody can write to them, at the latest until `end`."""
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))


class _Reader(threading.Thread):
    """Reads one stream to its end."""

    def __init__(self, stream: IO[bytes], expected: Payload | None) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self.capture = Capture(expected)

    def run(self) -> None:
        with self._stream:
            while chunk := self._next():
                self.capture.feed(chunk)

    def _next(self) -> bytes:
        try:
            return self._stream.read(CHUNK_BYTES)
        except OSError:  # an end as well: nothing more can come
            return b""


class _Writer(threading.Thread):
    """Sends one payload, a chunk at a time."""

    def __init__(self, stream: IO[bytes], payload: Payload) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._payload = payload
        self._sent = 0
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Send no further chunk: the rest was for the process that ended, and for nobody else."""
        self._stopped.set()

    @property
    def record(self) -> StdinRecord:
        """How much was sent (of a chunk that was not taken whole, Windows does not tell), and whether it was all."""
        return StdinRecord(self._sent, broken_pipe=self._sent < self._payload.length)

    def run(self) -> None:
        with self._stream:
            while self._sent < self._payload.length and not self._stopped.is_set():
                try:
                    self._sent += self._stream.write(self._payload.slice(self._sent, self._sent + CHUNK_BYTES))
                except OSError as error:
                    if error.errno not in BROKEN_PIPE_ERRORS:
                        raise
                    return
