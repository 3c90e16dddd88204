"""Whether a line of a report is what it says: it fits the schema, and its parts agree with each other."""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from conformance.model import EnvironmentKey
from conformance.observation import SAYS_NOTHING, ResultKind
from conformance.process.capture import HEAD_BYTES, TAIL_BYTES
from conformance.report.codec import FORMAT, decode_bytes
from conformance.schema import MisfitError, compiled

Line = Mapping[str, Any]


class CheckError(ValueError):
    """A line is not what it says; the message has no full stop."""


def check_header(line: Line) -> None:
    """Raise CheckError for a header that does not fit, or is of another format."""
    if line.get("format") != FORMAT:
        raise CheckError(f"not a report of format {FORMAT}, the one that is known here. Run the cases again")
    _check_schema(line, "header")
    for run in line["runs"]:
        _check_environment(run["environment"])


def check_footer(line: Line) -> None:
    """Raise CheckError for a footer that does not fit."""
    _check_schema(line, "footer")


def check_result(line: Line) -> None:
    """Raise CheckError for a result that does not fit, or whose lengths and digests are not those of its bytes."""
    _check_schema(line, "result")
    if line["id"] != f"{line['fixture']}/{line['route']}":
        raise CheckError(f"the id {line['id']} is not that of its fixture and route")
    _check_environment(line["environment"])
    try:
        EnvironmentKey.parse(line["environment"])
    except ValueError as error:
        raise CheckError(str(error)) from error
    if line["result"] not in SAYS_NOTHING and not (line["steps"] and line["status"] and line["expected"]):
        raise CheckError(f"the result of {line['id']} is {line['result']}, but no step or status stands there")
    if line["result"] in (ResultKind.DEVIATES, ResultKind.FIXED) and line["deviation"] is None:
        raise CheckError(f"the result of {line['id']} is {line['result']}, but no deviation stands there")
    for step in line["steps"]:
        for name in ("stdout", "stderr"):
            _check_stream(f"{name} of {line['id']}", step[name])


def _check_environment(name: str) -> None:
    if not name.isprintable():
        raise CheckError(f"{ascii(name)[:80]} is no environment: it has a character that is not printable")


def _check_stream(name: str, stream: Mapping[str, Any]) -> None:
    size = stream["bytes"]
    head, tail = _bytes_of(name, stream["head"]), _bytes_of(name, stream["tail"])
    if len(head) != min(size, HEAD_BYTES) or len(tail) != min(size, TAIL_BYTES):
        raise CheckError(f"{name} is said to be {size} bytes long, which its first and last bytes are not those of")
    if size <= HEAD_BYTES and hashlib.sha256(head).hexdigest() != stream["sha256"]:
        raise CheckError(f"{name} has not the SHA-256 that is said")
    difference = stream["difference"]
    if difference is not None:
        for side in ("expected", "observed"):
            _bytes_of(name, difference[side])
        if not difference["window_offset"] <= difference["offset"] <= size:
            raise CheckError(f"{name} is said to differ where it has no byte")


def _bytes_of(name: str, text: str) -> bytes:
    try:
        return decode_bytes(text)
    except binascii.Error as error:
        raise CheckError(f"{name} is no base64") from error


def _check_schema(line: Line, definition: str) -> None:
    try:
        compiled("report", definition)(line)
    except MisfitError as error:
        place = str(error.name).removeprefix("data").lstrip(".") or f"the {definition}"
        raise CheckError(
            f"{place[:80]} does not fit `conformance schema report`. Give a report as it was written"
        ) from error
