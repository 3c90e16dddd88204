"""What tests of a command that is ended early share."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

PATIENCE_SECONDS = 120.0
"""How long an event may take before the test gives up; no test takes that long."""


def until(event: Callable[[], bool]) -> None:
    """Return as soon as `event` has happened."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not event():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def heed_signals() -> None:
    """Undo what a test run that was started in the background hands on: SIGINT ignored."""
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
