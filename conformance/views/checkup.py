"""What the checks of a machine found, for a terminal or a log; the verdict comes last, where a reader looks first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
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
LOUD = (State.DIFFERS, State.BROKEN)
FOLDED = ("harness", "smoke", "route")
"""Groups of which those that are in order are only named, so that all fits a screen."""
WORD_WIDTH = max(len(state) for state in State) + 1


def checkup(findings: Sequence[Finding]) -> RenderableType:
    """Return a line for each finding, below what is wrong why it matters and what mends it, and the verdict.

    No line is broken, so that a command can be copied.
    """
    rows = [row for finding in _folded(findings) for row in finding_rows(finding)]
    return Group(*rows, Text(), *(Text(sentence, style=style) for sentence, style in verdict(findings)))


def _folded(findings: Sequence[Finding]) -> Iterator[Finding]:
    def kind(finding: Finding) -> tuple[str, State, str]:
        reason = "" if finding.state is State.OK else finding.found
        return finding.id.partition("/")[0], finding.state, reason

    for (group, state, reason), together in groupby(findings, kind):
        if group in FOLDED and state in (State.OK, State.NOT_TRIED):
            names = ", ".join(finding.id.partition("/")[2] for finding in together)
            yield Finding(group, state, f"{names} ({reason})" if reason else names)
        else:
            yield from together


def finding_rows(finding: Finding) -> Iterator[Text]:
    """Yield the line of `finding`, and below it why it matters and what mends it."""
    word = finding.state.upper() if finding.state in LOUD else str(finding.state)
    yield Text.assemble((word.ljust(WORD_WIDTH), STYLES[finding.state]), f"{finding.id}: {printable(finding.found)}")
    if finding.why:
        yield Text(f"{' ' * WORD_WIDTH}  why: {printable(finding.why)}")
    if finding.mend:
        yield Text.assemble(f"{' ' * WORD_WIDTH} mend: ", (printable(finding.mend), "bold"))


def verdict(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Return what all of it comes to, sentence by sentence, each with its style."""
    broken, warned, differs, loses = (
        [finding.id for finding in findings if finding.state is state]
        for state in (State.BROKEN, State.WARNING, State.DIFFERS, State.LOSES)
    )
    but = f", but for the warnings on {', '.join(warned)}" if warned else ""
    sentences = [(f"This machine is in order: results from here count{but}.", STYLES[State.OK])]
    if any(id_.startswith("harness/") for id_ in broken):
        sentences = [("This machine, or conformance, is broken: no result from here counts.", STYLES[State.BROKEN])]
    elif broken:
        text = f"Broken or missing here: {', '.join(broken)}. No result that rests on it counts."
        sentences = [(text, STYLES[State.BROKEN])]
    if differs:
        text = f"Not as documented: {', '.join(differs)}. Please report what the command beside it shows."
        sentences.append((text, STYLES[State.DIFFERS]))
    if loses:
        names = ", ".join(id_.removeprefix("route/") for id_ in loses)
        text = f"These routes lose what is documented of them, which is no fault of this machine: {names}."
        sentences.append((text, STYLES[State.LOSES]))
    return sentences
