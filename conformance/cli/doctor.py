"""`conformance doctor`: whether this machine can be trusted to give results, and what mends it."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console

import conformance
from conformance.cli.options import pace_options
from conformance.doctor.checkup import examine
from conformance.doctor.finding import exit_code
from conformance.report.codec import json_text
from conformance.views.checkup import checkup, verdict
from conformance.views.terminal import console_for_logs


@click.command("doctor")
@pace_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor_command(jobs: int, timeout_scale: float, as_json: bool) -> int:  # noqa: FBT001 - click passes options so
    """Examine this machine: its shells, what may spoil results, and a short smoke test.

    Tells a broken machine (exit code 3) from a route that loses what is documented of it (0), and from a result that
    nothing documents (1).
    """
    findings = examine(jobs, timeout_scale)
    code = exit_code(findings)
    if as_json:
        whole = {
            "tool": {"name": "shell-exit-conformance", "version": conformance.__version__},
            "findings": [asdict(finding) for finding in findings],
            "verdict": [sentence for sentence, _ in verdict(findings)],
            "exit_code": code,
        }
        click.echo(json_text(whole, indent=1))
    else:
        console_for_logs(Console(highlight=False)).print(checkup(findings), soft_wrap=True)
    return code
