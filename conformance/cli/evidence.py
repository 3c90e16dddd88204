"""The result lines that a command judges: of cases that it runs itself, or of a report that exists."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from conformance.campaign import Plan, perform
from conformance.catalog import load_catalog, matrix_names
from conformance.cli.former import todays
from conformance.cli.options import REPORT
from conformance.cli.progress import progress
from conformance.errors import (
    ALL_AS_DOCUMENTED,
    SOMETHING_DIFFERS,
    HarnessError,
    InterruptedRunError,
    NothingSelectedError,
    UsageError,
)
from conformance.observation import ResultKind
from conformance.report.reader import STANDARD_INPUT, Report, read_report
from conformance.report.systems import driven_routes, silent_routes
from conformance.report.writer import ReportWriter

Command = TypeVar("Command", bound=Callable[..., Any])
Line = Mapping[str, Any]


@dataclass(frozen=True)
class Evidence:
    """Lines, and whether there should be more."""

    lines: tuple[Line, ...]
    cut_short: str = ""
    """What is missing of them, as a sentence; empty where nothing is."""
    interrupted: bool = False
    routes: tuple[str, ...] = ()
    """The routes that were asked for, as the lines call them."""

    def exit_code(self, *, differs: bool) -> int:
        """Return the exit code of a command: interrupted wins over broken or missing, and that over different."""
        if self.interrupted:
            return InterruptedRunError.exit_code
        if any(line["result"] in (ResultKind.ERROR, ResultKind.UNAVAILABLE) for line in self.lines):
            return HarnessError.exit_code
        return SOMETHING_DIFFERS if differs else ALL_AS_DOCUMENTED


def report_option(command: Command) -> Command:
    """Add --report FILE and --environment KEY, for a command that would run cases without them."""
    for decorate in (
        click.option(
            "--environment",
            "environments",
            multiple=True,
            metavar="KEY",
            help="Of a report with results of several environments, those of this one; may be repeated.",
        ),
        click.option(
            "--report",
            type=REPORT,
            metavar="FILE",
            help="Judge this report and run nothing; - is standard input.",
        ),
    ):
        command = decorate(command)
    return command


def from_run(plan: Plan) -> Evidence:
    """Run `plan`, with progress on standard error."""
    with progress(len(plan.cases)) as on_line:
        outcome = perform(plan, ReportWriter(io.StringIO(), "in memory"), on_line)
    done, total = len(outcome.results), len(plan.cases)
    cut_short = f"interrupted: only {done} of {total} cases were run" if outcome.interrupted else ""
    routes = tuple(dict.fromkeys(case.route.id for case in plan.cases))
    return Evidence(tuple(outcome.lines), cut_short, outcome.interrupted, routes)


def from_report(path: Path, routes: Sequence[str], environments: Collection[str]) -> Evidence:
    """Return what the report at `path` says of `routes`, in one of `environments` where any is named.

    A former id of a route means today's, unless the report has it.

    Raises UsageError for what is no report of this format, where it says nothing of one of the routes, and where it has
    results of a route in several environments.
    """
    report = read_report(path)
    chosen = [line for line in report.results if not environments or line["environment"] in environments]
    report = replace(report, results=tuple(chosen))
    held = dict.fromkeys(line["route"] for line in report.results)
    if not held.keys() >= set(routes):
        former = load_catalog(matrix_names()).former_ids
        routes = tuple(dict.fromkeys(route if route in held else todays(route, former.route) for route in routes))
    for route in routes:
        if route not in held:
            raise UsageError(
                f"{report.name}: has no result of the route {route!r}. Its routes are {', '.join(held) or 'none'}."
            )
    for route in routes:
        keys = dict.fromkeys(line["environment"] for line in report.results if line["route"] == route)
        if len(keys) > 1:
            raise UsageError(
                f"{report.name}: has results of {route} on {', '.join(sorted(keys))}. Choose one with --environment."
            )
    return _evidence(report, routes)


def from_report_on_systems(path: Path) -> Evidence:
    """Return what the report at `path` says of all routes that drive systems, or may, since nothing is known of them.

    Raises UsageError for what is no report of this format, NothingSelectedError where no such route was run.
    """
    if path != STANDARD_INPUT and not path.exists():
        raise UsageError(f"{path}: there is no such report. Run `conformance run systems`, or name one with --report.")
    report = read_report(path)
    routes = driven_routes(report.results)
    if not routes:
        raise NothingSelectedError(
            f"{report.name}: has no result of a system. Install some (`conformance systems install all`), "
            "then run them (`conformance run systems`)."
        )
    silent = (route for routes in silent_routes(report.results).values() for route in routes)
    return _evidence(report, [*routes, *silent])


def _evidence(report: Report, routes: Sequence[str]) -> Evidence:
    wanted = report.header["cases"]
    cut_short = f"incomplete: {report.name} has the results of {len(report.results)} of {wanted} cases"
    lines = tuple(line for line in report.results if line["route"] in routes)
    return Evidence(lines, "" if report.complete else cut_short, routes=tuple(routes))
