"""`conformance merge REPORT... -o FILE`: one report of shards and environments."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click

from conformance.cli.options import REPORT, route_files_option
from conformance.cli.suite import suite_of
from conformance.errors import CatalogError, UsageError
from conformance.report.findings import judge_run
from conformance.report.index import temporary_database
from conformance.report.merging import Judge, Merged, Merger
from conformance.report.reader import ReportFile, open_report
from conformance.runners.local import public_path
from conformance.views.text import printable
from conformance.whole_file import whole_file


@click.command("merge")
@click.argument(
    "reports",
    nargs=-1,
    required=True,
    metavar="REPORT...",
    type=REPORT,
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the merged report goes.",
)
@click.option("--expect-shards", type=click.IntRange(min=1), metavar="N", help="Refuse what is not all of N shards.")
@click.option("--allow-incomplete", is_flag=True, help="Take what was cut short or lacks a shard, and mark it.")
@route_files_option
def merge_command(
    reports: tuple[Path, ...],
    output: Path,
    expect_shards: int | None,
    allow_incomplete: bool,  # noqa: FBT001 - click passes options so
    route_files: tuple[Path, ...],
) -> int:
    """Join the reports of shards and environments into one, whatever their order.

    Refused are reports of different suites, a shard that stands twice or is missing, and a report that was cut short.
    Where a case came out in two ways in the same environment, the worst counts, and that is a finding of its own.
    """
    with ExitStack() as stack:
        opened = [stack.enter_context(open_report(path)) for path in reports]
        merger = Merger(opened, stack.enter_context(temporary_database()))
        merger.check_shards(expect_shards)
        if not allow_incomplete:
            merger.check_complete()
        judge, unjudged = _judge(opened[0], route_files)
        with whole_file(output, "-o") as stream:
            merged = merger.write(stream, judge)
    _say(merged, len(reports), output, unjudged)
    return 0


def _judge(report: ReportFile, route_files: Sequence[Path]) -> tuple[Judge | None, str]:
    """Return what judges the merged results as a whole, or why nothing can."""
    try:
        return partial(judge_run, catalog=suite_of(report.header, route_files)), ""
    except CatalogError:
        raise
    except UsageError as error:
        return None, f"agreements and stale deviations were not looked for over all shards: {error}"


def _say(merged: Merged, reports: int, output: Path, unjudged: str) -> None:
    counts = ", ".join(f"{count} {result}" for result, count in merged.results.items())
    lines = [
        f"{output}: {reports} reports, {len(merged.environments)} environments: {counts}",
        *(f"incomplete: {run}" for run in merged.incomplete),
        *(f"FAIL {finding}" for finding in merged.findings),
    ]
    lines += [unjudged] if unjudged else []
    for line in lines:
        click.echo(printable(public_path(line)), err=True)
