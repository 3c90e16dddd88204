"""`conformance report [FILE]`: views made from a report, and from a report only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click
from rich.console import Console

from conformance.cli.run import DEFAULT_REPORT
from conformance.errors import ALL_AS_DOCUMENTED, UsageError
from conformance.report.index import IndexedReport, index_report
from conformance.report.reader import STANDARD_INPUT
from conformance.report.results import told_of
from conformance.views.annotations import workflow_commands
from conformance.views.badge import badge
from conformance.views.csv_table import csv_table
from conformance.views.junit import junit
from conformance.views.markdown import markdown
from conformance.views.screen import screen
from conformance.views.terminal import console_for_logs
from conformance.whole_file import whole_file

STANDARD_OUTPUT = Path("-")
FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


def _page(report: IndexedReport) -> Iterator[str]:
    from conformance.views.html import page  # here, since only this view needs its files

    return page(report)


VIEWS: Mapping[str, Callable[[IndexedReport], Iterable[str]]] = {
    "html": _page,
    "markdown": lambda report: markdown(told_of(report), report.header),
    "junit": lambda report: junit(told_of(report)),
    "badge": lambda report: badge(told_of(report)),
    "csv": lambda report: csv_table(told_of(report)),
}


def _view_option(name: str, what: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return click.option(f"--{name}", type=FILE, metavar="FILE", help=what)


@click.command("report")
@click.argument("report", metavar="[FILE]", type=FILE, default=DEFAULT_REPORT)
@_view_option("html", "Write one page with the grid, filters and all of each case, which needs no other file.")
@_view_option("markdown", "Write a summary for a job on GitHub, or to paste.")
@_view_option("junit", "Write JUnit XML, for Jenkins, GitLab and others.")
@_view_option("csv", "Write a table, a row a result.")
@_view_option("badge", "Write what shields.io makes a badge of.")
@click.option("--annotations", is_flag=True, help="Print what is wrong as annotations of a GitHub workflow.")
@click.option("--exit-code", "as_run", is_flag=True, help="Exit as the run did; with 3 for one that was cut short.")
def report_command(
    report: Path,
    annotations: bool,  # noqa: FBT001 - click passes options so
    as_run: bool,  # noqa: FBT001
    **places: Path | None,
) -> int:
    """Show the report FILE (default: conformance-report.jsonl; -: standard input), or make views of it; run nothing.

    Any number of views is made at once, each into a FILE, or - for standard output. Without any, it is shown here.
    """
    wanted = {name: place for name, place in places.items() if place is not None}
    printed = [name for name, place in wanted.items() if place == STANDARD_OUTPUT] + ["annotations"] * annotations
    if len(printed) > 1:
        raise UsageError(f"{' and '.join(printed)} would stand on standard output together. Give one a file.")
    if report != STANDARD_INPUT and not report.exists():
        raise UsageError(f"{report}: there is no such report. Run `conformance run`, or name one.")
    with index_report(report) as indexed:
        for name, place in wanted.items():
            _write(VIEWS[name](indexed), place, f"--{name}")
        if annotations:
            _print(workflow_commands(told_of(indexed)))
        if not (wanted or annotations):
            _show(indexed)
        return told_of(indexed).exit_code if as_run else ALL_AS_DOCUMENTED


def _write(parts: Iterable[str], place: Path, option: str) -> None:
    if place == STANDARD_OUTPUT:
        _print(parts)
        return
    with whole_file(place, option) as stream:
        stream.writelines(parts)


def _print(parts: Iterable[str]) -> None:
    for part in parts:
        sys.stdout.write(part)


def _show(report: IndexedReport) -> None:
    console = console_for_logs(Console(highlight=False))
    for row in screen(told_of(report), console.width):
        console.print(row, soft_wrap=True)
