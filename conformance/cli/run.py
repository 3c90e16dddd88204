"""`conformance run`: run cases, show the grid, write the report."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import click
from rich.console import Console

from conformance.campaign import Outcome, Plan, finish, perform
from conformance.catalog import Catalog
from conformance.cli.options import load, pace_options, selection_options
from conformance.cli.progress import progress
from conformance.errors import UsageError
from conformance.report.findings import exit_code, missing_shells, missing_statement
from conformance.report.history import Earlier, history_of
from conformance.report.results import HeldResults, Told
from conformance.report.writer import ReportWriter
from conformance.runners.local import public_path
from conformance.selection import Shard
from conformance.views.screen import screen
from conformance.views.terminal import changes, console_for_logs
from conformance.views.text import printable

DEFAULT_REPORT = "conformance-report.jsonl"


@click.command("run")
@selection_options
@pace_options
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that is not as documented.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_REPORT,
    show_default=True,
    help="Where the report goes.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the report to standard output, and nothing else.")
@click.option("--allow-unavailable", is_flag=True, help="Do not fail when a required shell is missing.")
def run_command(
    matrices: tuple[str, ...],
    ids: tuple[str, ...],
    routes: tuple[str, ...],
    fixtures: tuple[str, ...],
    shard: Shard,
    jobs: int,
    fail_fast: bool,  # noqa: FBT001 - click passes options so
    timeout_scale: float,
    report: Path,
    as_json: bool,  # noqa: FBT001
    allow_unavailable: bool,  # noqa: FBT001
) -> int:
    """Run the cases of MATRIX (default: core) and say which routes keep exit codes and bytes."""
    catalog, select = load(matrices, ids, routes, fixtures, shard)
    plan = Plan(catalog, select(catalog.cases()), jobs, timeout_scale, fail_fast, select)
    with _report_stream(None if as_json else report) as stream:
        writer = ReportWriter(stream, "on standard output" if as_json else str(report))
        with progress(len(plan.cases)) as on_line:
            outcome = perform(plan, writer, on_line)
        missing = [] if allow_unavailable else missing_shells(outcome.lines, catalog)
        code = finish(plan, outcome, writer, missing)
    if not as_json:
        _show(plan, outcome, missing)
    earlier = _remember(catalog, str(select), writer.lines)
    if earlier and not as_json:
        _console().print(changes(outcome.lines, earlier, catalog.digest), soft_wrap=True)
    _say_ending(plan, outcome, missing, "standard output" if as_json else str(report))
    return code


@contextmanager
def _report_stream(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    try:
        stream = path.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--report {path}: cannot be written: {error.strerror}. Choose another place.") from error
    try:
        yield stream
    finally:
        with suppress(OSError):  # what could not be flushed has been reported already
            stream.close()


def _remember(
    catalog: Catalog, selection: str, lines: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], Earlier] | None:
    """Keep a whole report as the last one, and return what was found of its cases before."""
    if not lines or lines[-1]["kind"] != "footer":
        return None
    earlier = None
    try:
        history = history_of(catalog, lines[0]["runs"][0]["environment"])
        found = history.earlier()
        earlier = {key: found[key] for line in lines[1:-1] if (key := (line["id"], line["environment"])) in found}
        history.keep(selection, lines)
    except (OSError, RuntimeError) as error:
        _say(f"conformance: this run is not remembered: {error}. Set XDG_CACHE_HOME to a folder of yours.")
    return earlier


def _show(plan: Plan, outcome: Outcome, missing: Sequence[str]) -> None:
    console = _console()
    total, done = len(plan.cases), len(outcome.results)
    cut_short = f"it was cut short after {done} of {total} cases" if done < total else ""
    results = HeldResults(outcome.lines, [route.id for route in plan.catalog.routes])
    code = exit_code(outcome.lines, outcome.findings, missing)  # that a report found no room is said apart
    for row in screen(Told(results, outcome.findings, cut_short, code), console.width):
        console.print(row, soft_wrap=True)


def _console() -> Console:
    return console_for_logs(Console(highlight=False))


def _say_ending(plan: Plan, outcome: Outcome, missing: list[str], report: str) -> None:
    if outcome.unwritten is not None:
        _say(f"conformance: {outcome.unwritten}")
    elif len(outcome.results) < len(plan.cases):
        reason = "interrupted" if outcome.interrupted else "stopped"
        done = f"{len(outcome.results)} of {len(plan.cases)} cases"
        _say(f"conformance: {reason} after {done}; the report {report} is incomplete")
    else:
        _say(f"report: {report}")
    for shell in missing:
        _say(f"conformance: {missing_statement(shell, '--allow-unavailable')}")


def _say(sentence: str) -> None:
    click.echo(printable(public_path(sentence)), err=True)
