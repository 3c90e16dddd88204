"""What the systems that adapters drive lose of hooks, the one that does the worst first: a pure pass over a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.observation import SAYS_NOTHING, ResultKind
from conformance.report.harm import Harm, harm_of, harms_of

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Loss:
    """One thing that the users of a system lose, and with which fixtures."""

    harm: Harm
    what: str
    """The reason of the deviation that documents it, or what it means for a caller."""
    url: str
    """The public source of that reason; empty where it is not documented."""
    fixtures: tuple[str, ...]


@dataclass(frozen=True)
class SystemRecord:
    """What came of the cases of a route that drives a system."""

    route: str
    systems: tuple[str, ...]
    """The system with its version: several where the report is of several machines."""
    bases: tuple[str, ...]
    """What the comparison of its streams rests on."""
    environments: tuple[str, ...]
    judged: int
    """How many cases told something."""
    losses: tuple[Loss, ...]
    """The worst first."""
    not_judged: Mapping[tuple[str, str], tuple[str, ...]]
    """The fixtures of all other cases, by their result and the reason: `skipped` where the system lacks something."""

    @property
    def lost(self) -> int:
        """In how many cases something was lost."""
        return sum(len(loss.fixtures) for loss in self.losses)


def driven_routes(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the routes that drive a system, as their results say."""
    return tuple(dict.fromkeys(line["route"] for line in lines if line.get("system")))


def silent_routes(lines: Iterable[Line]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the routes of which nothing is known, not even whether they drive a system, by the result and reason."""
    lines = tuple(lines)
    told = {line["route"] for line in lines if line["result"] not in SAYS_NOTHING or line.get("system")}
    why = {line["route"]: (line["result"], line["reason"]) for line in lines if line["route"] not in told}
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for route, reason in why.items():
        found[reason].append(route)
    return {reason: tuple(routes) for reason, routes in found.items()}


def records_of(lines: Iterable[Line]) -> tuple[SystemRecord, ...]:
    """Return the record of each route in `lines`, all of which drive systems. The last result of a case counts."""
    by_route: defaultdict[str, list[Line]] = defaultdict(list)
    for line in {(line["id"], line["environment"]): line for line in lines}.values():
        by_route[line["route"]].append(line)
    return tuple(sorted((_record(route, found) for route, found in by_route.items()), key=_rank))


def _rank(record: SystemRecord) -> tuple[Harm, float, str]:
    worst = record.losses[0].harm if record.losses else Harm.NONE
    return worst, -record.lost / max(record.judged, 1), record.route


def _record(route: str, lines: Sequence[Line]) -> SystemRecord:
    told = [line for line in lines if line["result"] not in SAYS_NOTHING]
    not_judged: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for line in lines:
        if line["result"] in SAYS_NOTHING:
            not_judged[line["result"], line["reason"]].append(line["fixture"])
    driven = [line for line in lines if line["system"]]
    return SystemRecord(
        route,
        tuple(dict.fromkeys(f"{line['system']['name']} {line['system']['version']}" for line in driven)),
        tuple(dict.fromkeys(line["basis"] for line in driven)),
        tuple(dict.fromkeys(line["environment"] for line in driven)),
        len(told),
        _losses(told),
        {key: tuple(fixtures) for key, fixtures in not_judged.items()},
    )


def _losses(lines: Iterable[Line]) -> tuple[Loss, ...]:
    found: defaultdict[tuple[Harm, str, str], list[str]] = defaultdict(list)
    for line in lines:
        harm = harm_of(line)
        if harm is not Harm.NONE:
            found[harm, *_what(line, harm)].append(line["fixture"])
    losses = [Loss(*key, tuple(sorted(fixtures))) for key, fixtures in found.items()]
    return tuple(sorted(losses, key=lambda loss: (loss.harm, -len(loss.fixtures), loss.what)))


def _what(line: Line, harm: Harm) -> tuple[str, str]:
    if line["result"] == ResultKind.DEVIATES:
        return line["deviation"]["reason"], line["deviation"]["url"]
    harms = harms_of(line)
    meanings = (found["meaning"] for found in line["discrepancies"] if harms[found["subject"]] is harm)
    return next(meanings), ""
