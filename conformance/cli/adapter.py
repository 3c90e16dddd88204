"""`conformance adapter check CMD...`: whether a program keeps to the adapter protocol."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console

from conformance.adapter_check import check_adapter, exit_code
from conformance.adapter_check.bodies import BODIES
from conformance.adapter_check.talks import Subject
from conformance.campaign import local_runner
from conformance.cli.options import time_scale_option
from conformance.errors import HarnessError, InterruptedRunError, UnavailableError
from conformance.process import CancelledError
from conformance.report.codec import json_text
from conformance.views.adapter_check import adapter_check
from conformance.views.terminal import console_for_logs


@click.group("adapter")
def adapter_command() -> None:
    """Help with adapters, the programs that put a system of yours under test (docs/adapters.md)."""


@adapter_command.command("check", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True, metavar="CMD...")
@click.option(
    "--dialect",
    type=click.Choice(list(BODIES)),
    default="bash",
    show_default=True,
    help="What the bodies are written in that it is asked to run.",
)
@time_scale_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check_command(command: tuple[str, ...], dialect: str, timeout_scale: float, as_json: bool) -> int:  # noqa: FBT001
    """Start the adapter CMD, talk to it and say what is wrong with its answers.

    Exit codes: 0 it keeps to the protocol (what its system loses is no fault of the adapter), 1 something is wrong,
    3 it cannot be started, or its system is not there.
    """
    try:
        with local_runner() as (runner, _), runner.open() as place:
            findings = list(check_adapter(Subject(command, dialect, place, timeout_scale), timeout_scale))
    except CancelledError as error:
        raise InterruptedRunError("interrupted while the adapter was being checked") from error
    except UnavailableError as error:
        raise HarnessError(str(error)) from error
    code = exit_code(findings)
    if as_json:
        click.echo(json_text({"findings": [asdict(finding) for finding in findings], "exit_code": code}, indent=1))
    else:
        console_for_logs(Console(highlight=False)).print(adapter_check(findings), soft_wrap=True)
    return code
