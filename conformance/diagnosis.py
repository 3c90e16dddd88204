"""Say what a difference means, in sentences that can be pasted into a bug report."""

from __future__ import annotations

from conformance.observation import CapturedStream, Difference, Discrepancy
from conformance.payload import EMPTY, Payload, sha256
from conformance.shapes import recognised
from conformance.status import SHELL_SIGNAL_BASE, Exited, ExitStatus, NotReported, Signalled, TimedOut

_SHAPE_MEANINGS = {
    "empty": "is lost as a whole",
    "final-newline-lost": "lost its final newline",
    "final-newline-added": "got a newline at its end that the hook did not write",
    "crlf-to-lf": "has LF where the hook wrote CR LF",
    "lf-to-crlf": "has CR LF where the hook wrote LF",
    "utf8-lossy": "was decoded as UTF-8 and encoded again, so that other bytes became U+FFFD",
    "merged-with-stderr": "has the other stream appended to it",
}


def status_discrepancy(expected: ExitStatus, observed: ExitStatus) -> Discrepancy:
    """Return the whole statement on a status that is not the expected one."""
    return Discrepancy("status", f"expected {expected}, came {observed}", _status_meaning(expected, observed))


def _status_meaning(expected: ExitStatus, observed: ExitStatus) -> str:
    if isinstance(observed, TimedOut):
        return "the route hung and was killed with its whole tree at its deadline"
    if isinstance(expected, TimedOut):
        return "the hook was to run until its deadline, but the route reported an end before that"
    if isinstance(observed, Signalled):
        return "the process that the caller waits for died of a signal, which says nothing of the hook"
    if isinstance(observed, NotReported):
        return "nobody tells the caller how the hook ended, and one that takes that for success lets the tool run"
    if not isinstance(observed, Exited):
        return "the caller gets no exit code at all"
    if isinstance(expected, Exited):
        return _code_meaning(expected.code, observed.code)
    if isinstance(expected, Signalled):
        return _code_meaning(SHELL_SIGNAL_BASE + expected.number, observed.code)
    return "the caller sees an exit code where there is none to see"


def _code_meaning(expected: int, observed: int) -> str:
    if observed == 0:
        return "the failure is reported as success, so a hook that denies lets the tool run"
    if expected == 0:
        return "the success is reported as a failure, so a hook that allows is taken for a broken or a denying one"
    if observed == expected & 0xFF:
        return "the code was cut to its low 8 bits"
    if observed == 1:
        return "the code collapsed to 1, so a caller that blocks on 2 takes the hook for broken and carries on"
    if observed == 2:
        return "the code became 2, which callers take for a verdict (block) that the hook did not give"
    return "the caller sees another code than the hook's own"


def stream_discrepancy(
    name: str, captured: CapturedStream, expected: Payload, other_expected: Payload | None
) -> Discrepancy:
    """Return the whole statement on a stream that differs: lengths, first differing offset, hexdumps and meaning.

    `other_expected` is what the other of stdout and stderr should hold; None where that may be anything.
    """
    difference = captured.difference
    assert difference is not None
    return Discrepancy(
        name,
        f"{name}: expected {expected.describe()}, came {captured.length} bytes, "
        f"the first difference is at byte offset {difference.offset}",
        f"{name} {_stream_meaning(captured, expected, other_expected or EMPTY)}",
        side_by_side(difference),
    )


def _stream_meaning(captured: CapturedStream, expected: Payload, other: Payload) -> str:
    if other.length and captured.length == other.length and captured.sha256 == sha256(other):
        return "holds exactly what belongs on the other stream"
    for shape in recognised(captured, expected, other):
        return _SHAPE_MEANINGS[shape]
    difference = captured.difference
    if difference is not None and difference.offset == captured.length:
        return "ends early, its last bytes are lost"
    if difference is not None and difference.offset == expected.length:
        return "has bytes at its end that the hook did not write"
    return "was changed on the way"


def side_by_side(difference: Difference) -> str:
    """Return hexdumps of both sides of a difference, with absolute offsets."""
    rows = []
    for name, data in (("expected", difference.expected), ("came", difference.observed)):
        dump = hexdump(data, difference.window_offset) or [f"{difference.window_offset:08x}  (nothing)"]
        rows += [f"  {name if index == 0 else '':<8} {row}" for index, row in enumerate(dump)]
    return "\n".join(rows)


def hexdump(data: bytes, offset: int = 0) -> list[str]:
    """Return the rows of a canonical hexdump of `data`, whose first byte stands at `offset`."""
    rows = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        rows.append(f"{offset + start:08x}  {row.hex(' '):<47}  |{text}|")
    return rows
