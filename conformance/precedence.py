"""Which of several statements about a case holds: the most specific one that applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from conformance.condition import Facts
from conformance.errors import CatalogError
from conformance.model import Deviation, Expectation

Statement = TypeVar("Statement", Expectation, Deviation)


def expectation_for(expectations: Iterable[Expectation], facts: Facts) -> Expectation | None:
    """Return the expectation with the most condition keys among those that match `facts`, or None.

    Raises CatalogError that names both where two are equally specific.
    """
    matching = [expectation for expectation in expectations if expectation.condition.matches(facts)]
    return _most_specific(matching, lambda expectation: (expectation.condition.keys,))


def deviation_for(deviations: Iterable[Deviation], fixture_id: str, route_id: str, facts: Facts) -> Deviation | None:
    """Return the most specific of `deviations`, which all apply to the case: an exact id beats a glob.

    Raises CatalogError that names both where two are equally specific.
    """
    matching = [deviation for deviation in deviations if deviation.condition.matches(facts)]
    return _most_specific(
        matching,
        lambda deviation: (
            fixture_id in deviation.fixtures,
            route_id in deviation.routes,
            deviation.condition.keys,
        ),
    )


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
