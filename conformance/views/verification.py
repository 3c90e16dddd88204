"""Which cases come out the same each time, for a terminal or a log, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from conformance.verification import Seen, Surroundings, Verdict, VerdictKind
from conformance.views.outcome import as_json as outcome_as_json
from conformance.views.outcome import in_words
from conformance.views.text import printable

STYLES = {VerdictKind.FLAKY: "bold red", VerdictKind.STABLE: "green", VerdictKind.NOTHING_KNOWN: "dim"}
WIDTH = max(map(len, VerdictKind)) + 2


def verification(verdicts: Sequence[Verdict], cut_short: str) -> RenderableType:
    """Return the verdicts, what is flaky first; `cut_short` says what is missing, if anything is."""
    rows = [row for verdict in verdicts for row in _rows(verdict)]
    counts = Counter(verdict.kind for verdict in verdicts)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in VerdictKind if counts[kind])
    near = sum(verdict.near_deadline for verdict in verdicts)
    total = f"{len(verdicts)} case{'' if len(verdicts) == 1 else 's'}: {told}" + (
        f", {near} near the deadline" if near else ""
    )
    rows += [Text(), Text(total)] if verdicts else []
    if cut_short:
        rows.append(Text(cut_short, style="bold red"))
    return Group(*rows)


def _rows(verdict: Verdict) -> Iterator[Text]:
    first = verdict.seen[0]
    runs = f"{verdict.total} run{'' if verdict.total == 1 else 's'}"
    said = "" if verdict.kind is VerdictKind.FLAKY else f": {_words(first)} ({runs})"
    yield _row(verdict.kind, f"{printable(verdict.id)} on {printable(verdict.environment)}{said}", STYLES[verdict.kind])
    if verdict.kind is VerdictKind.FLAKY:
        for surroundings in Surroundings:
            for seen in verdict.seen:
                if seen.times.get(surroundings):
                    count = f"{seen.times[surroundings]} of {verdict.runs(surroundings)} {surroundings}"
                    yield _row("", f"{count}: {_words(seen)}")
    if verdict.near_deadline:
        took = f"the longest run took {verdict.longest:.1f} of {verdict.deadline:g} seconds"
        yield _row("", f"near its deadline: {took}", "yellow")


def _row(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"{name:<{WIDTH}}", style), text)


def _words(seen: Seen) -> str:
    return printable(in_words(seen.outcome, seen.line)).replace("\n", " ")


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """Return `verdict` as a JSON value."""
    return {
        "id": verdict.id,
        "environment": verdict.environment,
        "verdict": str(verdict.kind),
        "runs": {_key(surroundings): verdict.runs(surroundings) for surroundings in Surroundings},
        "outcomes": [
            {
                "times": {_key(surroundings): seen.times.get(surroundings, 0) for surroundings in Surroundings},
                **outcome_as_json(seen.outcome, seen.line),
            }
            for seen in verdict.seen
        ],
        "longest_seconds": verdict.longest,
        "deadline_seconds": verdict.deadline,
        "near_deadline": verdict.near_deadline,
    }


def _key(surroundings: Surroundings) -> str:
    return surroundings.replace(" ", "_")
