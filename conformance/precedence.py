"""Which of several statements about a case holds: the most specific one that applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from conformance.condition import Facts
from conformance.errors import CatalogError
from conformance.model import Case, Deviation, Expectation

Statement = TypeVar("Statement", Expectation, Deviation)


def expectation_for(expectations: Iterable[Expectation], facts: Facts) -> Expectation | None:
    """Return the expectation with the most condition keys among those that match `facts`, or None.

    Raises CatalogError that names both where two are equally specific.
    """
    matching = [expectation for expectation in expectations if expectation.condition.matches(facts)]
    return _most_specific(matching, lambda expectation: (expectation.condition.keys,))


def expectations_of(case: Case, facts: Facts) -> tuple[Expectation, ...]:
    """Return what is expected of each step of `case`.

    Raises CatalogError where two expectations tie.
    """
    found = []
    for step in case.fixture.steps:
        expectation = expectation_for(step.expectations, facts)
        assert expectation is not None, "the catalogue checks that every kind of case is covered"
        found.append(expectation)
    return tuple(found)


def deviation_for(deviations: Iterable[Deviation], fixture_id: str, route_id: str, facts: Facts) -> Deviation | None:
    """Return the most specific of `deviations`, which all apply to the case: an exact id beats a glob.

    Raises CatalogError that names both where two are equally specific.
    """
    matching = [deviation for deviation in deviations if deviation.condition.matches(facts)]
    return _most_specific(matching, lambda deviation: rank_of(deviation, fixture_id, route_id))


def rank_of(deviation: Deviation, fixture_id: str, route_id: str) -> tuple[bool, bool, int]:
    """Return how specific `deviation` is for a case that it covers; the highest holds."""
    return fixture_id in deviation.fixtures, route_id in deviation.routes, deviation.condition.keys


def _most_specific(statements: list[Statement], rank: Callable[[Statement], tuple[Any, ...]]) -> Statement | None:
    if not statements:
        return None
    ranked = sorted(statements, key=rank, reverse=True)
    if len(ranked) > 1 and rank(ranked[0]) == rank(ranked[1]):
        raise CatalogError(
            f"{ranked[0].origin}: ties with {ranked[1].origin}: both hold for the same case, equally specific. "
            "Add a key to the `when` of one of them."
        )
    return ranked[0]
