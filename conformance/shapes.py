"""The ways in which routes are known to damage a stream, as functions of the bytes that should have come."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping

from conformance.observation import CapturedStream
from conformance.payload import Payload, chunks, sha256

SIMPLE_SHAPES: Mapping[str, Callable[[bytes, bytes], bytes]] = {
    "empty": lambda data, other: b"",
    "final-newline-lost": lambda data, other: data.removesuffix(b"\n"),
    "final-newline-added": lambda data, other: data + b"\n",
    "crlf-to-lf": lambda data, other: data.replace(b"\r\n", b"\n"),
    "lf-to-crlf": lambda data, other: re.sub(rb"(?<!\r)\n", b"\r\n", data),
    "utf8-lossy": lambda data, other: data.decode("utf-8", "replace").encode(),
    "merged-with-stderr": lambda data, other: data + other,
}
"""Name -> function of the stream's own bytes and of the other stream's."""

ANYTHING = "anything"
"""In a deviation: the stream is not as the contract has it, and what it holds is not told (a shell's error text)."""

BEGINS = "begins:"
"""In a deviation, before hexadecimal digits: how the stream begins, where what follows depends on the body."""

LARGEST_SHAPED_BYTES = 16 * 1024 * 1024
"""Streams above this size are not transformed, so that a diagnosis cannot take unbounded memory."""


def shaped(shape: str, expected: Payload, other: Payload) -> bytes:
    """Return what `expected` becomes under `shape`; `other` is what the other stream should hold.

    Raises ValueError for an unknown shape.
    """
    data = b"".join(chunks(expected))
    if shape in SIMPLE_SHAPES:
        return SIMPLE_SHAPES[shape](data, b"".join(chunks(other)))
    side, _, size = shape.partition(":")
    if side == "tail":
        return data[len(data) - min(int(size), len(data)) :]
    if side == "head":
        return data[: int(size)]
    raise ValueError(f"unknown shape {shape!r}")


def beginning(pattern: Payload | str) -> bytes | None:
    """Return the bytes with which a stream begins by `pattern`; None where it tells more, or nothing."""
    told = isinstance(pattern, str) and pattern.startswith(BEGINS)
    return bytes.fromhex(str(pattern).removeprefix(BEGINS)) if told else None


def documented_sha256(pattern: Payload | str, expected: Payload, other: Payload) -> str:
    """Return the SHA-256 (hex) of what `pattern` stands for: a payload, a shape of `expected`, or `sha256:...`."""
    if not isinstance(pattern, str):
        return sha256(pattern)
    if pattern.startswith("sha256:"):
        return pattern.removeprefix("sha256:")
    return hashlib.sha256(shaped(pattern, expected, other)).hexdigest()


def recognised(captured: CapturedStream, expected: Payload, other: Payload) -> Iterator[str]:
    """Yield the names of the shapes that turn `expected` into exactly what was captured."""
    if max(expected.length, other.length) > LARGEST_SHAPED_BYTES:
        return
    own, others = (b"".join(chunks(payload)) for payload in (expected, other))
    for shape, function in SIMPLE_SHAPES.items():
        damaged = function(own, others)
        if (
            len(damaged) == captured.length
            and damaged != own
            and hashlib.sha256(damaged).hexdigest() == captured.sha256
        ):
            yield shape
