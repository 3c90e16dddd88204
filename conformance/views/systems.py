"""The systems that can be installed, and what those that were run lose, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from conformance.report.harm import Harm
from conformance.report.systems import SystemRecord
from conformance.systems import InstallableSystem
from conformance.views.text import printable

HEADING = ("lost", "judged", "basis", "route", "system: what its users lose at worst")


def installable(systems: Mapping[str, InstallableSystem], installed: Sequence[str]) -> RenderableType:
    """Return what can be installed: which packages in which versions, and whether they are there."""
    width = max(map(len, systems))
    return Group(*(row for system in systems.values() for row in _installable(system, installed, width)))


def _installable(system: InstallableSystem, installed: Sequence[str], width: int) -> Iterator[Text]:
    there = system.name in installed
    state = ("installed", "green") if there else ("not installed", "dim")
    yield Text.assemble((f"{system.name:<{width}}  ", "bold"), state)
    yield Text(f"  {system.summary}")
    yield Text(f"  {system.homepage}")
    yield Text(f"  {versions(system)}")


def versions(system: InstallableSystem) -> str:
    """Return the packages of `system` with their versions."""
    return ", ".join(f"{package} {version}" for package, version in system.packages.items())


def losses(
    records: Sequence[SystemRecord], silent: Mapping[tuple[str, str], Sequence[str]], cut_short: str
) -> RenderableType:
    """Return a line for each system, as they stand in `records`, and of which routes nothing is known.

    `cut_short` says what is missing of the report, if anything is.
    """
    cells = [
        (str(record.lost), str(record.judged), "/".join(record.bases), printable(record.route)) for record in records
    ]
    widths = [max(map(len, column)) for column in zip(HEADING, *cells, strict=False)]
    rows = [Text(_columns(HEADING[:4], widths) + HEADING[4], style="bold")]
    for record, row in zip(records, cells, strict=True):
        rows.append(Text.assemble(_columns(row, widths), _told(record), (_not_judged(record), "dim")))
    for (result, reason), routes in silent.items():
        rows += [Text(), Text(f"nothing is known of {', '.join(routes)}: {result}: {printable(reason)}", style="dim")]
    if cut_short:
        rows += [Text(), Text(printable(cut_short), style="bold red")]
    return Group(*rows)


def _columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    lost, judged, basis, route = cells
    return f"{lost:>{widths[0]}}  {judged:>{widths[1]}}  {basis:<{widths[2]}}  {route:<{widths[3]}}  "


def _told(record: SystemRecord) -> Text:
    name = printable(", ".join(record.systems))
    if record.losses:
        worst = record.losses[0]
        style = "bold red" if worst.harm is Harm.FAILURE_AS_SUCCESS else "yellow"
        return Text.assemble(f"{name}: ", (printable(worst.what), style))
    return Text(
        f"{name}: nothing" if record.judged else f"{name}: not known", style="green" if record.judged else "dim"
    )


def _not_judged(record: SystemRecord) -> str:
    if not record.not_judged:
        return ""
    groups = (f"{result} {len(ids)}: {printable(reason)}" for (result, reason), ids in record.not_judged.items())
    return f" [{'; '.join(groups)}]"
