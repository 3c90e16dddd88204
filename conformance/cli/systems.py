"""`conformance systems`: install real systems that can be put under test, and tell what those that were run lose."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console, RenderableType

from conformance.cli.completion import ALL, complete_system
from conformance.cli.evidence import from_report_on_systems
from conformance.cli.options import REPORT
from conformance.cli.run import DEFAULT_REPORT
from conformance.errors import UsageError
from conformance.report.codec import json_text
from conformance.report.systems import SystemRecord, driven_routes, records_of, silent_routes
from conformance.signals import answering
from conformance.systems import InstallableSystem, find_system, system_names
from conformance.systems.installation import install
from conformance.systems.installed import is_installed, place_of
from conformance.views.systems import installable, losses, versions
from conformance.views.terminal import console_for_logs


@click.group("systems", invoke_without_command=True)
@click.option("--list", "listed", is_flag=True, help="The same as the subcommand `list`, and as none.")
@click.option("--json", "as_json", is_flag=True, help="Print that list as a JSON array.")
@click.pass_context
def systems_command(
    context: click.Context,
    listed: bool,  # noqa: FBT001 - click passes options so
    as_json: bool,  # noqa: FBT001
) -> int:
    """Install real systems that launch hooks, and tell what they lose.

    Routes of kind adapter drive them: `conformance systems install all`, then `conformance run systems`, then
    `conformance systems report`.
    """
    if context.invoked_subcommand is None:
        return _list(as_json=as_json)
    if listed or as_json:
        raise UsageError(f"--list and --json stand alone here: write them behind `{context.invoked_subcommand}`")
    return 0


@systems_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_command(as_json: bool) -> int:  # noqa: FBT001 - click passes options so
    """List the systems that can be installed: the versions of their packages, and whether they are installed."""
    return _list(as_json=as_json)


def _list(*, as_json: bool) -> int:
    systems = {name: find_system(name) for name in system_names()}
    installed = [name for name in systems if is_installed(name)]
    if as_json:
        click.echo(json_text([_system(system, installed) for system in systems.values()], indent=1))
    else:
        _print(installable(systems, installed))
    return 0


def _system(system: InstallableSystem, installed: Sequence[str]) -> Mapping[str, Any]:
    return {
        "name": system.name,
        "summary": system.summary,
        "homepage": system.homepage,
        "packages": dict(system.packages),
        "installed": system.name in installed,
    }


@systems_command.command("install")
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all", shell_complete=complete_system)
def install_command(names: tuple[str, ...]) -> int:
    """Install the systems NAME, or all of them, with npm, into the cache of this tool.

    npm fetches their packages from the registry that it is configured for, in exactly the versions that are pinned
    here by digest; no install script of theirs is run. Nothing else of the machine changes, but for npm's own cache.
    What is installed is not fetched again.
    """
    wanted = dict.fromkeys(known for name in names for known in (system_names() if name == ALL else (name,)))
    for system in [find_system(name) for name in wanted]:
        if is_installed(system.name):
            click.echo(f"{system.name} is installed.")
            continue
        with place_of(system.name) as place:
            click.echo(
                f"{system.name}: npm fetches {versions(system)} and what that needs from the registry that it is "
                f"configured for, runs no install scripts, and puts all into systems/{place.name} in your cache."
            )
        with answering(signal.default_int_handler):
            install(system)
        click.echo(f"{system.name} is installed.")
    return 0


@systems_command.command("report")
@click.option(
    "--report",
    type=REPORT,
    default=DEFAULT_REPORT,
    show_default=True,
    metavar="FILE",
    help="The report of a run of systems; - is standard input.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report_command(report: Path, as_json: bool) -> int:  # noqa: FBT001 - click passes options so
    """Say of each system in a report what its users lose: a line each, the one that does the worst first.

    From a failure that is reported as success, over an outcome that nobody tells, a hang, another code, a success that
    is reported as a failure and a hook that is not started, to damage of streams alone. Nothing is run.
    """
    evidence = from_report_on_systems(report)
    driven, silent = driven_routes(evidence.lines), silent_routes(evidence.lines)
    records = records_of(line for line in evidence.lines if line["route"] in driven)
    if as_json:
        whole = {
            "systems": [_record(record) for record in records],
            "nothing_known": [
                {"result": result, "reason": reason, "routes": list(routes)}
                for (result, reason), routes in silent.items()
            ],
            "cut_short": evidence.cut_short,
        }
        click.echo(json_text(whole, indent=1))
    else:
        _print(losses(records, silent, evidence.cut_short))
    return 0


def _record(record: SystemRecord) -> Mapping[str, Any]:
    return {
        "route": record.route,
        "systems": list(record.systems),
        "basis": list(record.bases),
        "environments": list(record.environments),
        "judged": record.judged,
        "lost": record.lost,
        "losses": [
            {"harm": str(loss.harm), "what": loss.what, "url": loss.url, "fixtures": list(loss.fixtures)}
            for loss in record.losses
        ],
        "not_judged": [
            {"result": result, "reason": reason, "fixtures": list(fixtures)}
            for (result, reason), fixtures in record.not_judged.items()
        ],
    }


def _print(rows: RenderableType) -> None:
    console_for_logs(Console(highlight=False)).print(rows, soft_wrap=True)
