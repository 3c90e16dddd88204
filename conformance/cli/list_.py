"""`conformance list`: the names of everything that can be run."""

from __future__ import annotations

from typing import Any

import click

from conformance.catalog import Catalog, matrix_names
from conformance.cli.options import load, selection_options
from conformance.model import Case
from conformance.report.codec import json_text
from conformance.selection import Shard


@click.command("list")
@click.argument("what", type=click.Choice(["cases", "fixtures", "routes", "matrices"]), default="cases")
@selection_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_command(
    what: str,
    matrices: tuple[str, ...],
    ids: tuple[str, ...],
    routes: tuple[str, ...],
    fixtures: tuple[str, ...],
    shard: Shard,
    as_json: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """List the ids of cases (default), fixtures, routes or matrices."""
    if what == "matrices":
        rows: list[dict[str, Any]] = [{"id": name} for name in matrix_names()]
    else:
        catalog, select = load(matrices, ids, routes, fixtures, shard)
        rows = _rows(what, catalog, select(catalog.cases()))
    if as_json:
        click.echo(json_text(rows, indent=1))
    else:
        for row in rows:
            click.echo(row["id"])
    return 0


def _rows(what: str, catalog: Catalog, cases: tuple[Case, ...]) -> list[dict[str, Any]]:
    if what == "cases":
        return [
            {"id": case.id, "fixture": case.fixture.id, "route": case.route.id, "dialect": case.dialect}
            for case in cases
        ]
    if what == "fixtures":
        found = {case.fixture.id: case.fixture for case in cases}
        return [{"id": id_, "summary": fixture.summary, "source": fixture.source} for id_, fixture in found.items()]
    used = {case.route.id for case in cases}
    return [
        {
            "id": route.id,
            "kind": route.kind,
            "dialects": list(route.dialects),
            "judged_by": route.judged_by,
            "fingerprint": route.fingerprint,
            "source": route.source,
        }
        for route in catalog.routes
        if route.id in used
    ]
