"""`conformance diff OLD NEW`: what changed between two reports, case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import click

from conformance.cli.options import REPORT
from conformance.errors import ALL_AS_DOCUMENTED, SOMETHING_DIFFERS, NothingSelectedError, UsageError
from conformance.model import EnvironmentKey
from conformance.report.changes import ChangeKind, Changes
from conformance.report.index import temporary_database
from conformance.report.pairing import GroundMap, Pairing
from conformance.report.reader import ReportFile, open_report
from conformance.runners.local import public_path
from conformance.views.changes import Comparison, as_json, as_markdown, as_text

FORMS: Mapping[str | None, Callable[[Comparison], Iterable[str]]] = {
    None: as_text,
    "json": as_json,
    "markdown": as_markdown,
}


def _ground_map(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[GroundMap, ...]:
    try:
        return tuple(map(GroundMap.parse, values))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _route_map(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.split("=") for value in values]
    for value, pair in zip(values, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            raise click.BadParameter(f"{value!r} is no map of routes: expected OLD=NEW, such as pwsh-file=pwsh-command")
    return dict(pairs)


@click.command("diff")
@click.argument("old", metavar="OLD", type=REPORT)
@click.argument("new", metavar="NEW", type=REPORT)
@click.option(
    "--map",
    "grounds",
    multiple=True,
    metavar="OLD=NEW",
    callback=_ground_map,
    help="Compare two shells on purpose ('pwsh 7.4=pwsh 7.6'), or two systems (linux-x86_64=macos-arm64).",
)
@click.option(
    "--map-route",
    "routes",
    multiple=True,
    metavar="OLD=NEW",
    callback=_route_map,
    help="Compare a route with another one, and nothing else; may be repeated.",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice([str(kind) for kind in ChangeKind if kind is not ChangeKind.REGRESSED]),
    help="Exit with 1 for these changes as well as for regressions; may be repeated.",
)
@click.option("--allow-incomplete", is_flag=True, help="Compare what a report that was cut short has.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown that is short enough for a comment.")
def diff_command(
    old: Path,
    new: Path,
    grounds: tuple[GroundMap, ...],
    routes: dict[str, str],
    fail_on: tuple[str, ...],
    allow_incomplete: bool,  # noqa: FBT001 - click passes options so
    form: str | None,
) -> int:
    """Show which cases came out in NEW otherwise than in OLD, in the same environment, and how.

    Exits with 1 where something regressed, with 4 where the reports have nothing in common, and else with 0.
    """
    with ExitStack() as stack:
        older, newer = (stack.enter_context(open_report(path)) for path in (old, new))
        changes = Changes(
            older, newer, Pairing.of(newer.header, grounds, routes), stack.enter_context(temporary_database())
        )
        cut_short = [report for report in (older, newer) if not report.complete]
        if cut_short and not allow_incomplete:
            raise UsageError(
                f"{cut_short[0].name}: is incomplete, so what it lacks may have changed or not. "
                "Run it again, or pass --allow-incomplete to compare what it has."
            )
        if not changes.compared:
            hints = " ".join(_hints(changes)) or "Give two reports of the same matrix."
            raise NothingSelectedError(f"{older.name} and {newer.name} have no case in the same environment. {hints}")
        failing = {ChangeKind.REGRESSED, *fail_on} & changes.counts.keys()
        code = SOMETHING_DIFFERS if failing else ALL_AS_DOCUMENTED
        lacking = (f"{public_path(report.name)} is incomplete" for report in cut_short)
        notes = tuple(chain(_suites(older, newer), lacking, _hints(changes)))
        compared = Comparison(public_path(older.name), public_path(newer.name), changes, notes, code)
        for part in FORMS[form](compared):
            click.echo(part, nl=False)
    return code


def _suites(old: ReportFile, new: ReportFile) -> Iterator[str]:
    if old.header["suite"]["digest"] != new.header["suite"]["digest"]:
        yield "the suites differ, so fixtures or what is expected of them may have changed as well"
    versions = [report.header["tool"]["version"] for report in (old, new)]
    if versions[0] != versions[1]:
        yield f"the reports were written by conformance {versions[0]} and {versions[1]}"


def _hints(changes: Changes) -> Iterator[str]:
    """Say which shells one of the reports has in other versions only, so that their cases were not compared."""
    removed, added = (
        [EnvironmentKey.parse(name) for name in changes.environments(kind)]
        for kind in (ChangeKind.REMOVED, ChangeKind.ADDED)
    )
    for old in removed:
        for new in added:
            if (old.shell, old.os, old.runner) == (new.shell, new.os, new.runner) and old.version != new.version:
                yield (
                    f"{old.shell} is {old.version} in one report and {new.version} in the other: "
                    f"compare them with --map '{old.shell} {old.version}={new.shell} {new.version}'."
                )
