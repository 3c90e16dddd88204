"""Load: a busy process for each processor, beside which cases show what they owe to a quiet machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from conformance.errors import HarnessError

# Its standard input ends when this process does, however that comes about; so it can never be left behind.
_BUSY = """\
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
print(flush=True)
while True:
    pass
"""


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep `count` processors busy for as long as the context is open.

    Raises HarnessError where no further process can be started.
    """
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(_busy_process())
        yield


@contextmanager
def _busy_process() -> Iterator[None]:
    command = [sys.executable, "-I", "-S", "-c", _BUSY]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
    except OSError as error:
        raise HarnessError(f"no busy process can be started: {error.strerror}. Close other programs.") from error
    with process:
        assert process.stdout is not None
        try:
            if not process.stdout.readline():
                raise HarnessError("a busy process ended at once. Close other programs.")
            yield
        finally:
            process.kill()
