"""What became of the entries of a baseline, for the one who reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from conformance.baseline.evidence import Judged
from conformance.baseline.layout import KEYS, observed_text
from conformance.baseline.needs import kind_of
from conformance.baseline.revision import Revision
from conformance.baseline.slots import Slot
from conformance.description import describe_condition
from conformance.model import Deviation, Happens, ObservedPattern
from conformance.observation import ResultKind

SHOWN_IDS = 8


class Fate(StrEnum):
    """What became of an entry."""

    ADDED = "added"
    REMOVED = "removed"
    NARROWED = "narrowed"
    WIDENED = "widened"
    KEPT = "kept"


@dataclass(frozen=True)
class Change:
    """One entry, and what became of it."""

    fate: Fate
    entry: Deviation
    details: tuple[str, ...]


def changes_of(slots: Sequence[Slot]) -> list[Change]:
    """Return what became of each entry, in the order of the file."""
    return [_change(slot) for slot in slots]


def counts(changes: Sequence[Change]) -> str:
    """Return how many entries were added, removed and so on."""
    found = Counter(change.fate for change in changes)
    return ", ".join(f"{found[fate]} {fate}" for fate in Fate)


def _change(slot: Slot) -> Change:
    old, now = slot.old, slot.now
    if old is None:
        assert now is not None, "a slot holds something"
        return Change(Fate.ADDED, now, (f"+ {_ids(now.fixtures)}",))
    if now is None:
        return Change(Fate.REMOVED, old, (slot.why or f"no longer so: {_ids(old.fixtures)}",))
    if now == old:
        return Change(Fate.KEPT, now, ())
    lost = [name for name in (*old.routes, *old.fixtures) if name not in (*now.routes, *now.fixtures)]
    lost += [name for name in now.exceptions if name not in old.exceptions]
    gained = [name for name in now.fixtures if name not in old.fixtures]
    gained += [name for name in old.exceptions if name not in now.exceptions and name not in gained]
    details = [f"- {_ids(lost)}"] if lost else []
    details += [f"+ {_ids(gained)}"] if gained else []
    if (now.happens, now.observed) != (old.happens, old.observed):
        details.append(f"was: {KEYS[old.happens]} {observed_text(old)}")
    if now.condition != old.condition:
        details.append(f"was: {_when(old) or 'always'}")
    wider = not lost and now.condition.keys <= old.condition.keys
    return Change(Fate.WIDENED if wider else Fate.NARROWED, now, tuple(details))


def headline(entry: Deviation) -> str:
    """Return what `entry` documents, in a line."""
    when = _when(entry)
    return f"{KEYS[entry.happens]} of {', '.join(entry.routes)}: {observed_text(entry)}" + (f", {when}" if when else "")


def named(entry: Deviation) -> str:
    """Return what `entry` documents, and of which fixtures."""
    return f"{headline(entry)}: {_ids(entry.fixtures)}"


def _when(entry: Deviation) -> str:
    found = describe_condition(entry.condition).items()
    return "where " + " and ".join(f"{key} is {value}" for key, value in found) if found else ""


def _ids(ids: Sequence[str]) -> str:
    more = len(ids) - SHOWN_IDS
    return ", ".join(ids[:SHOWN_IDS]) + (f" and {more} more" if more > 0 else "")


def agreeing(revision: Revision) -> Iterator[tuple[Deviation, int, list[str]]]:
    """Yield the entries on which several reports of one environment all agree, with their number and the cases."""
    found: dict[Slot, list[Judged]] = {}
    for judged in (one for several in revision.evidence.judged.values() for one in several):
        slot, entry = revision.held(judged)
        if slot is not None and entry is not None and entry.happens is Happens.SOMETIMES:
            found.setdefault(slot, []).append(judged)
    for slot, cases in found.items():
        entry, reports = slot.now, max(len(judged.observations) for judged in cases)
        if entry is not None and reports > 1 and all(len(_came(judged, entry)) == 1 for judged in cases):
            yield entry, reports, sorted({judged.case.id for judged in cases})


def _came(judged: Judged, entry: Deviation) -> set[ObservedPattern | None]:
    """Return which of its patterns came of a case that `entry` documents; None where the contract was kept."""
    return {
        next(
            (
                pattern
                for pattern in entry.observed
                if kind_of(judged, observation, replace(entry, observed=(pattern,))) is ResultKind.DEVIATES
            ),
            None,
        )
        for observation in judged.observations
    }
