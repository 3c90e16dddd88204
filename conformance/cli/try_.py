"""`conformance try -- CMD... '{{body}}'`: what a user of this launcher loses, without writing any file."""

from __future__ import annotations

import io
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from conformance.campaign import Outcome, Plan, finish, perform
from conformance.catalog import load_catalog
from conformance.cli.completion import complete_fixture
from conformance.cli.former import todays_all
from conformance.cli.launcher import HERE, launcher_route
from conformance.cli.options import pace_options
from conformance.cli.progress import progress
from conformance.dialects import DIALECTS
from conformance.errors import InterruptedRunError
from conformance.model import Matrix
from conformance.report.results import HeldResults
from conformance.report.writer import ReportWriter
from conformance.selection import Selection
from conformance.views.grid import grid
from conformance.views.screen import counts, wrong
from conformance.views.terminal import console_for_logs
from conformance.views.text import printable

MATRIX = "telling"
ROUTE = "try"


@click.command("try", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True, metavar="-- CMD... '{{body}}'")
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    help="What the launcher's bodies are written in. Default: found out by trying.",
)
@click.option(
    "--fixture",
    "fixtures",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_fixture,
    help="Fixtures to run instead of the telling ones; may be repeated.",
)
@click.option(
    "--judged-by",
    type=click.Choice(["last-statement", "last-native"]),
    default="last-statement",
    show_default=True,
    help="The reading of the contract that the launcher claims.",
)
@pace_options
@click.option("--json", "as_json", is_flag=True, help="Print the report (JSON lines) instead.")
def try_command(
    command: tuple[str, ...],
    dialect: str | None,
    fixtures: tuple[str, ...],
    judged_by: str,
    jobs: int,
    timeout_scale: float,
    as_json: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """Run the telling fixtures through a launcher of yours and say what its users lose.

    CMD is the launcher's command line, with {{body}} where the hook's text goes, or {{body_file}} where a file with
    it goes:

        conformance try -- bash -c '{{body}}; exit 0'
    """
    catalog = load_catalog([MATRIX])
    route = launcher_route(command, ROUTE, dialect, judged_by, timeout_scale)
    globs = todays_all(fixtures, catalog.former_ids.fixture) or tuple(
        glob for matrix in catalog.matrices for glob in matrix.fixtures
    )
    catalog = replace(catalog, matrices=(Matrix("try", None, (), globs, (route,), (), HERE),))
    plan = Plan(catalog, Selection()(catalog.cases()), jobs, timeout_scale)
    stream = io.StringIO()
    writer = ReportWriter(stream, "in memory")
    with progress(len(plan.cases)) as on_line:
        outcome = perform(plan, writer, on_line)
    code = finish(plan, outcome, writer, [])
    if as_json:
        click.echo(stream.getvalue(), nl=False)
    else:
        _show(command, route.dialects, outcome, len(plan.cases))
    if outcome.interrupted:
        raise InterruptedRunError(f"interrupted after {len(outcome.results)} of {len(plan.cases)} cases")
    return code


def _show(command: Sequence[str], dialects: Sequence[str], outcome: Outcome, total: int) -> None:
    lost = [line for line in outcome.lines if line["result"] == "fail"]
    console = console_for_logs(Console(highlight=False))
    launcher = printable(shlex.join(command))
    spoken = f"bodies written in {' or '.join(dialects)}"
    if lost:
        console.print(
            f"{launcher} ({spoken}) does not keep {len(lost)} of {total} telling fixtures. Its users lose:",
            style="bold red",
            markup=False,
        )
        for meaning, ids in _by_meaning(lost).items():
            console.print(f"- {printable(meaning)}:\n    {', '.join(ids)}", markup=False)
    elif not outcome.broken:
        console.print(
            f"{launcher} ({spoken}) keeps the exact status and bytes of all {total} telling fixtures.",
            style="bold green",
            markup=False,
        )
    results = HeldResults(outcome.lines, [ROUTE])
    for row in chain(wrong(results, ()), [Text()], grid(results, console.width), counts(results)):
        console.print(row, soft_wrap=True)


def _by_meaning(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Group the failed fixtures by what happened to them, the most frequent first."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        for found in line["discrepancies"]:
            groups[found["meaning"]].append(line["fixture"])
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))
