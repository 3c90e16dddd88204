"""The lines of a report as JSON values, and back."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

from conformance.model import ObservedPattern
from conformance.observation import CapturedStream, Difference, Result, StepObservation
from conformance.shapes import ANYTHING
from conformance.status import status_to_json

FORMAT = 2


def result_line(result: Result) -> dict[str, Any]:
    """Return the line of `result`."""
    observation, deviation = result.observation, result.deviation
    steps = observation.steps if observation is not None else ()
    system = observation.system if observation is not None else None
    return {
        "kind": "result",
        "id": result.id,
        "environment": str(result.environment),
        "fixture": result.id.rpartition("/")[0],
        "route": result.id.rpartition("/")[2],
        "result": str(result.kind),
        "status": status_to_json(result.status) if result.status is not None else None,
        "expected": status_to_json(result.expected) if result.expected is not None else None,
        "rule": None if result.rule is None else {"reason": result.rule.reason, "url": result.rule.url},
        "reason": result.reason,
        "discrepancies": [{"subject": found.subject, "meaning": found.meaning} for found in result.discrepancies],
        "basis": str(observation.basis) if observation is not None else "bytes",
        "system": None if system is None else {"name": system.name, "version": system.version},
        "provisional": result.provisional,
        "deviation": None
        if deviation is None
        else {
            "origin": str(deviation.origin),
            "happens": str(deviation.happens),
            "reason": deviation.reason,
            "url": deviation.url,
            "anything": sorted({subject for pattern in deviation.observed for subject in _untold(pattern)}),
        },
        "steps": [_step(step) for step in steps],
    }


def _untold(pattern: ObservedPattern) -> Iterator[str]:
    """Yield the subjects of which `pattern` does not tell what comes in the place of what should."""
    subjects = {"stdin": pattern.received, "stdout": pattern.stdout, "stderr": pattern.stderr}
    return (subject for subject, value in subjects.items() if value == ANYTHING)


def _step(step: StepObservation) -> dict[str, Any]:
    return {
        "status": status_to_json(step.status),
        "stdout": _stream(step.stdout),
        "stderr": _stream(step.stderr),
        "stdin": {"sent": step.stdin.sent, "broken_pipe": step.stdin.broken_pipe},
        "witness": {
            "marks": step.witness.marks,
            "received": [{"bytes": received.length, "sha256": received.sha256} for received in step.witness.received],
        },
        "leftovers": [{"pid": leftover.pid, "command": leftover.command} for leftover in step.leftovers],
        "seconds": step.seconds,
        "repetition": step.repetition,
        "decision": step.decision,
    }


def _stream(stream: CapturedStream) -> dict[str, Any]:
    return {
        "bytes": stream.length,
        "sha256": stream.sha256,
        "head": encode_bytes(stream.head),
        "tail": encode_bytes(stream.tail),
        "difference": _difference(stream.difference),
    }


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    return {
        "offset": difference.offset,
        "window_offset": difference.window_offset,
        "expected": encode_bytes(difference.expected),
        "observed": encode_bytes(difference.observed),
    }


def json_text(value: Any, indent: int | None = None) -> str:
    """Return `value` as JSON in ASCII in which no CI system that reads it in a log finds a command (`##[...]`)."""
    return re.sub("#(?=#)", r"\\u0023", json.dumps(value, indent=indent))


def encode_bytes(data: bytes) -> str:
    """Return `data` in base64, in which a report holds all bytes of hooks."""
    return base64.b64encode(data).decode()


def decode_bytes(text: str) -> bytes:
    """Return the bytes that `encode_bytes` wrote; raises ValueError for anything else."""
    return base64.b64decode(text, validate=True)
