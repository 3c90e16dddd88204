"""Learn how a process ended, as early as the system allows and without collecting it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Protocol

from conformance.process.deadline import FOREVER_SECONDS
from conformance.status import Exited, ExitStatus, Signalled

assert sys.platform != "win32"

POLL_SECONDS = 0.01


class Ending(Protocol):
    """Tells when and how a body ended."""

    @property
    def poll_seconds(self) -> float:
        """How often `status` has to be asked."""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What becomes readable when `status` has something to tell; none where it has to be asked all the time."""

    def status(self) -> ExitStatus | None:
        """Return how the body ended; None while it runs."""


class ExitWatch(Ending, Protocol):
    """Watches one process."""

    def close(self) -> None:
        """Give back what the watch holds."""


class PidfdWatch:
    """Linux: a pidfd tells of the end, and the process stays uncollected, so that its pid cannot be taken anew."""

    poll_seconds = FOREVER_SECONDS

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._descriptor = os.pidfd_open(pid)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The pidfd."""
        return (self._descriptor,)

    def status(self) -> ExitStatus | None:
        """Return how the process ended; None while it runs."""
        result = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if result is None:
            return None
        return Exited(result.si_status) if result.si_code == os.CLD_EXITED else Signalled(result.si_status)

    def close(self) -> None:
        """Close the pidfd."""
        os.close(self._descriptor)


class PollingWatch:
    """Other POSIX systems: ask every few milliseconds."""

    descriptors: tuple[int, ...] = ()
    poll_seconds = POLL_SECONDS

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def status(self) -> ExitStatus | None:
        """Return how the process ended; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        return Exited(code) if code >= 0 else Signalled(-code)

    def close(self) -> None:
        """Nothing is held."""


def watch_exit(process: subprocess.Popen[bytes]) -> ExitWatch:
    """Return the best watch that this system has for `process`."""
    return PidfdWatch(process.pid) if sys.platform == "linux" else PollingWatch(process)
