"""What was found of an adapter, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from conformance.doctor.finding import Finding, State
from conformance.views.checkup import STYLES, finding_rows


def adapter_check(findings: Sequence[Finding]) -> RenderableType:
    """Return a line for each finding, below what is wrong what mends it, and the verdict."""
    rows = [row for finding in findings for row in finding_rows(finding)]
    return Group(*rows, Text(), _verdict(findings))


def _verdict(findings: Sequence[Finding]) -> Text:
    wrong, lost = ([each.id for each in findings if each.state is state] for state in (State.BROKEN, State.LOSES))
    if wrong:
        return Text(f"This adapter is not right yet: {', '.join(wrong)}.", style=STYLES[State.BROKEN])
    but = f" Its system loses something, which a run will show: {', '.join(lost)}." if lost else ""
    return Text(f"This adapter keeps to the protocol.{but}", style=STYLES[State.OK])
