"""What the entries of a baseline must become, so that runs like those of the reports are as documented. Pure.

In rounds: an entry that names too much is narrowed, cases that did not come out as documented are taken out of their
entries, and what must be documented of them is put into others. An entry that is gone may uncover another that held
before it and says something else, so the next round looks again, until there is nothing to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.baseline.breadth import too_broad
from conformance.baseline.evidence import Evidence, Judged
from conformance.baseline.narrowing import Cases, narrowed_to, without_unmatched
from conformance.baseline.needs import Need, State, held_by, kept, state_of
from conformance.baseline.patterns import UndocumentableError
from conformance.baseline.rivals import winning_conditions
from conformance.baseline.slots import Grounds, Slot, Statement, put_in, taken_out
from conformance.catalog import Catalog, covered, covers
from conformance.condition import Condition
from conformance.model import Deviation, Happens

MOST_ROUNDS = 10


@dataclass
class Revision:
    """The entries of a baseline, and what reports say that they must become."""

    catalog: Catalog
    """All but the baseline."""
    evidence: Evidence
    grounds: Grounds
    slots: list[Slot] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    """Why a case is not as documented now, by its id."""

    def revise(self, entries: Iterable[Deviation]) -> None:
        """Fill `slots` and `left`.

        Raises CatalogError where two entries tie.
        """
        self.slots = [Slot(entry, without_unmatched(entry, self.catalog)) for entry in entries]
        for slot in self.slots:
            if slot.now is None:
                slot.why = "it matches no case"
        for _ in range(MOST_ROUNDS):
            before = [slot.now for slot in self.slots]
            self._narrow()
            self._replan()
            if [slot.now for slot in self.slots] == before:
                break
        self.slots = [slot for slot in self.slots if slot.old is not None or slot.now is not None]
        self._note_what_stands_elsewhere()

    def held(self, judged: Judged) -> tuple[Slot | None, Deviation | None]:
        """Return what a case is judged by, and the slot in which that stands, if it is one of the baseline."""
        held = held_by(judged, [*self.catalog.deviations, *(slot.now for slot in self.slots if slot.now is not None)])
        return next((slot for slot in self.slots if slot.now is not None and slot.now is held), None), held

    def _selected(self, entry: Deviation) -> Cases:
        """Return the cases of the matrices that `entry` names, and those of the reports."""
        cases = {case.id: case for case in self.catalog.cases() if covers(entry, case)}
        judged = (found[0].case for found in self.evidence.judged.values())
        return cases | {case.id: case for case in judged if covers(entry, case)}

    def _named(self, entry: Deviation) -> Cases:
        """Return these, and what `entry` names one by one, whatever the matrices select."""
        by_id = (case for case in covered(entry, self.catalog) if case.fixture.id in entry.fixtures)
        return {**self._selected(entry), **{case.id: case for case in by_id}}

    # Entries that name too much.

    def _narrow(self) -> None:
        needing: dict[Slot, set[str]] = defaultdict(set)
        holding = set()
        for id_, found in self.evidence.judged.items():
            for judged in found:
                slot, deviation = self.held(judged)
                if slot is not None and deviation is not None:
                    holding.add(slot)
                    if deviation.happens is Happens.SOMETIMES or not kept(judged):
                        needing[slot].add(id_)
        for slot in self.slots:
            if slot.now is not None:
                self._narrow_one(slot, slot.now, needing[slot], unused=slot not in holding)

    def _narrow_one(self, slot: Slot, entry: Deviation, needing: set[str], *, unused: bool) -> None:
        named = self._selected(entry)
        found = {id_: self.evidence.judged.get(id_, ()) for id_ in named}
        judged = {id_ for id_ in named if any(entry.condition.matches(one.facts) for one in found[id_])}
        if judged and unused and all(found.values()):
            slot.now, slot.why = None, "it applies to none of the cases that it names"
        elif too_broad(entry, len(needing), len(judged)) and named.keys() <= self.evidence.told:
            remaining = {id_: case for id_, case in named.items() if id_ in needing or id_ not in judged}
            slot.now = narrowed_to(entry, remaining) if remaining else None

    # Cases that are not as documented.

    def _replan(self) -> None:
        gone: dict[Slot, Cases] = defaultdict(dict)
        statements: list[Statement] = []
        self.left = {}
        for id_, found in self.evidence.judged.items():
            try:
                touched, planned = self._planned(found)
            except UndocumentableError as error:
                self.left[id_] = str(error)
                continue
            statements += planned
            for slot in touched:
                gone[slot] = {**gone[slot], id_: found[0].case}
        for slot, cases in gone.items():
            if slot.now is not None:
                statements = taken_out(slot, cases, self._named(slot.now), statements)
        put_in(statements, self.slots, self.grounds)

    def _planned(self, found: Sequence[Judged]) -> tuple[list[Slot], list[Statement]]:
        """Return the entries that one case must be taken out of, and what must be documented of it instead.

        Raises UndocumentableError where that is not possible.
        """
        held = [self.held(judged) for judged in found]
        states = [state_of(judged, deviation) for judged, (_, deviation) in zip(found, held, strict=True)]
        wanted = [state.need for state in states if not state.settled and state.need is not None]
        touched: dict[Slot, None] = {}
        for (slot, deviation), state in zip(held, states, strict=True):
            joins = deviation is not None and any(need.alike(Need.met_by(deviation)) for need in wanted)
            if slot is not None and (joins or not state.settled):
                touched[slot] = None
        moving = [
            (judged, state, slot)
            for judged, state, (slot, _) in zip(found, states, held, strict=True)
            if not state.settled or slot in touched
        ]
        staying = [slot.now for slot in self.slots if slot.now is not None and slot not in touched]
        rivals = [[d for d in several if covers(d, found[0].case)] for several in (staying, self.catalog.deviations)]
        return list(touched), [
            Statement(found[0].case, need, condition, source)
            for need, members, source in _alike(moving)
            for condition in winning_conditions(members, found, _condition(source), *rivals)
        ]

    def _note_what_stands_elsewhere(self) -> None:
        for id_, found in self.evidence.judged.items():
            for judged in found:
                slot, deviation = self.held(judged)
                if slot is not None or deviation is None or id_ in self.left:
                    continue
                if not state_of(judged, deviation).settled:
                    self.left[id_] = f"{deviation.origin} documents it, and it no longer happens: mend that"


def _condition(slot: Slot | None) -> Condition | None:
    return slot.now.condition if slot is not None and slot.now is not None else None


def _alike(
    members: Iterable[tuple[Judged, State, Slot | None]],
) -> list[tuple[Need, list[Judged], Slot | None]]:
    """Group the environments in which the same must be documented of a case, first those where its reason is known."""
    groups: list[tuple[Need, list[Judged], Slot | None]] = []
    for judged, state, slot in sorted(members, key=lambda member: not (member[1].need and member[1].need.reason)):
        if state.need is None:
            continue
        group = next((group for group in groups if group[0].alike(state.need)), None)
        if group is None:
            groups.append((state.need, [judged], slot if state.need.reason else None))
        else:
            group[1].append(judged)
    return groups
