"""`conformance fingerprint ROUTE`: which status policy a route was seen to have, and what else it does to hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from conformance.campaign import Plan
from conformance.catalog import Catalog, load_catalog, matrix_names
from conformance.cli.completion import complete_any_route
from conformance.cli.evidence import Evidence, from_report, from_run, report_option
from conformance.cli.launcher import HERE, launcher_route
from conformance.cli.options import load, pace_options
from conformance.errors import NothingSelectedError, UsageError
from conformance.model import Matrix, Route
from conformance.report.codec import json_text
from conformance.report.fingerprint import Fingerprint, describe, fingerprint_of, telling_fixtures
from conformance.selection import WHOLE
from conformance.status import status_to_json
from conformance.views.fingerprint import fingerprint_screen
from conformance.views.terminal import console_for_logs

NAME = "fingerprint"
"""What a launcher on the command line is called as a route."""


@click.command("fingerprint")
@click.argument(
    "words", nargs=-1, required=True, metavar="ROUTE | -- CMD... '{{body}}'", shell_complete=complete_any_route
)
@report_option
@pace_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def fingerprint_command(
    words: tuple[str, ...],
    report: Path | None,
    environments: tuple[str, ...],
    jobs: int,
    timeout_scale: float,
    as_json: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """Run the telling fixtures through ROUTE and say which status policy it has, and what else it does to hooks.

    ROUTE is an id, a TOML file with one route of yours, or a launcher's command line behind --, as for `try`.
    """
    if report is not None and _is_launcher(words):
        raise UsageError("--report: a report knows routes by their ids. Name one in the place of the command line.")
    route, catalog = _route(words, timeout_scale)
    if report is not None:
        evidence = from_report(report, [route.id], environments)
    else:
        evidence = from_run(_plan(route, catalog, jobs, timeout_scale))
    fixtures = {fixture.id: fixture for fixture in catalog.fixtures}
    fingerprint = fingerprint_of(route, fixtures, {line["id"]: line for line in evidence.lines})
    code = evidence.exit_code(differs=fingerprint.as_stated is False)
    if not fingerprint.seen and not code:
        raise NothingSelectedError(f"{report}: has none of the results that tell the policy of {route.id}")
    if as_json:
        click.echo(json_text(_as_json(fingerprint, evidence, code), indent=1))
    else:
        console_for_logs(Console(highlight=False)).print(fingerprint_screen(fingerprint, evidence.cut_short))
    return code


def _is_launcher(words: Sequence[str]) -> bool:
    return len(words) > 1 or "{{body" in words[0]


def _route(words: Sequence[str], timeout_scale: float) -> tuple[Route, Catalog]:
    if _is_launcher(words):
        return launcher_route(words, NAME, None, "last-statement", timeout_scale), load_catalog(())
    catalog, select = load(matrix_names(), (), words, (), WHOLE)
    if len(select.routes) > 1:
        raise UsageError(f"{words[0]}: holds several routes. Leave one of {', '.join(select.routes)} in it.")
    return next(route for route in catalog.routes if route.id in select.routes), catalog


def _plan(route: Route, catalog: Catalog, jobs: int, timeout_scale: float) -> Plan:
    """Return the plan for the telling fixtures, whatever fixtures the matrix of `route` selects."""
    only = Matrix(
        NAME, None, (), telling_fixtures(route), (replace(route, fixtures=(), exceptions=()),), catalog.deviations, HERE
    )
    catalog = replace(catalog, matrices=(only,))
    return Plan(catalog, catalog.cases(), jobs, timeout_scale)


def _as_json(fingerprint: Fingerprint, evidence: Evidence, code: int) -> Mapping[str, Any]:
    return {
        "route": fingerprint.route.id,
        "environments": list(fingerprint.environments),
        "basis": str(fingerprint.basis),
        "fingerprint": fingerprint.name,
        "in_words": describe(fingerprint),
        "stated": fingerprint.route.fingerprint,
        "as_stated": fingerprint.as_stated,
        "rows": [
            {
                "fixture": row.telling.fixture,
                "happens": row.telling.happens,
                "status": None if row.status is None else status_to_json(row.status),
                "why_not": row.why_not,
                "policies": dict(row.telling.codes),
            }
            for row in fingerprint.rows
        ],
        "traits": [asdict(trait) for trait in fingerprint.traits],
        "not_asked": list(fingerprint.not_asked),
        "cut_short": evidence.cut_short,
        "exit_code": code,
    }
