"""The entries of a baseline while they are revised: cases are taken out of some and put into others. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.baseline.narrowing import Cases, narrowed_to, without_cases
from conformance.baseline.needs import Need
from conformance.catalog import covers
from conformance.condition import Condition
from conformance.model import Case, Deviation, Origin


@dataclass(eq=False)
class Slot:
    """An entry: as it stands in the file, and as it must become; None where it does not exist."""

    old: Deviation | None
    now: Deviation | None
    why: str = ""
    """Why it is gone, where that is not that its cases are as the contract has them, or stand elsewhere now."""


@dataclass(frozen=True, eq=False)
class Statement:
    """What must be documented of one case."""

    case: Case
    need: Need
    condition: Condition
    source: Slot | None = None
    """The entry that said so, or nearly so, until now."""


@dataclass(frozen=True)
class Grounds:
    """What is said of new entries for which no other reason is known, and where they go."""

    baseline: str
    """What messages call the file."""
    reason: str = ""
    """Empty where it is still to be asked for, as is `url`."""
    url: str = ""


def taken_out(slot: Slot, gone: Cases, named: Cases, statements: list[Statement]) -> list[Statement]:
    """Take the cases `gone` out of `slot`, whose entry names those in `named`; return what is still to be put in."""
    assert slot.now is not None, "nothing is taken out of an entry that is gone"
    staying = {id_: case for id_, case in named.items() if id_ not in gone}
    if not staying:
        return _handed_down(slot, slot.now, gone, statements)
    entry = slot.now
    slot.now, displaced = without_cases(entry, gone, staying)
    return [*statements, *(Statement(case, Need.met_by(entry), entry.condition) for case in displaced.values())]


def _handed_down(slot: Slot, entry: Deviation, gone: Cases, statements: list[Statement]) -> list[Statement]:
    """Let `slot`, all of whose cases are `gone`, say what is to be said of most of them now, if it was its to say."""
    heirs: dict[tuple[Need, Condition], list[Statement]] = defaultdict(list)
    for statement in statements:
        if statement.source is slot:
            heirs[statement.need, statement.condition].append(statement)
    slot.now = None
    if not heirs:
        return statements
    (need, condition), inheriting = max(heirs.items(), key=lambda item: len(item[1]))
    revised = replace(entry, happens=need.happens, observed=need.observed, condition=condition)
    if len(inheriting) < len(gone):
        route = inheriting[0].case.route.id
        inheriting = [statement for statement in inheriting if statement.case.route.id == route]
        revised = narrowed_to(revised, {statement.case.id: statement.case for statement in inheriting})
        revised = replace(revised, routes=(route,))
    slot.now = revised
    return [statement for statement in statements if statement not in inheriting]


def put_in(statements: Iterable[Statement], slots: list[Slot], grounds: Grounds) -> None:
    """Put what is to be documented into the entries in `slots` that document the same, or into new ones."""
    for statement in sorted(statements, key=lambda statement: (not statement.need.reason, statement.case.id)):
        need = statement.need if statement.need.reason else _on(statement.need, grounds)
        for slot in slots:
            widened = _widened(slot.now, need, statement)
            if widened is not None:
                slot.now = widened
                break
        else:
            slots.append(Slot(None, _entry(need, statement, grounds)))


def _on(need: Need, grounds: Grounds) -> Need:
    return replace(need, reason=grounds.reason, url=grounds.url)


def _widened(entry: Deviation | None, need: Need, statement: Statement) -> Deviation | None:
    """Return `entry` with the case of `statement`; None where it says something else, or cannot take it in."""
    route, fixture = statement.case.route.id, statement.case.fixture.id
    if entry is None or (entry.routes, entry.condition) != ((route,), statement.condition):
        return None
    differing = any(given not in ("", known) for given, known in ((need.reason, entry.reason), (need.url, entry.url)))
    if differing or not need.documents_as(Need.met_by(entry)):
        return None
    widened = replace(
        entry,
        fixtures=_with(entry.fixtures, fixture),
        exceptions=tuple(id_ for id_ in entry.exceptions if id_ != fixture),
    )
    return widened if covers(widened, statement.case) else None


def _with(ids: tuple[str, ...], new: str) -> tuple[str, ...]:
    """Return `ids` with a new one: in its place where they are sorted, and else at the end."""
    return tuple(sorted({*ids, new})) if list(ids) == sorted(ids) else tuple(dict.fromkeys((*ids, new)))


def _entry(need: Need, statement: Statement, grounds: Grounds) -> Deviation:
    return Deviation(
        routes=(statement.case.route.id,),
        fixtures=(statement.case.fixture.id,),
        exceptions=(),
        observed=need.observed,
        condition=statement.condition,
        reason=need.reason,
        url=need.url,
        origin=Origin(grounds.baseline, 0),
        happens=need.happens,
    )
