"""`conformance baseline update`: what is documented of routes of one's own, brought up to date from reports."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from conformance.baseline.changes import named
from conformance.baseline.document import Document, write_baseline
from conformance.baseline.evidence import evidence_in, route_in
from conformance.baseline.place import baseline_of, update_command
from conformance.baseline.revision import Revision
from conformance.baseline.slots import Grounds, Slot
from conformance.catalog import Catalog, check_catalog, display_name, read_catalog
from conformance.cli.completion import complete_matrix
from conformance.cli.options import REPORT
from conformance.errors import ALL_AS_DOCUMENTED, SOMETHING_DIFFERS, UsageError
from conformance.model import Matrix
from conformance.paths import data_folder
from conformance.report.reader import open_report
from conformance.selection import DEFAULT_MATRIX
from conformance.views.baseline import told
from conformance.views.text import printable

_URL = re.compile(r"https?://\S+")


@click.group("baseline")
def baseline_command() -> None:
    """Keep what is known to go wrong in routes of yours beside them, in NAME.baseline.toml."""


def _reason(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    return "" if value is None else _checked_reason(value)


def _checked_reason(value: str) -> str:
    if not value.strip():
        raise click.BadParameter("a text that is not empty is expected: why does it happen?")
    return value


def _url(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    return "" if value is None else _checked_url(value)


def _checked_url(value: str) -> str:
    if not _URL.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no http or https address.")
    return value


@baseline_command.command("update")
@click.option(
    "--route",
    "route_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="The TOML file with your routes.",
)
@click.option(
    "--matrix",
    "matrices",
    multiple=True,
    shell_complete=complete_matrix,
    help="What the routes were run with, as in `run MATRIX --route FILE`; may be repeated.  [default: core]",
)
@click.option("--reason", metavar="TEXT", callback=_reason, help="Why that happens of which no reason is known yet.")
@click.option("--url", metavar="URL", callback=_url, help="Where that is reported or documented.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.argument("reports", nargs=-1, type=REPORT)
def update_baseline_command(
    route_file: Path,
    matrices: tuple[str, ...],
    reason: str,
    url: str,
    dry_run: bool,  # noqa: FBT001 - click passes options so
    reports: tuple[Path, ...],
) -> int:
    """Make the baseline of FILE say what REPORT... show of its routes: reports of one environment, or of several.

    What fails is documented exactly, what no longer happens is taken out, and what reports of one environment disagree
    about is documented as flaky. Without a report only entries that match nothing are taken out. Exits 1 where a case
    is left as it was.
    """
    own = _own(route_file, matrices)
    evidence = evidence_in(_lines(reports, own), own.catalog, [route.id for route in own.matrix.routes])
    revision = Revision(own.catalog, evidence, Grounds(own.name, reason, url))
    revision.revise(own.matrix.baseline)
    before = [slot.now for slot in revision.slots if slot.old is not None]
    if not reports and before == list(own.matrix.baseline):
        raise UsageError(f"every entry of {own.name} matches something: name the reports to bring it up to date from.")
    if not dry_run:
        _ask_for_grounds(revision.slots, update_command(own.shown, *_again(matrices, reports)))
        _write(own, revision.slots)
    for line in told(revision, own.name + (" (not written)" if dry_run else ""), own.shown):
        click.echo(printable(line))
    return SOMETHING_DIFFERS if revision.left or evidence.refused else ALL_AS_DOCUMENTED


@dataclass(frozen=True)
class _Own:
    """The route file, its baseline, and all that its routes are run with."""

    matrix: Matrix
    shown: str
    path: Path
    """That of the baseline."""
    name: str
    """What messages call it."""
    catalog: Catalog
    """All but the baseline."""


def _own(route_file: Path, matrices: Sequence[str]) -> _Own:
    shown, path = display_name(route_file), baseline_of(route_file)
    if route_file.suffix != ".toml" or route_file.resolve().parent == data_folder("matrices"):
        raise UsageError(f"{shown}: only a TOML file of yours has a baseline. Put your routes into one.")
    loaded = read_catalog(matrices or (DEFAULT_MATRIX,), [route_file])
    matrix = next(matrix for matrix in loaded.matrices if matrix.origin.file == shown)
    if not matrix.routes:
        raise UsageError(f"{matrix.origin}: holds no [[route]], so there is nothing to document. Add one.")
    rest = tuple(replace(other, baseline=()) if other is matrix else other for other in loaded.matrices)
    catalog = replace(loaded, matrices=rest)
    check_catalog(catalog)
    return _Own(matrix, shown, path, display_name(path), catalog)


def _lines(reports: Sequence[Path], own: _Own) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    routes, former = [route.id for route in own.matrix.routes], own.catalog.former_ids
    for path in reports:
        with open_report(path) as report:
            lines = [stored.value for stored in report if route_in(stored.value, former) in routes]
            if not lines:
                known = ", ".join(routes)
                raise UsageError(f"{report.name}: has no result of a route of {own.shown}. Its routes are {known}.")
            yield report.name, lines


def _again(matrices: Sequence[str], reports: Sequence[Path]) -> list[str]:
    return [word for matrix in matrices for word in ("--matrix", matrix)] + list(map(str, reports))


def _ask_for_grounds(slots: Sequence[Slot], command: str) -> None:
    """Ask on the terminal for the reasons of new entries.

    Raises UsageError where there is none to ask on.
    """
    lacking = [slot for slot in slots if slot.now is not None and not (slot.now.reason and slot.now.url)]
    if lacking and not sys.stdin.isatty():
        entries = "".join(f"\n  {named(slot.now)}" for slot in lacking if slot.now)
        raise UsageError(
            "nothing is written, since these need a reason and a URL. Start it on a terminal, which is asked, or say "
            f"`{command} --reason TEXT --url URL`:{entries}"
        )
    for slot in lacking:
        assert slot.now is not None, "it lacks something"
        click.echo(printable(named(slot.now)), err=True)
        reason = slot.now.reason or click.prompt("  reason", err=True, value_proc=_checked_reason)
        url = slot.now.url or click.prompt("  URL of a report or document", err=True, value_proc=_checked_url)
        slot.now = replace(slot.now, reason=reason, url=url)


def _write(own: _Own, slots: Sequence[Slot]) -> None:
    if all(slot.now == slot.old for slot in slots):
        return
    text = own.path.read_bytes().decode() if own.matrix.baseline or own.path.exists() else ""
    revised = Document(text, own.matrix.baseline, own.name).with_slots(slots)
    write_baseline(own.path, revised, [slot.now for slot in slots if slot.now is not None], own.name)
