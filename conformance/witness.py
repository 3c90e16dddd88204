"""The witness: the program that fixture bodies start to prove that they ran and what they received.

It is run by path, isolated (`python -I -S witness.py FILE VERB ...`), so it may import only the standard library.
FILE is the case's witness record, to which every proof is appended as one line. Verbs are performed left to right:

`write N` / `write-stderr N`  the first N bytes of the stream of that name; `hex 00FF` / `hex-stderr 00FF`  these bytes;
`read` / `read N`  standard input to its end, or N bytes; `echo`  copies standard input to standard output as it comes;
`sleep S`  seconds; `signal KILL`  to itself; `ignore TERM`; `exit N`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

BROKEN_PIPE_ERRORS = frozenset({errno.EPIPE, errno.EINVAL} if sys.platform == "win32" else {errno.EPIPE})
"""What a write fails with when the reader went away: Windows says either (https://github.com/python/cpython/issues/63811)."""
BLOCK_BYTES = 4096
CHUNK_BYTES = 65536
STDIN, STDOUT, STDERR = 0, 1, 2


def stream_slice(name: str, start: int, end: int) -> bytes:
    """Return bytes `start` to `end` (offsets in bytes) of the endless deterministic stream called `name`.

    All 256 byte values occur, nothing repeats, and any prefix is the same whatever the size asked for.
    """
    first, last = start // BLOCK_BYTES, -(-end // BLOCK_BYTES)
    data = b"".join(
        hashlib.shake_128(f"conformance {name} {block}".encode()).digest(BLOCK_BYTES) for block in range(first, last)
    )
    skip = start - first * BLOCK_BYTES
    return data[skip : skip + end - start]


def stream_chunks(name: str, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of the stream called `name`."""
    for start in range(0, size, CHUNK_BYTES):
        yield stream_slice(name, start, min(start + CHUNK_BYTES, size))


class Witness:
    """Performs the verbs and appends what it did to the record."""

    def __init__(self, record: str) -> None:
        self._record = record

    def note(self, line: str) -> None:
        """Append one line; O_APPEND keeps lines of several witnesses whole."""
        binary = getattr(os, "O_BINARY", 0)  # Windows would write CR LF
        descriptor = os.open(self._record, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def perform(self, words: list[str]) -> None:
        """Perform the verbs in `words`, in order.

        Raises SystemExit for an unknown verb: a fixture that says nonsense must not pass.
        """
        position = 0
        while position < len(words):
            verb = words[position]
            position += 1
            if verb == "echo":
                self._receive(None, STDOUT)
            elif verb == "read":
                limit = None
                if position < len(words) and words[position].isdigit():
                    limit = int(words[position])
                    position += 1
                self._receive(limit, None)
            elif verb in self._verbs and position < len(words):
                self._verbs[verb](self, words[position])
                position += 1
            else:
                raise SystemExit(f"witness: unknown verb or missing argument: {verb}")

    def _receive(self, limit: int | None, copy_to: int | None) -> None:
        digest, received = hashlib.sha256(), 0
        while limit is None or received < limit:
            wanted = CHUNK_BYTES if limit is None else min(CHUNK_BYTES, limit - received)
            chunk = os.read(STDIN, wanted)
            if not chunk:
                break
            digest.update(chunk)
            received += len(chunk)
            if copy_to is not None:
                write_all(copy_to, chunk)
        self.note(f"received {received} {digest.hexdigest()}")

    def _write(self, size: str) -> None:
        for chunk in stream_chunks("stdout", int(size)):
            write_all(STDOUT, chunk)

    def _write_stderr(self, size: str) -> None:
        for chunk in stream_chunks("stderr", int(size)):
            write_all(STDERR, chunk)

    def _hex(self, digits: str) -> None:
        write_all(STDOUT, bytes.fromhex(digits))

    def _hex_stderr(self, digits: str) -> None:
        write_all(STDERR, bytes.fromhex(digits))

    def _sleep(self, seconds: str) -> None:
        time.sleep(float(seconds))

    def _signal(self, name: str) -> None:
        number = signal.Signals[f"SIG{name}"]
        if name not in ("KILL", "STOP"):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _ignore(self, name: str) -> None:
        signal.signal(signal.Signals[f"SIG{name}"], signal.SIG_IGN)

    def _exit(self, code: str) -> None:
        self.note("finished")
        number = int(code)
        os._exit(number - 2**32 if number >= 2**31 else number)  # it takes a C int, where Windows has 32 unsigned bits

    _verbs: dict[str, Callable[[Witness, str], None]] = {  # noqa: RUF012 - a table of methods, never changed
        "write": _write,
        "write-stderr": _write_stderr,
        "hex": _hex,
        "hex-stderr": _hex_stderr,
        "sleep": _sleep,
        "signal": _signal,
        "ignore": _ignore,
        "exit": _exit,
    }


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte of `data`, however the pipe cuts it."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def main(arguments: list[str]) -> None:
    """Perform the verbs of the command line; a reader that went away ends it with 141, as SIGPIPE would."""
    witness = Witness(arguments[0])
    witness.note("started")
    try:
        witness.perform(arguments[1:])
    except OSError as error:
        if error.errno not in BROKEN_PIPE_ERRORS:
            raise
        witness.note("broken pipe")
        os._exit(141)
    witness.note("finished")


if __name__ == "__main__":
    main(sys.argv[1:])
