"""What a route was seen to do with the telling fixtures: a pure pass over the lines of a report.

A fingerprint is read from what came, never from what is expected or documented of the route.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.catalog import Catalog
from conformance.model import Fixture, Route
from conformance.observation import SAYS_NOTHING, Basis
from conformance.report.policies import BY_DIALECT, NONE, Telling
from conformance.report.traits import TRAITS, Trait, traits_of
from conformance.status import Exited, ExitStatus, status_from_json

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """What came of a fixture that tells policies apart."""

    telling: Telling
    status: ExitStatus | None
    why_not: str
    """Why there is no status; empty where there is one."""

    def is_as(self, policy: str) -> bool:
        """Tell whether the status is the one that `policy` makes of the fixture."""
        return self.status == Exited(self.telling.codes[policy])


@dataclass(frozen=True)
class Fingerprint:
    """What a route was seen to do."""

    route: Route
    rows: tuple[Row, ...]
    traits: tuple[Trait, ...]
    environments: tuple[str, ...]
    """The environment keys of what came."""
    not_asked: tuple[str, ...]
    """The telling fixtures that have no body in a dialect of the route."""
    basis: Basis = Basis.BYTES
    """What the traits of streams rest on."""

    @property
    def seen(self) -> tuple[Row, ...]:
        """The rows that have a status."""
        return tuple(row for row in self.rows if row.status is not None)

    @property
    def complete(self) -> bool:
        """Whether everything has come that can be seen of the route's policy."""
        return bool(self.rows) and len(self.seen) == len(self.rows)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The policies that everything that came agrees with; more than one where too little could be asked."""
        return tuple(policy for policy in self.policies if self.seen and all(row.is_as(policy) for row in self.seen))

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that a route of this dialect can have."""
        return tuple(BY_DIALECT[self.route.dialects[0]][0].codes)

    @property
    def name(self) -> str:
        """The policy in one word, or in a few where it is not one."""
        return " or ".join(self.candidates) or (NONE if self.seen else "nothing was seen")

    @property
    def nearest(self) -> str:
        """The policy that most of what came agrees with."""
        return min(self.policies, key=lambda policy: len(self.departures(policy)))

    def departures(self, policy: str) -> tuple[Row, ...]:
        """Return what came otherwise than `policy` has it."""
        return tuple(row for row in self.seen if not row.is_as(policy))

    @property
    def as_stated(self) -> bool | None:
        """Whether the route is what its matrix states; None where it states nothing, or too little was seen to tell."""
        stated = self.route.fingerprint
        if stated is None or not self.seen:
            return None
        if stated != NONE:
            return stated in self.candidates
        return None if self.candidates and not self.complete else not self.candidates


def telling_fixtures(route: Route) -> tuple[str, ...]:
    """Return the ids of the fixtures from which the fingerprint of `route` is read."""
    return tuple(
        dict.fromkeys(
            [
                *(row.fixture for row in BY_DIALECT[route.dialects[0]]),
                *(id_ for trait in TRAITS for id_ in trait.fixtures),
            ]
        )
    )


def fingerprint_of(route: Route, fixtures: Mapping[str, Fixture], lines: Mapping[str, Line]) -> Fingerprint:
    """Return the fingerprint of `route`; `fixtures` are those of the catalogue by id, `lines` what came by case id.

    A route of several dialects is read by its first one.
    """
    table = BY_DIALECT[route.dialects[0]]
    told = {id_: lines.get(f"{id_}/{route.id}") for id_, fixture in fixtures.items() if _asked(route, fixture)}
    every = dict.fromkeys([*(row.fixture for rows in BY_DIALECT.values() for row in rows), *telling_fixtures(route)])
    came = [line for line in told.values() if line is not None]
    return Fingerprint(
        route,
        tuple(_row(telling, told[telling.fixture]) for telling in table if telling.fixture in told),
        traits_of(told),
        tuple(dict.fromkeys(line["environment"] for line in came)),
        tuple(id_ for id_ in every if id_ in fixtures and id_ not in told),
        Basis.TEXT if any(line["basis"] == Basis.TEXT for line in came) else Basis.BYTES,
    )


def _asked(route: Route, fixture: Fixture) -> bool:
    """Tell whether `route` gets a body of `fixture` in a language like that of its first dialect."""
    dialect = next((dialect for dialect in route.dialects if dialect in fixture.dialects), None)
    return dialect is not None and BY_DIALECT[dialect] is BY_DIALECT[route.dialects[0]]


def _row(telling: Telling, line: Line | None) -> Row:
    if line is None:
        return Row(telling, None, "it was not run")
    if line["result"] in SAYS_NOTHING:
        return Row(telling, None, f"{line['result']}: {line['reason']}")
    return Row(telling, status_from_json(line["status"]), "")


def misstated(ran: Mapping[str, Line], catalog: Catalog) -> Iterator[str]:
    """Yield a sentence for each route of `catalog` that the lines in `ran`, by case id, show to be another than stated.

    Nothing is said of a route of which something is missing or provisional.
    """
    fixtures = {fixture.id: fixture for fixture in catalog.fixtures}
    settled = {id_: line for id_, line in ran.items() if not line["provisional"]}
    for route in catalog.routes:
        found = fingerprint_of(route, fixtures, settled) if route.fingerprint is not None else None
        if found is not None and found.complete and found.as_stated is False:
            yield (
                f'{route.origin}: the route {route.id} states fingerprint = "{route.fingerprint}" and was seen to be '
                f"{describe(found)}. State what was seen, or mend the route; "
                f"`conformance fingerprint {route.id}` shows all of it."
            )


def describe(fingerprint: Fingerprint) -> str:
    """Return the name, and for one that has none in what it departs from the nearest policy that has."""
    if fingerprint.candidates or not fingerprint.seen:
        return fingerprint.name
    nearest = fingerprint.nearest
    departures = ", ".join(
        f"{row.status} for {row.telling.happens} ({row.telling.fixture}, there {row.telling.codes[nearest]})"
        for row in fingerprint.departures(nearest)
    )
    return f"{NONE}: as {nearest}, but {departures}"
