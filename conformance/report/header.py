"""The header of a report: what was selected, on what it ran, and what the fixtures and routes are."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import conformance
from conformance.catalog import Catalog
from conformance.model import Case, Fixture, Route
from conformance.report.codec import FORMAT
from conformance.runners.local import public_path
from conformance.selection import Selection


def run_header(
    catalog: Catalog, cases: tuple[Case, ...], environment: Mapping[str, Any], selection: Selection
) -> dict[str, Any]:
    """Return the header of a run of `cases`, which `selection` took from `catalog`, on the machine `environment`."""
    run = {
        **environment,
        "selection": selection.what,
        "shard": {"part": selection.shard.number, "of": selection.shard.count},
        "cases": len(cases),
        "started_at": now(),
    }
    routes = {case.route.id: case.route for case in cases}
    fixtures = {case.fixture.id: case.fixture for case in cases}
    dialects = frozenset(dialect for route in routes.values() for dialect in route.dialects)
    return {
        "kind": "header",
        "format": FORMAT,
        "tool": {"name": "shell-exit-conformance", "version": conformance.__version__},
        "suite": {"digest": catalog.digest, "matrices": [matrix.name for matrix in catalog.matrices]},
        "runs": [run],
        "routes": [_route(route) for route in catalog.routes if route.id in routes],
        "fixtures": [_fixture(fixture, dialects) for fixture in fixtures.values()],
        "cases": len(cases),
    }


def _route(route: Route) -> dict[str, Any]:
    return {
        "id": route.id,
        "aliases": list(route.aliases),
        "kind": route.kind,
        "dialects": list(route.dialects),
        "argv": [public_path(word) for word in route.argv],
        "stdin": None if route.stdin is None else public_path(route.stdin),
        "judged_by": route.judged_by,
        "source": route.source,
    }


def _fixture(fixture: Fixture, dialects: Iterable[str]) -> dict[str, Any]:
    shown = sorted(fixture.dialects.intersection(dialects))
    return {
        "id": fixture.id,
        "aliases": list(fixture.aliases),
        "summary": fixture.summary,
        "source": fixture.source,
        "steps": [
            {"bodies": {dialect: step.bodies[dialect] for dialect in shown}, "stdin": step.stdin.describe()}
            for step in fixture.steps
        ],
    }


def now() -> str:
    """Return the time in UTC, to the second, as reports have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
