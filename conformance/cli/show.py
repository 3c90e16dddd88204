"""`conformance show ID`: everything that the catalogue says of a case or a fixture."""

from __future__ import annotations

from typing import Any

import click

from conformance.catalog import Catalog, covers, load_catalog, matrix_names
from conformance.cli.completion import complete_matrix, complete_shown
from conformance.cli.former import todays
from conformance.description import describe_deviation, describe_fixture, describe_route
from conformance.errors import UsageError
from conformance.model import Case
from conformance.report.codec import json_text
from conformance.status import status_from_json
from conformance.views.text import printable


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
    catalog = load_catalog(matrices or matrix_names())
    former = catalog.former_ids
    description = _describe(catalog, todays(id_, lambda name: former.case(former.fixture(name))))
    click.echo(json_text(description, indent=1) if as_json else _as_text(description))
    return 0


def _describe(catalog: Catalog, id_: str) -> dict[str, Any]:
    for case in catalog.cases():
        if case.id == id_:
            return {
                "case": id_,
                **describe_fixture(case.fixture, (case.dialect,)),
                "route": describe_route(case.route),
                "deviations": _deviations(catalog, case),
            }
    for fixture in catalog.fixtures:
        if fixture.id == id_:
            return describe_fixture(fixture, tuple(sorted(fixture.dialects)))
    raise UsageError(f"unknown id {id_!r}: `conformance list` and `conformance list fixtures` name them all")


def _deviations(catalog: Catalog, case: Case) -> list[dict[str, Any]]:
    return [describe_deviation(deviation) for deviation in catalog.deviations if covers(deviation, case)]


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
