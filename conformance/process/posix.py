"""Launches on POSIX."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from functools import partial

import psutil

from conformance.model import Seconds
from conformance.observation import StdinRecord
from conformance.process import exchange, exits, tree
from conformance.process.capture import Capture
from conformance.process.deadline import Deadline
from conformance.process.launch import Cancellation, Completed, Launch
from conformance.process.leftovers import describe
from conformance.status import ExitStatus, FailedToStart, TimedOut

assert sys.platform != "win32"


def run(launch: Launch, cancellation: Cancellation) -> Completed:
    """Start `launch` and return what came of it, when nothing of its tree runs any more.

    Raises CancelledError when `cancellation` is thrown while it runs; the tree is killed then as well.
    """
    started = time.monotonic()
    stdout, stderr = Capture(launch.stdout), Capture(launch.stderr)
    try:
        process = start(launch)
    except OSError as error:
        status: ExitStatus = FailedToStart(error.errno or 0, error.strerror or str(error))
        return Completed(status, stdout.finish(), stderr.finish(), StdinRecord(0, broken_pipe=False), (), Seconds(0.0))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    traffic = exchange.Traffic(process.stdin, launch.stdin, {process.stdout: stdout, process.stderr: stderr})
    strays = partial(tree.strays, process.pid, launch)
    with process, closing(exits.watch_exit(process)) as ending, exchange.Exchange(traffic, ending, strays) as flow:
        leftovers: list[psutil.Process] | None = None
        try:
            status = flow.until_end(Deadline(launch, started), cancellation)
            ended = time.monotonic()
            if isinstance(status, TimedOut):
                leftovers = tree.rest(process.pid, launch)
            else:
                leftovers = flow.linger(ended + launch.linger, cancellation)
            described = describe(leftovers)
        finally:
            if leftovers != [] or isinstance(status, TimedOut):
                flow.strays |= tree.kill_tree(process.pid, launch)
            tree.collect(process.pid, flow.strays)
            process.wait()
        flow.drain(time.monotonic() + exchange.DRAIN_SECONDS)
    return Completed(
        status,
        stdout.finish(),
        stderr.finish(),
        flow.stdin_record,
        described,
        Seconds(round(ended - started, 6)),
    )


def start(launch: Launch) -> subprocess.Popen[bytes]:
    """Start the program of `launch` in a session of its own, with three unbuffered pipes; raises OSError."""
    return subprocess.Popen(
        launch.argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=launch.directory,
        env=dict(launch.environment),
        start_new_session=True,
        bufsize=0,
    )
