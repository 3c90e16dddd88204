"""Entries that name less than they did: what matches nothing, or does not need them, is taken out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from conformance.catalog import Catalog, covered, matches
from conformance.model import Case, Deviation

Cases = Mapping[str, Case]
"""Cases by their ids."""


def without_unmatched(entry: Deviation, catalog: Catalog) -> Deviation | None:
    """Return `entry` without patterns that match nothing of `catalog`; None where it names no case then.

    A former id becomes today's.
    """
    routes = [route.id for route in catalog.routes]
    fixtures = [fixture.id for fixture in catalog.fixtures]
    former = catalog.former_ids
    matched = replace(
        entry,
        routes=_matching(map(former.route, entry.routes), routes),
        fixtures=_matching(map(former.fixture, entry.fixtures), fixtures),
        exceptions=_matching(map(former.fixture, entry.exceptions), fixtures),
    )
    return matched if any(True for _ in covered(matched, catalog)) else None


def _matching(globs: Iterable[str], ids: Collection[str]) -> tuple[str, ...]:
    return tuple(glob for glob in dict.fromkeys(globs) if any(matches(id_, [glob]) for id_ in ids))


def without_cases(entry: Deviation, gone: Cases, staying: Cases) -> tuple[Deviation | None, Cases]:
    """Take the cases `gone` out of `entry`, which covers these and those that are `staying`.

    Returns what is left of it, and those that should stay and cannot, since an entry excepts a fixture on all of its
    routes.
    """
    emptied = {case.route.id for case in gone.values()} - {case.route.id for case in staying.values()}
    routes = tuple(route for route in entry.routes if route not in emptied)
    fixtures_gone = {case.fixture.id for case in gone.values() if matches(case.route.id, routes)}
    fixtures = tuple(fixture for fixture in entry.fixtures if fixture not in fixtures_gone)
    excepted = sorted(fixture for fixture in fixtures_gone if matches(fixture, fixtures))
    displaced = {id_: case for id_, case in staying.items() if case.fixture.id in fixtures_gone}
    if not routes or not fixtures or len(displaced) == len(staying):
        return None, displaced
    return replace(entry, routes=routes, fixtures=fixtures, exceptions=(*entry.exceptions, *excepted)), displaced


def narrowed_to(entry: Deviation, cases: Cases) -> Deviation:
    """Return `entry` with the fixtures of `cases` by name, and with those of its routes that they are of."""
    used = {case.route.id for case in cases.values()}
    return replace(
        entry,
        routes=_matching(entry.routes, used),
        fixtures=tuple(sorted({case.fixture.id for case in cases.values()})),
        exceptions=(),
    )
