"""The signals that end a program, answered instead."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


@contextmanager
def answering(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Have `handler` called for the signals that end a program, but those that this process was started to ignore."""
    before = {
        number: signal.signal(number, handler)
        for name in ENDING_SIGNALS
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
