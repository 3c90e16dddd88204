"""`conformance report [FILE]`: views of a report, made from it and from nothing else."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click
from rich.console import Console

from conformance.cli.options import REPORT
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

View = Callable[[IndexedReport], Iterable[str]]


def _page(report: IndexedReport) -> Iterable[str]:
    from conformance.views.html import page  # here, since only this view needs its files

    return page(report)


VIEWS: Mapping[str, tuple[View, str]] = {
    "html": (_page, "Write one page without any other file: the grid, filters and all of each case."),
    "markdown": (markdown, "Write Markdown for a job's summary or a comment."),
    "junit": (junit, "Write JUnit XML for a CI system."),
    "badge": (badge, "Write the JSON of a badge for shields.io."),
    "csv": (csv_table, "Write a table, a row for each result."),
}
"""The views that are files, by the option that asks for them."""


def _view_options(command: Callable[..., int]) -> Callable[..., int]:
    for name, (_, help_text) in reversed(list(VIEWS.items())):
        path = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
        command = click.option(f"--{name}", type=path, metavar="FILE", help=help_text)(command)
    return command


@click.command("report")
@click.argument("report", metavar="[FILE]", default=DEFAULT_REPORT, type=REPORT)
@_view_options
@click.option("--annotations", "annotated", is_flag=True, help="Print annotations for GitHub's log.")
@click.option("--exit-code", "as_the_run", is_flag=True, help="Exit as the run did; with 3 where it was cut short.")
def report_command(
    report: Path,
    annotated: bool,  # noqa: FBT001 - click passes options so
    as_the_run: bool,  # noqa: FBT001
    **files: Path | None,
) -> int:
    """Show the report FILE (default: conformance-report.jsonl, - is standard input): what is wrong, the grid, counts.

    With options it writes views instead, as many as are asked for; a FILE of theirs may be -, standard output. It exits
    with 0 where they were made, whatever the report says. Nothing is run.
    """
    wanted = {name: path for name, path in files.items() if path is not None}
    if [*wanted.values(), *([STANDARD_OUTPUT] if annotated else [])].count(STANDARD_OUTPUT) > 1:
        raise UsageError("only one view can be standard output (-). Give the others the name of a file.")
    if report != STANDARD_INPUT and not report.exists():
        raise UsageError(f"{report}: there is no such report. Run `conformance run`, or name the file of one.")
    with index_report(report) as indexed:
        for name, path in wanted.items():
            _write(VIEWS[name][0](indexed), path, f"--{name}")
        if annotated:
            _print(workflow_commands(indexed))
        elif not wanted:
            _show(indexed)
        return told_of(indexed).exit_code if as_the_run else ALL_AS_DOCUMENTED


def _write(parts: Iterable[str], path: Path, option: str) -> None:
    if path == STANDARD_OUTPUT:
        _print(parts)
        return
    with whole_file(path, option) as stream:
        stream.writelines(parts)


def _print(parts: Iterable[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(newline="")  # the line breaks of a view are its own, on Windows as well
    for part in parts:
        click.echo(part, nl=False)


def _show(report: IndexedReport) -> None:
    console = console_for_logs(Console(highlight=False))
    for row in screen(told_of(report), console.width):
        console.print(row, soft_wrap=True)
