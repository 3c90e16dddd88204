"""A program in a job that the harness talks with, as on Windows; nothing here needs Windows itself."""

from __future__ import annotations

import contextlib

import psutil

from conformance.process.launch import Launch
from conformance.process.leftovers import token_of
from conformance.process.threaded import DEATH_SECONDS, DWORD_MASK, Job, end_job
from conformance.status import Exited, ExitStatus


class HeldInJob:
    """A program in a job. Attributes: `process` and `launch`."""

    def __init__(self, launch: Launch, job: Job) -> None:
        self.launch = launch
        self.process = job.start(launch)
        self._job = job

    def status(self) -> ExitStatus | None:
        """Return how the program ended; None while it runs."""
        code = self.process.poll()
        return None if code is None else Exited(code & DWORD_MASK)

    def remains(self, body: Launch) -> list[psutil.Process]:
        """Return what still runs of `body`, known by its token."""
        return [process for process in self._job.others(self.process) if token_of(process) == body.token]

    def kill(self, body: Launch) -> None:
        """Kill what `remains` finds, and wait until it is gone."""
        remaining = self.remains(body)
        for process in remaining:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(remaining, DEATH_SECONDS)

    def end(self, *_: Launch) -> None:
        """Kill the whole job."""
        end_job(self.process, self._job)
