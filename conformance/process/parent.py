"""Make the harness a good parent for hooks on POSIX."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
from collections.abc import Iterator

assert sys.platform != "win32"

PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
INHERITED_SIGNALS = (
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGALRM", "SIGTERM", "SIGUSR1", "SIGUSR2",
    "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD",
)  # fmt: skip
"""What a parent may have left ignored; Python itself restores SIGPIPE."""


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
