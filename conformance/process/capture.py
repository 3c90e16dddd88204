"""Compare a stream with what is expected while it comes in, keeping little of it however long it is."""

from __future__ import annotations

import hashlib

from conformance.observation import CapturedStream, Difference
from conformance.payload import Payload, digest_of, sha256

HEAD_BYTES = TAIL_BYTES = 2048
WINDOW_BEFORE_BYTES = 16
WINDOW_AFTER_BYTES = 48


class Capture:
    """One stream of one process. Memory stays below a few chunks, whatever is fed.

    As long as a stream is as expected it is not digested: what equals the expected bytes has their digest, which the
    runs of many routes share.
    """

    def __init__(self, expected: Payload | None) -> None:
        """Compare with `expected`; None means that nothing is expected and nothing compared."""
        self._expected = expected
        self._digest = hashlib.sha256() if expected is None else None
        self._length = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._difference_offset: int | None = None
        self._from_difference = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._difference_offset is not None:
            self._keep_window(chunk)
        elif self._expected is not None:
            self._compare(chunk, self._expected)
        if self._digest is not None:
            self._digest.update(chunk)
        self._head += chunk[: HEAD_BYTES - len(self._head)]
        self._tail += chunk[-TAIL_BYTES:]
        del self._tail[:-TAIL_BYTES]
        self._length += len(chunk)

    def _compare(self, chunk: bytes, expected: Payload) -> None:
        wanted = expected.slice(self._length, self._length + len(chunk))
        if chunk != wanted:
            same = next((i for i, (a, b) in enumerate(zip(chunk, wanted, strict=False)) if a != b), len(wanted))
            self._difference_offset = self._length + same
            self._digest = digest_of(expected, self._length)
            self._keep_window(chunk[same:])

    def _keep_window(self, data: bytes) -> None:
        self._from_difference += data[: WINDOW_AFTER_BYTES - len(self._from_difference)]

    def finish(self) -> CapturedStream:
        """Return what is kept, once the stream has ended."""
        return CapturedStream(
            length=self._length,
            sha256=self._sha256(),
            head=bytes(self._head),
            tail=bytes(self._tail),
            difference=self._difference(),
        )

    def _sha256(self) -> str:
        if self._digest is not None:
            return self._digest.hexdigest()
        assert self._expected is not None
        return sha256(self._expected, self._length)

    def _difference(self) -> Difference | None:
        expected, offset = self._expected, self._difference_offset
        if expected is None:
            return None
        if offset is None:
            if self._length == expected.length:
                return None
            offset = self._length
        start = max(0, offset - WINDOW_BEFORE_BYTES)
        return Difference(
            offset=offset,
            window_offset=start,
            expected=expected.slice(start, offset + WINDOW_AFTER_BYTES),
            observed=expected.slice(start, offset) + bytes(self._from_difference),
        )
