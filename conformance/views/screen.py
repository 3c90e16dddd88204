"""A run or a report on a terminal or in a log: what is wrong first, then the grid, then the counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text

from conformance.report.results import Results, Told
from conformance.views.grid import grid
from conformance.views.terminal import (
    MEANINGS,
    ON_TEXT,
    PROVISIONAL_MEANING,
    PROVISIONAL_NOTE,
    STYLES,
    TEXT_NOTE,
    WORDS,
)
from conformance.views.text import printable, shortened
from conformance.views.verdict import verdict

Line = Mapping[str, Any]

REASON_CHARACTERS = 4000
"""The hexdumps of two streams take half of that."""
REASONS_SHOWN = 100
"""How many different reasons are shown for cases that were not run."""


def screen(told: Told, width: int) -> Iterator[Text]:
    """Yield the lines on `told` for a console of `width` characters."""
    found = verdict(told)
    yield Text(printable(found.sentence), style="bold green" if found.is_good else "bold red")
    yield from wrong(told.results, told.findings)
    yield Text()
    yield from grid(told.results, width)
    yield from counts(told.results)


def wrong(results: Results, findings: Iterable[str]) -> Iterator[Text]:
    """Yield what needs attention, each with its reason."""
    for finding in findings:
        yield Text(f"\nFAIL {_shown(finding)}", style="bold red")
    yield from _grouped(results.lines(["error"]), WORDS["error"], STYLES["error"])
    for kind in ("fail", "fixed"):
        for line in results.lines([kind]):
            note = PROVISIONAL_NOTE if line["provisional"] else ""
            heading = f"\n{WORDS[kind]} {line['id']} on {printable(line['environment'])}{note}"
            yield Text(heading, style=STYLES[kind])
            yield Text(_shown(line["reason"]))


def counts(results: Results) -> Iterator[Text]:
    """Yield what was not run, each with its reason, and how many cases have which result."""
    yield from _grouped(results.lines(["unavailable", "skipped"]), "not run", "bold")
    yield Text()
    counted = results.counts()
    for kind, meaning in MEANINGS:
        if counted.get(kind):
            yield Text.assemble((f"{counted[kind]:5d} {kind:<12}", STYLES[kind]), meaning)
    if results.on_text:
        yield Text(f"{results.on_text:5d} of them {TEXT_NOTE} ({ON_TEXT})")
    if results.provisional:
        yield Text(f"{results.provisional:5d} of them provisional: {PROVISIONAL_MEANING}")


def _shown(text: str) -> str:
    return printable(shortened(text, REASON_CHARACTERS))


def _grouped(lines: Iterable[Line], word: str, style: str) -> Iterator[Text]:
    """Say a reason once, however many cases have it."""
    groups: dict[str, tuple[str, int]] = {}
    others = 0
    for line in lines:
        reason = shortened(line["reason"], REASON_CHARACTERS)
        if reason in groups or len(groups) < REASONS_SHOWN:
            first, count = groups.get(reason, (line["id"], 0))
            groups[reason] = (min(first, line["id"]), count + 1)
        else:
            others += 1
    for reason, (first, count) in groups.items():
        yield Text(f"\n{word}: {first}{_and_more(count - 1)}: {printable(reason)}", style=style)
    if others:
        yield Text(f"\n{word}: and {others} more, for other reasons", style=style)


def _and_more(count: int) -> str:
    return f" and {count} more" if count else ""
