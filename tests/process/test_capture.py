"""What is kept of a stream is the same whatever the chunks were, and the same as a look at the whole would give."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.observation import CapturedStream, Difference
from conformance.payload import Literal, Payload, Repeat, Stream
from conformance.process.capture import HEAD_BYTES, TAIL_BYTES, WINDOW_AFTER_BYTES, WINDOW_BEFORE_BYTES, Capture

MEBIBYTE = 1024 * 1024

contents = st.binary(max_size=200) | st.builds(
    lambda unit, times: unit * times, st.binary(min_size=1, max_size=40), st.integers(1, 400)
)
"""Short ones, and some that are longer than head and tail together."""


@st.composite
def observed_and_expected(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two contents that have a beginning in common more often than chance would have it."""
    expected = draw(contents)
    kept = draw(st.integers(0, len(expected)))
    change = draw(st.sampled_from(["none", "cut", "insert", "replace", "other"]))
    if change == "none":
        return expected, expected
    if change == "cut":
        return expected[:kept], expected
    if change == "other":
        return draw(contents), expected
    inserted = draw(st.binary(min_size=1, max_size=60))
    return expected[:kept] + inserted + expected[kept + (len(inserted) if change == "replace" else 0) :], expected


def naive(observed: bytes, expected: bytes | None) -> CapturedStream:
    return CapturedStream(
        length=len(observed),
        sha256=hashlib.sha256(observed).hexdigest(),
        head=observed[:HEAD_BYTES],
        tail=observed[-TAIL_BYTES:],
        difference=None if expected is None or observed == expected else naive_difference(observed, expected),
    )


def naive_difference(observed: bytes, expected: bytes) -> Difference:
    offset = 0
    while offset < min(len(observed), len(expected)) and observed[offset] == expected[offset]:
        offset += 1
    start = max(0, offset - WINDOW_BEFORE_BYTES)
    window = slice(start, offset + WINDOW_AFTER_BYTES)
    return Difference(offset=offset, window_offset=start, expected=expected[window], observed=observed[window])


def captured(observed: bytes, expected: Payload | None, cuts: Sequence[int] = ()) -> CapturedStream:
    capture = Capture(expected)
    places = [0, *sorted(cut % (len(observed) + 1) for cut in cuts), len(observed)]
    for start, end in itertools.pairwise(places):
        capture.feed(observed[start:end])
    return capture.finish()


chunkings = st.lists(st.integers(0, 20_000), max_size=12)


@settings(deadline=None)
@given(observed_and_expected(), chunkings)
def test_any_chunking_gives_what_a_look_at_the_whole_gives(contents: tuple[bytes, bytes], cuts: list[int]) -> None:
    observed, expected = contents
    assert captured(observed, Literal(expected), cuts) == naive(observed, expected)


@settings(deadline=None)
@given(contents, chunkings)
def test_a_stream_that_may_hold_anything_differs_from_nothing(observed: bytes, cuts: list[int]) -> None:
    assert captured(observed, None, cuts) == naive(observed, None)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=7), st.integers(0, 9000), st.integers(0, 9000), chunkings)
def test_generated_payloads_are_compared_as_their_bytes(unit: bytes, length: int, came: int, cuts: list[int]) -> None:
    observed = (unit * came)[:came]
    assert captured(observed, Repeat(unit, length), cuts) == naive(observed, (unit * length)[:length])


def test_one_wrong_byte_in_a_mebibyte_is_found_where_it_is() -> None:
    expected = Stream("stdout", MEBIBYTE)
    right = expected.slice(0, MEBIBYTE)
    at = 777_777
    wrong = right[:at] + bytes([right[at] ^ 1]) + right[at + 1 :]
    difference = captured(wrong, expected, range(0, MEBIBYTE, 65_536)).difference
    assert difference is not None
    assert (difference.offset, difference.window_offset) == (at, at - WINDOW_BEFORE_BYTES)
    assert difference.expected == right[at - WINDOW_BEFORE_BYTES : at + WINDOW_AFTER_BYTES]
    assert difference.observed == wrong[at - WINDOW_BEFORE_BYTES : at + WINDOW_AFTER_BYTES]
    assert captured(right, expected, range(0, MEBIBYTE, 50_000)).difference is None
