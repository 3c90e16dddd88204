"""Payloads against the naive bytes that they stand for, and against what the witness really writes."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import witness
from conformance.payload import EMPTY, Literal, Payload, Repeat, Stream, chunks, payload_from_toml, sha256
from conformance.witness import BLOCK_BYTES, CHUNK_BYTES, stream_chunks, stream_slice

EDGES = [
    0,
    1,
    BLOCK_BYTES - 1,
    BLOCK_BYTES,
    BLOCK_BYTES + 1,
    CHUNK_BYTES - 1,
    CHUNK_BYTES,
    CHUNK_BYTES + 1,
    3 * CHUNK_BYTES + 5,
]
SIZES = st.one_of(st.sampled_from(EDGES), st.integers(0, 4 * CHUNK_BYTES))
LITERALS = st.one_of(
    st.binary(max_size=300), st.builds(lambda unit, n: unit * n, st.binary(min_size=1, max_size=3), SIZES)
)
UNITS = st.binary(min_size=1, max_size=40)


def naive_stream(name: str, size: int) -> bytes:
    """Return the stream as its definition has it, block by block from the start."""
    blocks = range(-(-size // BLOCK_BYTES))
    return b"".join(hashlib.shake_128(f"conformance {name} {n}".encode()).digest(BLOCK_BYTES) for n in blocks)[:size]


@st.composite
def payloads(draw: st.DrawFn) -> tuple[Payload, bytes]:
    """Return a payload of any kind, and its bytes."""
    kind = draw(st.sampled_from(["literal", "stream", "repeat"]))
    if kind == "literal":
        data = draw(LITERALS)
        return Literal(data), data
    size = draw(SIZES)
    if kind == "stream":
        name = draw(st.sampled_from(["stdin", "stdout", "stderr"]))
        return Stream(name, size), naive_stream(name, size)
    unit = draw(UNITS)
    return Repeat(unit, size), (unit * (size // len(unit) + 1))[:size]


@settings(max_examples=60, deadline=None)
@given(payloads(), SIZES, SIZES)
def test_a_slice_is_that_of_the_bytes(payload: tuple[Payload, bytes], start: int, end: int) -> None:
    lazy, data = payload
    assert lazy.length == len(data)
    assert lazy.slice(start, end) == data[start:end]


@settings(max_examples=40, deadline=None)
@given(payloads())
def test_chunks_are_the_bytes_in_order_and_bounded(payload: tuple[Payload, bytes]) -> None:
    lazy, data = payload
    parts = list(chunks(lazy))
    assert b"".join(parts) == data
    assert all(0 < len(part) <= CHUNK_BYTES for part in parts)


@settings(max_examples=40, deadline=None)
@given(payloads(), st.one_of(st.none(), SIZES))
def test_the_digest_is_that_of_the_bytes(payload: tuple[Payload, bytes], length: int | None) -> None:
    lazy, data = payload
    assert sha256(lazy, length) == hashlib.sha256(data if length is None else data[:length]).hexdigest()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["stdin", "stdout", "stderr"]), SIZES, SIZES)
def test_a_shorter_stream_is_the_beginning_of_a_longer_one(name: str, one: int, other: int) -> None:
    short, long = sorted((one, other))
    assert stream_slice(name, 0, long)[:short] == stream_slice(name, 0, short)
    assert stream_slice(name, short, long) == stream_slice(name, 0, long)[short:]
    assert b"".join(stream_chunks(name, long)) == naive_stream(name, long)


def test_streams_hold_every_byte_value_repeat_nothing_and_differ() -> None:
    streams = {name: naive_stream(name, CHUNK_BYTES) for name in ("stdin", "stdout", "stderr")}
    assert len(set(streams.values())) == 3
    for data in streams.values():
        assert set(data) == set(range(256))
        assert len({data[n : n + 16] for n in range(0, len(data), 16)}) == len(data) // 16


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("", b""),
        ("é\r\n", "é\r\n".encode()),
        ({"hex": "00 fF"}, b"\x00\xff"),
        ({"base64": base64.b64encode(b"\x00\xff").decode()}, b"\x00\xff"),
        ({"stream": "stderr", "bytes": 5000}, naive_stream("stderr", 5000)),
        ({"repeat": "é", "bytes": 3}, b"\xc3\xa9\xc3"),
    ],
)
def test_values_of_files(value: str | dict[str, object], data: bytes) -> None:
    assert payload_from_toml(value).slice(0, 10_000) == data


@pytest.mark.parametrize("value", [{"hex": "0"}, {"hex": "zz"}, {"base64": "A"}, {"base64": "AA==\n"}, {"base64": "é"}])
def test_values_of_files_that_are_no_bytes(value: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        payload_from_toml(value)


def test_descriptions_are_short_whatever_the_size() -> None:
    assert EMPTY.describe() == "no bytes"
    assert Literal(b"x" * 5000).describe() == "5000 bytes"
    assert Stream("stdout", 2**40).describe() == "1099511627776 bytes of the witness's stdout stream"
    assert Repeat(b"ab", 2**40).describe() == "1099511627776 bytes of b'ab' repeated"


def run_witness(
    tmp_path: Path, *verbs: str, stdin: bytes = b""
) -> tuple[subprocess.CompletedProcess[bytes], list[str]]:
    """Run the witness as bodies do, and return what it did and its record."""
    record = tmp_path / "record"
    command = [sys.executable, "-I", "-S", witness.__file__, str(record), *verbs]
    completed = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)
    return completed, record.read_text(encoding="ascii").splitlines()


@pytest.mark.parametrize("size", [0, 1, 4097, 65537, 1_000_003])
def test_the_witness_writes_exactly_the_stream(size: int, tmp_path: Path) -> None:
    completed, record = run_witness(tmp_path, "write", str(size), "write-stderr", str(size // 2))
    assert completed.returncode == 0
    assert completed.stdout == Stream("stdout", size).slice(0, size)
    assert completed.stderr == Stream("stderr", size // 2).slice(0, size)
    assert record == ["started", "finished"]


@pytest.mark.parametrize("size", [0, 65537, 1_000_003])
def test_the_witness_receives_exactly_the_stream(size: int, tmp_path: Path) -> None:
    payload = Stream("stdin", size)
    completed, record = run_witness(tmp_path, "read", "5", "echo", "exit", "7", stdin=payload.slice(0, size))
    assert completed.returncode == 7
    assert completed.stdout == payload.slice(5, size)
    rest = hashlib.sha256(payload.slice(5, size)).hexdigest()
    assert record == [
        "started",
        f"received {min(5, size)} {sha256(payload, 5)}",
        f"received {max(0, size - 5)} {rest}",
        "finished",
    ]


def test_the_witness_writes_bytes_of_any_value(tmp_path: Path) -> None:
    completed, _ = run_witness(tmp_path, "hex", "00ff0d0a1b", "hex-stderr", "80")
    assert (completed.stdout, completed.stderr) == (b"\x00\xff\r\n\x1b", b"\x80")


@pytest.mark.parametrize("verbs", [("wriet", "5"), ("write",), ("5",)])
def test_the_witness_refuses_nonsense(verbs: tuple[str, ...], tmp_path: Path) -> None:
    completed, record = run_witness(tmp_path, *verbs)
    assert completed.returncode == 1
    assert b"unknown verb or missing argument" in completed.stderr
    assert record == ["started"]


def test_the_witness_dies_of_the_signal_that_it_is_told(tmp_path: Path) -> None:
    completed, record = run_witness(tmp_path, "signal", "KILL")
    assert completed.returncode == -9
    assert record == ["started"]
