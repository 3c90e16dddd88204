"""What the checks of a machine found, for a terminal or a log: the verdict last, where a reader looks first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.doctor.finding import Finding, State
from conformance.views.text import printable

STYLES = {
    State.OK: "green",
    State.LOSES: "yellow",
    State.WARNING: "bold yellow",
    State.NOT_TRIED: "dim",
    State.DIFFERS: "bold magenta",
    State.BROKEN: "bold red",
}
_LOUD = (State.DIFFERS, State.BROKEN)


def checkup(findings: Sequence[Finding]) -> RenderableType:
    """Return a row for each finding, and below what is wrong why it matters and what mends it."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for finding in findings:
        word = finding.state.upper() if finding.state in _LOUD else str(finding.state)
        rows.add_row(Text(word, style=STYLES[finding.state]), Text(finding.id), _explained(finding))
    return Group(rows, Text(), *(Text(sentence, style=style) for sentence, style in verdict(findings)))


def _explained(finding: Finding) -> RenderableType:
    lines: list[RenderableType] = [Text(printable(finding.found))]
    if finding.why:
        lines.append(Text(f"why:  {printable(finding.why)}"))
    if finding.mend:
        lines.append(Text(f"mend: {printable(finding.mend)}", style="bold"))
    return Group(*lines) if len(lines) > 1 else Padding(lines[0], 0)


def verdict(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Return what all of it comes to, sentence by sentence, each with its style."""
    by_state = {state: [finding.id for finding in findings if finding.state is state] for state in State}
    broken, differs, loses = (by_state[state] for state in (State.BROKEN, State.DIFFERS, State.LOSES))
    sentences = []
    if any(id_.startswith("harness/") for id_ in broken):
        sentences.append(("This machine, or conformance, is broken: no result from here counts.", STYLES[State.BROKEN]))
    elif broken:
        sentences.append(
            (f"Broken here: {', '.join(broken)}. No result that rests on it counts.", STYLES[State.BROKEN])
        )
    else:
        sentences.append(("This machine is in order: results from here count.", STYLES[State.OK]))
    if differs:
        text = f"Not as documented: {', '.join(differs)}. Please report what the command beside it shows."
        sentences.append((text, STYLES[State.DIFFERS]))
    if loses:
        names = ", ".join(id_.removeprefix("route/") for id_ in loses)
        text = f"These routes lose what is documented of them, which is no fault of this machine: {names}."
        sentences.append((text, STYLES[State.LOSES]))
    return sentences
