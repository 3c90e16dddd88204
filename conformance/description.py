"""What the catalogue says of its fixtures, routes and deviations, as JSON values for programs and views."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from conformance.condition import Condition
from conformance.model import MARKER_SESSION, SESSION, Deviation, Expectation, Fixture, ObservedPattern, Route, Step
from conformance.payload import Literal, Payload
from conformance.status import status_to_json

SHOWN_BYTES = 200
"""Bytes written out in a fixture are shown up to this size; larger ones are only counted."""


def describe_fixture(fixture: Fixture, dialects: tuple[str, ...]) -> dict[str, Any]:
    """Return what `fixture` is, with its bodies in `dialects`."""
    steps = [_describe_step(step, dialects) for step in fixture.steps]
    return {
        "fixture": fixture.id,
        "summary": fixture.summary,
        "source": fixture.source,
        **({"aliases": list(fixture.aliases)} if fixture.aliases else {}),
        **({"reports": list(fixture.reports)} if fixture.reports else {}),
        "defined_at": str(fixture.origin),
        "started": fixture.started + (f": {fixture.unprovable_because}" if fixture.unprovable_because else ""),
        **({"steps": steps} if fixture.needs_session else steps[0]),
        **({"deadline": fixture.deadline} if fixture.deadline is not None else {}),
    }


def _describe_step(step: Step, dialects: tuple[str, ...]) -> dict[str, Any]:
    return {
        "body": {dialect: step.bodies[dialect] for dialect in dialects},
        "stdin": describe_stream(step.stdin),
        **({"times": step.times} if step.times > 1 else {}),
        **({"wiring": dict(step.wiring)} if step.wiring else {}),
        "expectations": [
            describe_expectation(e) for e in step.expectations if e.condition.dialect in (None, *dialects)
        ],
    }


def describe_expectation(expectation: Expectation) -> dict[str, Any]:
    """Return what `expectation` asks for, when, and why."""
    return {
        "status": status_to_json(expectation.status),
        "stdout": describe_stream(expectation.stdout),
        "stderr": describe_stream(expectation.stderr),
        **({"received_bytes": expectation.received_bytes} if expectation.received_bytes is not None else {}),
        "when": describe_condition(expectation.condition),
        "reason": expectation.reason,
        "url": expectation.url,
        "seen": [f"{sighting.shell} {sighting.version} {sighting.os}" for sighting in expectation.seen],
        "defined_at": str(expectation.origin),
    }


def describe_stream(payload: Payload | None) -> str:
    """Name what a stream holds, written out where that is short; None stands for anything."""
    if payload is None:
        return "anything"
    shown = f": {payload.data!r}" if isinstance(payload, Literal) and 0 < payload.length <= SHOWN_BYTES else ""
    return payload.describe() + shown


def describe_condition(condition: Condition) -> dict[str, str]:
    """Return the keys of `condition` that are present."""
    return {name: value for name in Condition.__dataclass_fields__ if (value := getattr(condition, name)) is not None}


def describe_route(route: Route) -> dict[str, Any]:
    """Return how `route` launches a body: its templates, not what they were rendered to."""
    return {
        "id": route.id,
        **({"aliases": list(route.aliases)} if route.aliases else {}),
        "kind": route.kind,
        "argv": list(route.argv),
        **({"stdin": route.stdin} if route.stdin is not None else {}),
        **({"dialogue": asdict(route.dialogue)} if route.dialogue is not None else {}),
        **({"state": str(route.state)} if route.kind in (SESSION, MARKER_SESSION) else {}),
        **({"fixtures": list(route.fixtures)} if route.fixtures else {}),
        **({"except": list(route.exceptions)} if route.exceptions else {}),
        "files": dict(route.files),
        "env": dict(route.environment),
        "judged_by": route.judged_by,
        **({"fingerprint": route.fingerprint} if route.fingerprint is not None else {}),
        "source": route.source,
        "defined_at": str(route.origin),
    }


def describe_deviation(deviation: Deviation) -> dict[str, Any]:
    """Return what `deviation` documents, when, and why."""
    return {
        "happens": str(deviation.happens),
        "observed": [_describe_pattern(pattern) for pattern in deviation.observed],
        "when": describe_condition(deviation.condition),
        "reason": deviation.reason,
        "url": deviation.url,
        "defined_at": str(deviation.origin),
    }


def _describe_pattern(pattern: ObservedPattern) -> dict[str, Any]:
    return {
        **({"status": status_to_json(pattern.status)} if pattern.status is not None else {}),
        **{
            name: value if isinstance(value, str) else value.describe()
            for name, value in (("stdout", pattern.stdout), ("stderr", pattern.stderr))
            if value is not None
        },
        **({"started": str(pattern.started)} if pattern.started is not None else {}),
        **({"received": pattern.received} if pattern.received is not None else {}),
    }
