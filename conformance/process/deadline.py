"""When a launch has had its time."""

from __future__ import annotations

import time

from conformance.process.launch import Launch

FOREVER_SECONDS = 3600.0
START_POLL_SECONDS = 0.02


class Deadline:
    """Counts from the start of the process or, where the launch names a file that tells it, of the body."""

    def __init__(self, launch: Launch, started: float) -> None:
        self._seconds = launch.deadline
        self._started_file = launch.started_file
        self._end = started + launch.deadline + (launch.start_allowance if launch.started_file is not None else 0.0)

    @property
    def poll_seconds(self) -> float:
        """How often `remaining` has to be asked."""
        return FOREVER_SECONDS if self._started_file is None else START_POLL_SECONDS

    def remaining(self) -> float:
        """Return the seconds that are left; the deadline has come when there are none."""
        if self._started_file is not None and self._started_file.exists():
            self._started_file = None
            self._end = time.monotonic() + self._seconds
        return self._end - time.monotonic()
