"""`conformance explain ID`: run one case and tell everything that a bug report needs."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.campaign import local_runner
from conformance.cli.options import case_options, load_case
from conformance.engine import Engine
from conformance.errors import InterruptedRunError
from conformance.explanation import explain
from conformance.process import CancelledError
from conformance.report.codec import json_text, result_line
from conformance.report.findings import exit_code, missing_shells
from conformance.runners.recording import RecordingPlace
from conformance.views.document import as_markdown, as_text
from conformance.views.explanation import sections


@click.command("explain")
@case_options
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown that can be pasted into an issue.")
def explain_command(
    id_: str, matrices: tuple[str, ...], route_files: tuple[Path, ...], timeout_scale: float, form: str | None
) -> int:
    """Run the case ID and say what was launched, what came of it, which rule decided, and what other routes give.

    Exits as `run` does after that one case.
    """
    catalog, case = load_case(id_, matrices, route_files)
    with local_runner() as (runner, _), runner.open() as place:
        recording = RecordingPlace(place)
        try:
            result = Engine(catalog, runner, recording, timeout_scale).execute(case)
        except CancelledError as error:
            raise InterruptedRunError(f"interrupted while {case.id} ran") from error
        explanation = explain(catalog, case, runner, result, recording.records)
    if form == "json":
        click.echo(json_text(explanation, indent=1))
    else:
        lay_out = as_markdown if form == "markdown" else as_text
        click.echo(lay_out(sections(explanation)).rstrip("\n"))
    line = result_line(result)
    return exit_code([line], [], missing_shells([line], catalog))
