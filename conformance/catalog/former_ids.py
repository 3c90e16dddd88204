"""Former ids. An id that was published stays one: it leads to what has another id today (`aliases` in the files)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.errors import CatalogError
from conformance.model import Fixture, Route


@dataclass(frozen=True)
class FormerIds:
    """Leads from each id, a former one or today's, to today's; any other text stays what it is."""

    fixtures: Mapping[str, str]
    routes: Mapping[str, str]

    @classmethod
    def of(cls, fixtures: Iterable[Fixture], routes: Iterable[Route]) -> FormerIds:
        """Return those of `fixtures` and `routes`."""
        return cls(_todays(fixtures), _todays(routes))

    def fixture(self, id_: str) -> str:
        """Return today's id of the fixture called `id_`."""
        return self.fixtures.get(id_, id_)

    def route(self, id_: str) -> str:
        """Return today's id of the route called `id_`."""
        return self.routes.get(id_, id_)

    def case(self, id_: str) -> str:
        """Return today's id of the case called `id_`, of which the fixture, the route or both may have a former one."""
        fixture, _, route_and_runner = id_.rpartition("/")
        route, plus, runner = route_and_runner.partition("+")
        if fixture not in self.fixtures or route not in self.routes:
            return id_
        return f"{self.fixtures[fixture]}/{self.routes[route]}{plus}{runner}"


def _todays(things: Iterable[Fixture | Route]) -> dict[str, str]:
    return {name: thing.id for thing in things for name in (thing.id, *thing.aliases)}


def check_aliases(things: Iterable[Fixture] | Iterable[Route]) -> None:
    """Raise CatalogError for a former id that something else has, or had."""
    owners: dict[str, Fixture | Route] = {thing.id: thing for thing in things}
    for thing in tuple(owners.values()):
        for alias in thing.aliases:
            if alias in owners:
                raise CatalogError(
                    f"{thing.origin}: the former id {alias!r} is an id at {owners[alias].origin} already. "
                    "Ids are permanent and unique: take it out of one of the two."
                )
            owners[alias] = thing
