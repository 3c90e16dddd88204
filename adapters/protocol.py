"""The adapter protocol (`conformance schema adapter`) for systems that run in Python; the standard library is enough.

Call `serve` first of all: from then on the process's standard output belongs to the protocol, and what anything prints
there goes to standard error. What a body starts inherits neither of the protocol's two streams.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any

LONGEST_SENTENCE = 2000

Status = Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """A body to run. Attributes: `timeout` in seconds, and `environment`, which is all of it."""

    dialect: str
    body: str
    stdin: bytes
    cwd: str
    environment: dict[str, str]
    timeout: float


@dataclass(frozen=True)
class Outcome:
    """What a user of the system gets to know of a body."""

    status: Status
    stdout: bytes = b""
    stderr: bytes = b""


def exited(code: int) -> Status:
    """Return the status of a body that ended by itself."""
    return {"kind": "exited", "code": code}


def signalled(number: int) -> Status:
    """Return the status of a body that a signal ended."""
    return {"kind": "signalled", "number": number}


def timed_out() -> Status:
    """Return the status of a body that the system ended when its time was over."""
    return {"kind": "timed_out"}


def failed_to_start(error: OSError) -> Status:
    """Return the status of a body that was never started."""
    return {"kind": "failed_to_start", "errno": error.errno or 0, "detail": _sentence(error)}


def not_reported(reason: str) -> Status:
    """Return the status of a body of which the system tells no end; `reason` is what it tells instead."""
    return {"kind": "not_reported", "reason": _sentence(reason)}


def serve(name: str, version: str, capabilities: Mapping[str, Any], perform: Callable[[Request], Outcome]) -> None:
    """Say hello and answer requests with what `perform` returns, until standard input ends."""
    requests, replies = _protocol_streams()
    _send(replies, {"protocol": 1, "name": name, "version": version, "capabilities": capabilities})
    for line in requests:
        message = json.loads(line)
        _send(replies, {"id": message["id"], **_answer(perform, message)})


def decline(name: str, reason: str) -> None:
    """Say that the system is not there; `reason` tells what is missing and how to get it."""
    _send(_protocol_streams()[1], {"protocol": 1, "name": name, "unavailable": _sentence(reason)})


def _answer(perform: Callable[[Request], Outcome], message: Mapping[str, Any]) -> dict[str, Any]:
    request = Request(
        message["dialect"],
        message["body"],
        base64.b64decode(message["stdin"]),
        message["cwd"],
        message["env"],
        message["timeout_ms"] / 1000,
    )
    try:
        outcome = perform(request)
    except Exception as error:  # whatever it is, the harness is told, and the next body has its chance
        return {"error": _sentence(f"{type(error).__name__}: {error}")}
    return {
        "status": outcome.status,
        "stdout": base64.b64encode(outcome.stdout).decode(),
        "stderr": base64.b64encode(outcome.stderr).decode(),
    }


def _protocol_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Take the process's standard input and output away, and return copies that no child inherits."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, replies


def _send(replies: IO[bytes], message: Mapping[str, Any]) -> None:
    replies.write(json.dumps(message).encode() + b"\n")
    replies.flush()


def _sentence(words: object) -> str:
    return str(words)[:LONGEST_SENTENCE] or "an error without words"
