"""Stands in for a job object of Windows, so that what is written for one runs here as well."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from conformance.process import tree
from conformance.process.launch import Launch


class SessionJob:
    """Stands in for a job object: its processes are those that `tree` knows to belong to the launch."""

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        self._launch = launch
        self._process = subprocess.Popen(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.directory,
            env=dict(launch.environment),
            start_new_session=True,
            bufsize=0,
        )
        return self._process

    def others(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
        return [*tree.descendants(process.pid), *tree.strays(process.pid, self._launch)]

    def kill(self) -> None:
        leader = self._process.pid
        killed = tree.kill_tree(leader, self._launch) - {leader}
        with suppress(ChildProcessError):  # it may have been collected already
            os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
        for pid in {*killed, *tree._own_zombies_in_session(leader)}:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


@contextmanager
def session_job() -> Iterator[SessionJob]:
    yield SessionJob()
