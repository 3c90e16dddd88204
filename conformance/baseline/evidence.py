"""What reports say of the cases of some routes, as far as it says something of today's contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.catalog import Catalog
from conformance.catalog.former_ids import FormerIds
from conformance.condition import Facts
from conformance.contract import CONTAMINATED, discrepancies, facts_of
from conformance.model import ADAPTER, Case, EnvironmentKey, Expectation
from conformance.observation import SAYS_NOTHING, CapturedStream, Observation, ResultKind, StepObservation
from conformance.payload import Payload, sha256
from conformance.precedence import expectations_of
from conformance.process.capture import WINDOW_AFTER_BYTES
from conformance.report.decoding import observation_in
from conformance.status import status_to_json

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """What came of a case in one environment, in one report or in several."""

    case: Case
    key: EnvironmentKey
    facts: Facts
    expectations: tuple[Expectation, ...]
    observations: tuple[Observation, ...]


@dataclass
class Evidence:
    """What was taken from reports. A case of which one of them says what does not count is left out as a whole."""

    judged: dict[str, list[Judged]] = field(default_factory=dict)
    """By the id of the case, wherever it ran, sorted; an entry for each environment."""
    told: frozenset[str] = frozenset()
    """The ids of all cases of which the reports say anything, if only that they were skipped."""
    refused: dict[str, str] = field(default_factory=dict)
    """Why nothing was made of what the reports say of a case, by its id."""
    broken: frozenset[str] = frozenset()
    """The ids of the cases in which the harness or the route was broken somewhere, which says nothing of them."""


def evidence_in(reports: Iterable[tuple[str, Iterable[Line]]], catalog: Catalog, routes: Sequence[str]) -> Evidence:
    """Return what `reports`, each with its name, say of the cases of `routes`.

    Of several results of one case in one environment a report means the last.
    """
    reading, former = _Reading(catalog, routes), catalog.former_ids
    for name, lines in reports:
        last = {(line["id"], line["environment"]): line for line in lines if route_in(line, former) in routes}
        for line in last.values():
            reading.take(name, line)
    return reading.evidence()


class _Reading:
    def __init__(self, catalog: Catalog, routes: Sequence[str]) -> None:
        self._former = catalog.former_ids
        self._fixtures = {fixture.id: fixture for fixture in catalog.fixtures}
        self._routes = {route.id: route for route in catalog.routes if route.id in routes}
        self._found: dict[tuple[str, EnvironmentKey], list[Observation]] = {}
        self._cases: dict[str, Case] = {}
        self._told: set[str] = set()
        self._refused: dict[str, str] = {}
        self._broken: set[str] = set()

    def take(self, name: str, line: Line) -> None:
        fixture, route = self._former.fixture(line["fixture"]), route_in(line, self._former)
        id_, key = f"{fixture}/{route}", EnvironmentKey.parse(line["environment"])
        self._told.add(id_)
        case = self._case(fixture, route)
        if line["result"] == ResultKind.ERROR:
            self._broken.add(id_)
        if line["result"] in SAYS_NOTHING:
            return
        if case is None:
            self._refused[id_] = f"{name} is of other fixtures than today's. Run it again"
            return
        if line["reason"].startswith(CONTAMINATED):
            self._refused[id_] = f"{line['reason'].split(':')[0]}, so it depends on what ran before it"
            return
        observation = observation_in(line)
        if not _of_today(line, case, expectations_of(case, _facts(case, key)), observation):
            self._refused[id_] = f"{name} judged it by another expectation than today's. Run it again"
            return
        self._cases[id_] = case
        self._found.setdefault((id_, key), []).append(observation)

    def _case(self, fixture: str, route: str) -> Case | None:
        if fixture not in self._fixtures:
            return None
        case = Case(self._fixtures[fixture], self._routes[route])
        return case if case.route.takes(case.fixture) else None

    def evidence(self) -> Evidence:
        judged: dict[str, list[Judged]] = {}
        for (id_, key), observations in sorted(self._found.items(), key=lambda item: (item[0][0], str(item[0][1]))):
            if id_ not in self._refused:
                case = self._cases[id_]
                facts = _facts(case, key)
                one = Judged(case, key, facts, expectations_of(case, facts), tuple(observations))
                judged.setdefault(id_, []).append(one)
        return Evidence(judged, frozenset(self._told), dict(sorted(self._refused.items())), frozenset(self._broken))


def route_in(line: Line, former: FormerIds) -> str:
    """Return today's id of the route in `line`, which does not tell where it ran: its environment does."""
    return former.route(str(line["route"]).partition("+")[0])


def _facts(case: Case, key: EnvironmentKey) -> Facts:
    return replace(facts_of(case, key), runner=key.runner)


def _of_today(line: Line, case: Case, expectations: Sequence[Expectation], observation: Observation) -> bool:
    """Tell whether `line` was judged by today's expectations: by these, the same departs from the contract."""
    if len(observation.steps) != len(expectations):
        return False
    subjects: set[str] = set()
    decisive = expectations[-1]
    for step, expectation, observed in zip(case.fixture.steps, expectations, observation.steps, strict=True):
        if not _streams_of_today(case, expectation, observed):
            return False
        found = {found.subject for found in discrepancies(case, step, expectation, observed)}
        decisive = expectation if found and not subjects else decisive
        subjects |= found
    told = {found["subject"] for found in line["discrepancies"]}
    return status_to_json(decisive.status) == line["expected"] and subjects == told


def _streams_of_today(case: Case, expectation: Expectation, observed: StepObservation) -> bool:
    merged = case.route.kind == ADAPTER and expectation.stderr is None and observed.stdout.difference is None
    return (merged or _stream_of_today(expectation.stdout, observed.stdout)) and _stream_of_today(
        expectation.stderr, observed.stderr
    )


def _stream_of_today(expected: Payload | None, came: CapturedStream) -> bool:
    difference = came.difference
    if expected is None:
        return difference is None
    same = (came.length, came.sha256) == (expected.length, sha256(expected))
    if difference is None:
        return same
    window = expected.slice(difference.window_offset, difference.offset + WINDOW_AFTER_BYTES)
    return not same and difference.expected == window
