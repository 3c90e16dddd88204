"""The case ids that were ever published: a line for each fixture, `topic/name: route route ...`, sorted.

Nothing is ever taken out: an id that was cited once must lead to its case for good, if need be through `aliases`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from conformance.catalog import Catalog

Released = Mapping[str, frozenset[str]]
"""Fixture -> its routes."""


def read_released(text: str) -> Released:
    """Return the ids that `text` holds."""
    rows = (line.partition(":") for line in text.splitlines())
    return {fixture: frozenset(routes.split()) for fixture, _, routes in rows}


def ids_of(released: Released) -> frozenset[str]:
    """Return the case ids of `released`."""
    return frozenset(f"{fixture}/{route}" for fixture, routes in released.items() for route in routes)


def lost(released: Released, catalog: Catalog) -> tuple[str, ...]:
    """Return the released ids that name no case of `catalog`, neither by today's id nor by a former one."""
    known = {case.id for case in catalog.cases()}
    return tuple(id_ for id_ in sorted(ids_of(released)) if catalog.former_ids.case(id_) not in known)


def unreleased(released: Released, catalog: Catalog) -> tuple[str, ...]:
    """Return the ids of `catalog` that `released` lacks."""
    return tuple(sorted({case.id for case in catalog.cases()} - ids_of(released)))


def released_page(old: str, catalog: Catalog) -> str:
    """Return the page `old` with the cases of `catalog` as well."""
    return _written([*ids_of(read_released(old)), *(case.id for case in catalog.cases())])


def _written(ids: Iterable[str]) -> str:
    routes: defaultdict[str, set[str]] = defaultdict(set)
    for id_ in ids:
        fixture, _, route = id_.rpartition("/")
        routes[fixture].add(route)
    return "".join(f"{fixture}: {' '.join(sorted(routes[fixture]))}\n" for fixture in sorted(routes))
