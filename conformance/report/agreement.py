"""Where routes differ from each other, whatever the contract asks of them: a pure pass over the lines of a report.

A case that was not run, or that broke, says nothing. So a part of a run never shows a difference that is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from conformance.catalog import Catalog, covers
from conformance.observation import SAYS_NOTHING, Basis
from conformance.report.harm import Harm, harm_of, status_harm
from conformance.status import ExitStatus, satisfies, status_from_json

Line = Mapping[str, Any]

ALONE = "no other of the routes has a result for it"


@dataclass(frozen=True)
class Ground:
    """Why a route may do what it did, and with which fixtures."""

    result: str
    reason: str
    """That of the deviation that is documented for these cases; empty where there is none."""
    url: str
    fixtures: tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """What one route did."""

    route: str
    did: str
    statuses: tuple[ExitStatus, ...]
    """How each step ended."""
    grounds: tuple[Ground, ...]
    """Why, a ground for each kind of result and each deviation among the fixtures."""


@dataclass(frozen=True)
class Difference:
    """Fixtures with which the same routes differ in the same way."""

    sides: tuple[Side, ...]
    fixtures: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """What came of comparing routes, the worst difference first."""

    compared: tuple[str, ...]
    """The fixtures for which two or more of the routes have a result."""
    differences: tuple[Difference, ...]
    left_out: Mapping[str, tuple[str, ...]]
    """The ids of the cases that could not be compared, by the reason."""
    on_text: tuple[str, ...]
    """The routes whose systems hand on text and no exact bytes."""


def compare(lines: Iterable[Line], routes: Sequence[str], equal: Sequence[str]) -> Comparison:
    """Compare what `routes` did, as far as `equal` (of `status`, `stdout` and `stderr`) goes."""
    by_fixture: defaultdict[str, dict[str, Line]] = defaultdict(dict)
    on_text = set()
    for line in lines:
        by_fixture[line["fixture"]][line["route"]] = line
        if line["basis"] == Basis.TEXT:
            on_text.add(line["route"])
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    alike: defaultdict[tuple[tuple[str, str], ...], list[list[Line]]] = defaultdict(list)
    compared = []
    for fixture in sorted(by_fixture):
        found = [by_fixture[fixture][route] for route in routes if route in by_fixture[fixture]]
        told = [line for line in found if line["result"] not in SAYS_NOTHING]
        for line in found:
            if line["result"] in SAYS_NOTHING:
                left_out[f"{line['result']}: {line['reason']}"].append(line["id"])
        if len(told) == 1:
            left_out[ALONE].append(told[0]["id"])
        if len(told) > 1:
            compared.append(fixture)
            if len({_outcome(line, equal) for line in told}) > 1:
                alike[tuple(zip((line["route"] for line in told), _in_words(told, equal), strict=True))].append(told)
    differences = sorted(alike.items(), key=lambda item: (_harm(item[1][0]), -len(item[1]), item[1][0][0]["fixture"]))
    return Comparison(
        tuple(compared),
        tuple(_difference(sides, cases) for sides, cases in differences),
        {reason: tuple(ids) for reason, ids in left_out.items()},
        tuple(route for route in routes if route in on_text),
    )


def _difference(sides: tuple[tuple[str, str], ...], cases: Sequence[Sequence[Line]]) -> Difference:
    columns = zip(*cases, strict=True)
    return Difference(
        tuple(
            Side(route, did, _observed(column[0]), _grounds(column))
            for (route, did), column in zip(sides, columns, strict=True)
        ),
        tuple(lines[0]["fixture"] for lines in cases),
    )


def _grounds(lines: Iterable[Line]) -> tuple[Ground, ...]:
    found: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for line in lines:
        deviation = line["deviation"] or {"reason": "", "url": ""}
        found[line["result"], deviation["reason"], deviation["url"]].append(line["fixture"])
    return tuple(Ground(*ground, tuple(fixtures)) for ground, fixtures in found.items())


def _observed(line: Line) -> tuple[ExitStatus, ...]:
    return tuple(status_from_json(step["status"]) for step in line["steps"])


def _counted(line: Line) -> tuple[ExitStatus, ...]:
    """Return the status of each step, in the contract's own form where it is what the contract asks for.

    So `signalled(9)` and `exited(137)` are one for a hook that died of that signal, and two for one that said 137.
    """
    expected = status_from_json(line["expected"])
    return tuple(expected if satisfies(expected, status) else status for status in _observed(line))


def _outcome(line: Line, equal: Sequence[str]) -> tuple[object, ...]:
    return tuple(_counted(line) if part == "status" else _digests(line, part) for part in equal)


def _digests(line: Line, stream: str) -> tuple[tuple[int, str], ...]:
    return tuple((step[stream]["bytes"], step[stream]["sha256"]) for step in line["steps"])


def _in_words(lines: Sequence[Line], equal: Sequence[str]) -> Iterator[str]:
    """Say of each of `lines`, which are of one fixture, what the route did: its status, and streams that differ."""
    streams = [name for name in equal if name != "status" and len({_digests(line, name) for line in lines}) > 1]
    meanings = {
        (line["route"], found["subject"]): found["meaning"] for line in lines for found in line["discrepancies"]
    }
    for line in lines:
        words = [", ".join(map(str, _observed(line)))]
        for name in streams:
            kept = {_digests(other, name) for other in lines if (other["route"], name) not in meanings}
            usual = f"{name} as the contract has it" if len(kept) == 1 else f"a {name} that the contract leaves open"
            words.append(meanings.get((line["route"], name), usual))
        yield ", ".join(words)


def _harm(lines: Sequence[Line]) -> tuple[Harm, Harm]:
    """Rank a difference by the worst that one route does to a hook, or to who takes it for another of the routes."""
    lost = min(map(harm_of, lines))
    steps = [_counted(line) for line in lines]
    taken = min(status_harm(*pair) for one, other in permutations(steps, 2) for pair in zip(one, other, strict=False))
    return min(lost, taken), lost


def disagreements(ran: Mapping[str, Line], catalog: Catalog) -> Iterator[str]:
    """Yield a sentence for each way in which an agreement of `catalog` is broken by the lines in `ran`, by case id.

    A provisional result breaks none, as it fails no run.
    """
    routes = [route.id for route in catalog.routes]
    for agreement in catalog.agreements:
        lines = [ran[case.id] for case in catalog.cases() if case.id in ran and covers(agreement, case)]
        settled = [line for line in lines if not line["provisional"]]
        for difference in compare(settled, routes, agreement.equal).differences:
            sides = ", ".join(f"{side.route} gives {side.did}" for side in difference.sides)
            yield (
                f"{agreement.origin}: the agreement on {' and '.join(agreement.equal)} ({agreement.reason}; "
                f"{agreement.url}) is broken: {sides}, with {', '.join(difference.fixtures)}. "
                "Mend the route, or take the fixture out with `except`."
            )
