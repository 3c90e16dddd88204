"""`conformance cite ID`: a Markdown block on one result, for a bug report."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from conformance.campaign import Plan, perform
from conformance.catalog import Catalog, load_catalog, matrix_names
from conformance.cli.evidence import report_option
from conformance.cli.former import todays
from conformance.cli.options import case_options, load_case
from conformance.cli.suite import suite_of
from conformance.engine import terms_of
from conformance.errors import InterruptedRunError, UsageError
from conformance.model import Case, EnvironmentKey
from conformance.report.reader import ReportFile, open_report
from conformance.report.writer import ReportWriter
from conformance.repro.languages import language_on, script_of
from conformance.runners.local import public_path
from conformance.views.citation import citation
from conformance.views.document import Script, Sentences, as_markdown

Line = Mapping[str, Any]


@click.command("cite")
@case_options
@report_option
def cite_command(
    id_: str,
    matrices: tuple[str, ...],
    route_files: tuple[Path, ...],
    timeout_scale: float,
    report: Path | None,
    environments: tuple[str, ...],
) -> int:
    """Print a Markdown block on the case ID for a bug report: what is expected, what came, where, by which rule.

    It holds a script that shows the same with the case's shells alone. Without --report the case is run now.
    """
    if report is None:
        catalog, case = load_case(id_, matrices, route_files)
        header, line = _run(catalog, case, timeout_scale)
        reproduction = _script(catalog, case, line, timeout_scale)
    else:
        header, line = _reported(report, id_, environments)
        reproduction = _script_for(header, line, route_files, timeout_scale)
    click.echo(as_markdown(citation(header, line, reproduction)), nl=False)
    return 0


def _run(catalog: Catalog, case: Case, time_scale: float) -> tuple[Line, Line]:
    writer = ReportWriter(io.StringIO(), "in memory")
    outcome = perform(Plan(catalog, (case,), 1, time_scale), writer, lambda line: None)
    if not outcome.lines:
        raise InterruptedRunError(f"interrupted while {case.id} ran")
    return writer.lines[0], outcome.lines[0]


def _reported(path: Path, id_: str, environments: Sequence[str]) -> tuple[Line, Line]:
    """Return the header and the result that the report at `path` has of the case `id_`.

    Raises UsageError where it has none, or several of which none was chosen.
    """
    with open_report(path) as report:
        found = _results_of(report, id_, environments)
        if not found:
            id_ = todays(id_, load_catalog(matrix_names()).former_ids.case)
            found = _results_of(report, id_, environments)
        if not found:
            on = f" on {' or '.join(environments)}" if environments else ""
            raise UsageError(f"{report.name}: has no result of the case {id_!r}{on}. Give an id that it has.")
        if len(found) > 1:
            raise UsageError(
                f"{report.name}: has results of {id_} on {', '.join(sorted(found))}. Choose one with --environment."
            )
        return report.header, next(iter(found.values()))


def _results_of(report: ReportFile, id_: str, environments: Sequence[str]) -> dict[str, Line]:
    return {
        stored.value["environment"]: stored.value
        for stored in report
        if stored.value["id"] == id_ and (not environments or stored.value["environment"] in environments)
    }


def _script_for(header: Line, line: Line, route_files: Sequence[Path], time_scale: float) -> Script | Sentences:
    """Return the script for a result of a report: made of the catalogue, never of what a report says."""
    try:
        catalog = suite_of(header, route_files)
    except UsageError as error:
        return Sentences(f"No script: {error}.")
    case = next((case for case in catalog.cases() if case.id == line["id"]), None)
    if case is None:
        return Sentences("No script: the suite has no such case.")
    return _script(catalog, case, line, time_scale)


def _script(catalog: Catalog, case: Case, line: Line, time_scale: float) -> Script | Sentences:
    key = EnvironmentKey.parse(line["environment"])
    language = language_on(key.os)
    try:
        text = script_of(case, terms_of(catalog, case, key), key, time_scale, language)
    except UsageError as error:
        return Sentences(f"No script: {error} `conformance explain {case.id}` shows it.")
    if public_path(text) != text:
        return Sentences(f"No script: {case.route.id} starts what lies in a private folder, which no reader has.")
    return Script(f"A script that shows it without this harness ({language})", language, text)
