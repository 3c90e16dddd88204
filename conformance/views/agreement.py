"""Where routes differ, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from conformance.report.agreement import Comparison, Difference, Ground
from conformance.views.terminal import STYLES, TEXT_NOTE
from conformance.views.text import printable

GROUNDS = {
    "pass": "as the contract has it",
    "fixed": "as the contract has it, against what is documented",
    "deviates": "documented",
    "fail": "not documented",
}
"""What the results of cases mean for the one who compares routes."""


def agreement(routes: Sequence[str], comparison: Comparison, cut_short: str) -> RenderableType:
    """Return what came of comparing `routes`; `cut_short` says what is missing, if anything is."""
    total = len(comparison.compared)
    differing = sum(len(difference.fixtures) for difference in comparison.differences)
    names = f"{', '.join(routes[:-1])} and {routes[-1]}"
    rows = [row for difference in comparison.differences for row in _difference(difference)]
    if not total:
        verdict = Text("Nothing was compared.", style=STYLES["error"])
    elif differing:
        verdict = Text(f"{names} differ in {differing} of {_fixtures(total)}:", style="bold red")
    else:
        verdict = Text(f"{names} do the same: {_fixtures(total)} compared.", style="bold green")
    for reason, ids in comparison.left_out.items():
        rows += [Text(), Text(f"not compared: {printable(reason)}:\n  {', '.join(ids)} ({len(ids)})")]
    if comparison.on_text:
        rows += [Text(), Text(f"{', '.join(comparison.on_text)}: {TEXT_NOTE}")]
    if cut_short:
        rows += [Text(), Text(printable(cut_short), style="bold red")]
    return Group(verdict, *rows)


def _fixtures(count: int) -> str:
    return f"{count} fixture{'' if count == 1 else 's'}"


def _difference(difference: Difference) -> Iterator[Text]:
    count = len(difference.fixtures)
    yield Text(f"\n{_fixtures(count)}: {', '.join(map(printable, difference.fixtures))}", style="bold")
    width = max(len(side.route) for side in difference.sides)
    for side in difference.sides:
        yield Text(f"  {side.route:<{width}}  {printable(side.did)}")
        for ground in side.grounds:
            yield Text(f"  {'':<{width}}    {_ground(ground, count)}", style=STYLES[ground.result])


def _ground(ground: Ground, count: int) -> str:
    meaning = GROUNDS[ground.result]
    if ground.result == "fail" and ground.reason:
        meaning = "not as documented"
    some = f" in {len(ground.fixtures)}" if len(ground.fixtures) < count else ""
    return f"{meaning}{some}" + (f": {printable(ground.reason)} ({printable(ground.url)})" if ground.reason else "")
