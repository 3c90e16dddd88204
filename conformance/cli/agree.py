"""`conformance agree ROUTE ROUTE...`: where routes differ from each other, and what is documented of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from conformance.campaign import Plan
from conformance.catalog import matrix_names
from conformance.cli.completion import complete_any_fixture, complete_any_route
from conformance.cli.evidence import Evidence, from_report, from_run, report_option
from conformance.cli.options import is_file, load, pace_options
from conformance.errors import NothingSelectedError, UsageError
from conformance.model import Case
from conformance.report.agreement import Comparison, compare
from conformance.report.codec import json_text
from conformance.selection import WHOLE, Selection, matcher
from conformance.status import status_to_json
from conformance.views.agreement import agreement
from conformance.views.terminal import console_for_logs

EQUAL = {"status": ("status",), "bytes": ("status", "stdout", "stderr")}


@click.command("agree")
@click.argument("routes", nargs=-1, metavar="ROUTE ROUTE...", shell_complete=complete_any_route)
@report_option
@click.option(
    "--equal",
    type=click.Choice(list(EQUAL)),
    default="status",
    show_default=True,
    help="What must be equal: the exit status, or with it the bytes of stdout and stderr.",
)
@click.option(
    "--fixture",
    "fixtures",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_any_fixture,
    help="Only fixtures whose id matches; may be repeated.",
)
@pace_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def agree_command(
    routes: tuple[str, ...],
    report: Path | None,
    environments: tuple[str, ...],
    equal: str,
    fixtures: tuple[str, ...],
    jobs: int,
    timeout_scale: float,
    as_json: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """Show with which fixtures any of the routes differ, and why each of them does what it does.

    A ROUTE is an id, or a TOML file with routes of yours. Without --report all fixtures that two of them take are run.
    """
    asked = [route for route in routes if report is None or is_file(route)]  # those in a report need not be known here
    catalog, select = load(matrix_names(), (), asked, fixtures, WHOLE) if asked or fixtures else (None, Selection())
    names = tuple(dict.fromkeys([*(route for route in routes if route not in asked), *select.routes]))
    if len(names) < 2:
        raise UsageError("two routes or more are compared: name another one, or a file that holds several")
    if report is None:
        assert catalog is not None, "there are routes to run"
        evidence = from_run(Plan(catalog, _shared(select(catalog.cases()), names), jobs, timeout_scale))
    else:
        evidence = from_report(report, names, environments)
        names = evidence.routes
    chosen = matcher(select.fixtures, {line["fixture"] for line in evidence.lines})
    comparison = compare([line for line in evidence.lines if chosen(line["fixture"])], names, EQUAL[equal])
    code = evidence.exit_code(differs=bool(comparison.differences))
    if not comparison.compared and not code:
        raise NothingSelectedError(f"nothing to compare: no fixture has results of two of {', '.join(names)}")
    if as_json:
        click.echo(json_text(_as_json(names, equal, comparison, evidence, code), indent=1))
    else:
        console = console_for_logs(Console(highlight=False))
        console.print(agreement(names, comparison, evidence.cut_short), soft_wrap=True)
    return code


def _shared(cases: Sequence[Case], names: Sequence[str]) -> tuple[Case, ...]:
    """Return those of `cases` whose fixture is taken by two routes or more."""
    takers = Counter(case.fixture.id for case in cases)
    shared = tuple(case for case in cases if takers[case.fixture.id] > 1)
    if not shared:
        raise NothingSelectedError(f"nothing to compare: no two of {', '.join(names)} take the same fixture")
    return shared


def _as_json(
    names: Sequence[str], equal: str, comparison: Comparison, evidence: Evidence, code: int
) -> dict[str, object]:
    return {
        "routes": list(names),
        "equal": equal,
        "compared": len(comparison.compared),
        "differences": [
            {
                "fixtures": list(difference.fixtures),
                "sides": [
                    {**asdict(side), "statuses": list(map(status_to_json, side.statuses))} for side in difference.sides
                ],
            }
            for difference in comparison.differences
        ],
        "left_out": [{"reason": reason, "cases": list(ids)} for reason, ids in comparison.left_out.items()],
        "on_text": list(comparison.on_text),
        "cut_short": evidence.cut_short,
        "exit_code": code,
    }
