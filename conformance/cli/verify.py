"""`conformance verify ID`: run cases many times, alone and beside load, and say which are flaky."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console

from conformance.catalog import load_catalog, matrix_names
from conformance.cli.completion import complete_any_case
from conformance.cli.former import todays_all
from conformance.cli.options import source_options
from conformance.cli.progress import OnLine, progress
from conformance.errors import (
    ALL_AS_DOCUMENTED,
    SOMETHING_DIFFERS,
    HarnessError,
    InterruptedRunError,
    NothingSelectedError,
)
from conformance.observation import ResultKind
from conformance.repetition import repeated, step_deadline
from conformance.selection import Selection
from conformance.verification import Line, Surroundings, Verdict, VerdictKind, verdicts_of
from conformance.views.terminal import console_for_logs
from conformance.views.verification import verdict_as_json, verification


@click.command("verify")
@click.argument("patterns", nargs=-1, required=True, metavar="ID|GLOB...", shell_complete=complete_any_case)
@click.option(
    "-n",
    "--times",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How often each case is run alone, and as often again beside load.",
)
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_command(
    patterns: tuple[str, ...],
    times: int,
    matrices: tuple[str, ...],
    route_files: tuple[Path, ...],
    timeout_scale: float,
    as_json: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """Run each of the cases many times, and say which do not come out the same each time.

    A case is run alone, one after the other, and then beside busy processes on all processors and beside other cases.
    Without wildcards, a pattern is an exact id or a part of ids.

    Exit codes: 0 all stable, 1 something flaky, 3 something is broken or missing, 4 nothing selected, 130 interrupted.
    """
    catalog = load_catalog(matrices or matrix_names(), tuple(dict.fromkeys(route_files)))
    cases = Selection(ids=todays_all(patterns, catalog.former_ids.case))(catalog.cases())
    deadlines = {case.id: step_deadline(case, timeout_scale) for case in cases}
    planned = 2 * times * len(cases)
    with progress(planned, "runs") as on_line, closing(repeated(catalog, cases, times, timeout_scale)) as runs:
        verdicts = verdicts_of(_shown(runs, on_line), deadlines)
    done = sum(verdict.total for verdict in verdicts)
    interrupted = done < planned
    cut_short = f"interrupted after {done} of {planned} runs" if interrupted else ""
    code = InterruptedRunError.exit_code if interrupted else _exit_code(verdicts)
    if as_json:
        told = {"cases": list(map(verdict_as_json, verdicts)), "cut_short": cut_short, "exit_code": code}
        click.echo(json.dumps(told, indent=1))
    else:
        console_for_logs(Console(highlight=False)).print(verification(verdicts, cut_short), soft_wrap=True)
    return code


def _shown(runs: Iterable[tuple[Surroundings, Line]], on_line: OnLine) -> Iterator[tuple[Surroundings, Line]]:
    for surroundings, line in runs:
        on_line(line)
        yield surroundings, line


def _exit_code(verdicts: Sequence[Verdict]) -> int:
    """Broken or missing wins over flaky; where every case was skipped, nothing was verified."""
    kinds = {verdict.kind for verdict in verdicts}
    results = {seen.outcome.result for verdict in verdicts for seen in verdict.seen}
    if not results.isdisjoint((ResultKind.ERROR, ResultKind.UNAVAILABLE)):
        return HarnessError.exit_code
    if VerdictKind.FLAKY in kinds:
        return SOMETHING_DIFFERS
    return ALL_AS_DOCUMENTED if VerdictKind.STABLE in kinds else NothingSelectedError.exit_code
