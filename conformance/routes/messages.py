"""The lines of the adapter protocol: made, and checked against its JSON Schema."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from jsonschema.exceptions import ValidationError, best_match

from conformance.model import Seconds
from conformance.payload import Payload, chunks
from conformance.process import Answer
from conformance.process.talk import shown
from conformance.routes.capabilities import Capabilities, unclaimed
from conformance.schema import validator
from conformance.status import status_from_json

SHOWN_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Hello:
    """The first line of an adapter that takes requests."""

    name: str
    version: str
    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class Absence:
    """The first line of an adapter whose system is not there."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Request:
    """A body to run."""

    id: str
    session: str
    dialect: str
    body: str
    stdin: Payload
    cwd: str
    env: dict[str, str]
    timeout: Seconds

    def line(self) -> bytes:
        """Return the line that asks for it."""
        value = {
            "id": self.id,
            "session": self.session,
            "dialect": self.dialect,
            "body": self.body,
            "stdin": base64.b64encode(b"".join(chunks(self.stdin))).decode(),
            "cwd": self.cwd,
            "env": self.env,
            "timeout_ms": max(1, round(self.timeout * 1000)),
        }
        return json.dumps(value).encode() + b"\n"


class AdapterFailureError(Exception):
    """The adapter says itself that it could not drive its system."""


def read_hello(line: bytes) -> Hello | Absence:
    """Return what the first line of an adapter says; raises ValueError, with what to do, where it is no hello."""
    value = _checked(line, "hello", "unavailable" if b'"unavailable"' in line else "ready")
    if "unavailable" in value:
        return Absence(value["name"], value["unavailable"])
    return Hello(value["name"], value["version"], Capabilities.of(value["capabilities"]))


def read_reply(line: bytes, request: Request, capabilities: Capabilities) -> Answer:
    """Return the answer to `request` that `line` is.

    Raises ValueError, with what to do, where it is none; AdapterFailureError where it says that there is none.
    """
    value = _checked(line, "reply", "failure" if b'"error"' in line and b'"status"' not in line else "outcome")
    if value["id"] != request.id:
        raise ValueError(
            f"it answered request {value['id']!r}, but {request.id!r} was asked. "
            "Answer each request once, in turn, with its own id"
        )
    if "error" in value:
        raise AdapterFailureError(value["error"])
    beyond = unclaimed(capabilities, value)
    if beyond is not None:
        raise ValueError(beyond)
    stdout, stderr = (base64.b64decode(value[name], validate=True) for name in ("stdout", "stderr"))
    return Answer(status_from_json(value["status"]), stdout, stderr, value.get("decision"))


def _checked(line: bytes, what: str, definition: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"its {what} is no JSON: {shown(line)}. Write one JSON object on a line of its own, and the rest to stderr"
        ) from error
    misfit = best_match(validator("adapter", definition).iter_errors(value))
    if misfit is not None:
        raise ValueError(
            f"its {what} {_misfit(misfit)}. `conformance schema adapter` tells all of it; it wrote {shown(line)}"
        )
    assert isinstance(value, dict)
    return value


def _misfit(error: ValidationError) -> str:
    place = ".".join(str(key) for key in error.absolute_path)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"lacks the key {'.'.join(filter(None, [place, missing]))!r}"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        unknown = sorted(set(error.instance) - set(error.schema.get("properties", ())))
        return f"has the unknown key {'.'.join(filter(None, [place, unknown[0]]))!r}"
    expected = error.schema.get("description", error.message) if isinstance(error.schema, dict) else error.message
    return f"has {_short(error.instance)} for {place!r}, but {expected} is expected" if place else "is no JSON object"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
