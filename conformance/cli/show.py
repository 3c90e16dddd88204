"""`conformance show ID`: everything that the catalogue says of a case or a fixture."""

from __future__ import annotations

import json
from typing import Any

import click

from conformance.catalog import Catalog, covers, load_catalog, matrix_names
from conformance.cli.completion import complete_matrix, complete_shown
from conformance.errors import UsageError
from conformance.model import Case, Condition, Deviation, Expectation, Fixture, Route
from conformance.payload import Literal, Payload
from conformance.status import status_from_json, status_to_json
from conformance.views.text import printable

SHOWN_BYTES = 200
"""Bytes written out in a fixture are shown up to this size; larger ones are only counted."""


@click.command("show")
@click.argument("id_", metavar="ID", shell_complete=complete_shown)
@click.option(
    "--matrix",
    "matrices",
    multiple=True,
    shell_complete=complete_matrix,
    help="Where to look, instead of all shipped matrices; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show_command(id_: str, matrices: tuple[str, ...], as_json: bool) -> int:  # noqa: FBT001 - click passes options so
    """Show the body, argv, expectations and sources of the case or fixture ID."""
    description = _describe(load_catalog(matrices or matrix_names()), id_)
    click.echo(json.dumps(description, indent=1) if as_json else _as_text(description))
    return 0


def _describe(catalog: Catalog, id_: str) -> dict[str, Any]:
    for case in catalog.cases():
        if case.id == id_:
            return {
                "case": id_,
                **_fixture(case.fixture, (case.dialect,)),
                "route": _route(case.route),
                "deviations": _deviations(catalog, case),
            }
    for fixture in catalog.fixtures:
        if fixture.id == id_:
            return _fixture(fixture, tuple(sorted(fixture.dialects)))
    raise UsageError(f"unknown id {id_!r}: `conformance list` and `conformance list fixtures` name them all")


def _fixture(fixture: Fixture, dialects: tuple[str, ...]) -> dict[str, Any]:
    step = fixture.steps[0]
    return {
        "fixture": fixture.id,
        "summary": fixture.summary,
        "source": fixture.source,
        **({"reports": list(fixture.reports)} if fixture.reports else {}),
        "defined_at": str(fixture.origin),
        "started": fixture.started + (f": {fixture.unprovable_because}" if fixture.unprovable_because else ""),
        "body": {dialect: step.bodies[dialect] for dialect in dialects},
        "stdin": _stream(step.stdin),
        **({"wiring": dict(step.wiring)} if step.wiring else {}),
        **({"deadline": fixture.deadline} if fixture.deadline is not None else {}),
        "expectations": [_expectation(e) for e in step.expectations if e.condition.dialect in (None, *dialects)],
    }


def _expectation(expectation: Expectation) -> dict[str, Any]:
    return {
        "status": status_to_json(expectation.status),
        "stdout": _stream(expectation.stdout),
        "stderr": _stream(expectation.stderr),
        **({"received_bytes": expectation.received_bytes} if expectation.received_bytes is not None else {}),
        "when": _condition(expectation.condition),
        "reason": expectation.reason,
        "url": expectation.url,
        "seen": [f"{sighting.shell} {sighting.version} {sighting.os}" for sighting in expectation.seen],
        "defined_at": str(expectation.origin),
    }


def _stream(payload: Payload | None) -> str:
    if payload is None:
        return "anything"
    shown = f": {payload.data!r}" if isinstance(payload, Literal) and 0 < payload.length <= SHOWN_BYTES else ""
    return payload.describe() + shown


def _condition(condition: Condition) -> dict[str, str]:
    return {name: value for name in Condition.__dataclass_fields__ if (value := getattr(condition, name)) is not None}


def _route(route: Route) -> dict[str, Any]:
    return {
        "id": route.id,
        "kind": route.kind,
        "argv": list(route.argv),
        **({"stdin": route.stdin} if route.stdin is not None else {}),
        "files": dict(route.files),
        "env": dict(route.environment),
        "judged_by": route.judged_by,
        "source": route.source,
        "defined_at": str(route.origin),
    }


def _deviations(catalog: Catalog, case: Case) -> list[dict[str, Any]]:
    return [_deviation(deviation) for deviation in catalog.deviations if covers(deviation, case)]


def _deviation(deviation: Deviation) -> dict[str, Any]:
    observed = deviation.observed
    return {
        "observed": {
            **({"status": status_to_json(observed.status)} if observed.status is not None else {}),
            **{
                name: value if isinstance(value, str) else value.describe()
                for name, value in (("stdout", observed.stdout), ("stderr", observed.stderr))
                if value is not None
            },
            **({"started": str(observed.started)} if observed.started is not None else {}),
        },
        "when": _condition(deviation.condition),
        "reason": deviation.reason,
        "url": deviation.url,
        "defined_at": str(deviation.origin),
    }


def _as_text(value: Any, indent: str = "") -> str:
    """Lay out nested values as an indented outline; texts of several lines keep their lines."""
    if isinstance(value, dict):
        return "\n".join(
            f"{indent}{key}:{_beside(item, indent)}" for key, item in value.items() if item not in ("", [], {})
        )
    if isinstance(value, list):
        return "\n".join(f"{indent}-{_beside(item, indent)}" for item in value)
    return "\n".join(f"{indent}{line}" for line in printable(str(value)).split("\n"))


def _beside(value: Any, indent: str) -> str:
    if isinstance(value, dict) and "kind" in value and "argv" not in value:
        value = str(status_from_json(value))
    if isinstance(value, dict | list) or "\n" in str(value):
        return "\n" + _as_text(value, indent + "  ")
    return f" {printable(str(value))}"
