"""Byte sequences that a fixture sends or expects: known in advance, of any size, never held whole in memory."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from conformance.witness import CHUNK_BYTES, stream_slice


class Payload(Hashable, Protocol):
    """A finite byte sequence."""

    @property
    def length(self) -> int:
        """The number of bytes."""

    def slice(self, start: int, end: int) -> bytes:
        """Return the bytes from offset `start` up to `end`, cut to what there is."""

    def describe(self) -> str:
        """Name the bytes in a few words, for a sentence."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Bytes written out in a fixture file."""

    data: bytes

    @property
    def length(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def slice(self, start: int, end: int) -> bytes:
        """Return the bytes from offset `start` up to `end`, cut to what there is."""
        return self.data[start:end]

    def describe(self) -> str:
        """Name the bytes in a few words."""
        return f"{len(self.data)} bytes" if self.data else "no bytes"


@dataclass(frozen=True, slots=True)
class Stream:
    """The first `length` bytes of the witness's deterministic stream called `name`."""

    name: str
    length: int

    def slice(self, start: int, end: int) -> bytes:
        """Return the bytes from offset `start` up to `end`, cut to what there is."""
        end = min(end, self.length)
        return stream_slice(self.name, start, end) if start < end else b""

    def describe(self) -> str:
        """Name the bytes in a few words."""
        return f"{self.length} bytes of the witness's {self.name} stream"


@dataclass(frozen=True, slots=True)
class Repeat:
    """`unit` over and over, cut to `length` bytes."""

    unit: bytes
    length: int

    def slice(self, start: int, end: int) -> bytes:
        """Return the bytes from offset `start` up to `end`, cut to what there is."""
        end = min(end, self.length)
        if start >= end:
            return b""
        return _repeated(self.unit, start % len(self.unit), end - start)

    def describe(self) -> str:
        """Name the bytes in a few words."""
        return f"{self.length} bytes of {self.unit!r} repeated"


@lru_cache(maxsize=4)
def _repeated(unit: bytes, phase: int, length: int) -> bytes:
    """Return `length` bytes of `unit` over and over, from its byte `phase` on: often the same ones again."""
    times = -(-(phase + length) // len(unit))
    return (unit * times)[phase : phase + length]


EMPTY = Literal(b"")


def chunks(payload: Payload) -> Iterator[bytes]:
    """Yield the bytes of `payload` in order, at most 64 KiB at a time."""
    for start in range(0, payload.length, CHUNK_BYTES):
        yield payload.slice(start, start + CHUNK_BYTES)


@lru_cache(maxsize=256)
def sha256(payload: Payload, length: int | None = None) -> str:
    """Return the SHA-256 (hex) of the first `length` bytes of `payload`, or of all of it."""
    return digest_of(payload, payload.length if length is None else length).hexdigest()


def digest_of(payload: Payload, length: int) -> hashlib._Hash:
    """Return a running SHA-256 that has taken in the first `length` bytes of `payload`, or all that there are."""
    digest = hashlib.sha256()
    wanted = min(length, payload.length)
    for start in range(0, wanted, CHUNK_BYTES):
        digest.update(payload.slice(start, min(start + CHUNK_BYTES, wanted)))
    return digest


def payload_from_toml(value: str | dict[str, Any]) -> Payload:
    """Build a payload from a fixture file's value, which the schema has checked for shape.

    Raises ValueError where the text of a value is wrong: digits that are not hexadecimal, say.
    """
    if isinstance(value, str):
        return Literal(value.encode())
    if "hex" in value:
        return Literal(bytes.fromhex(value["hex"]))
    if "base64" in value:
        return Literal(base64.b64decode(value["base64"], validate=True))
    if "stream" in value:
        return Stream(value["stream"], value["bytes"])
    return Repeat(value["repeat"].encode(), value["bytes"])
