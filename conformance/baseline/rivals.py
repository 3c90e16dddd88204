"""Conditions under which what is documented of a case holds against all else that is documented of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.baseline.conditions import disjoint, separating, tells
from conformance.baseline.evidence import Judged
from conformance.baseline.needs import applies
from conformance.baseline.patterns import UndocumentableError
from conformance.condition import Condition
from conformance.model import Deviation
from conformance.precedence import rank_of


def winning_conditions(
    members: Sequence[Judged],
    found: Sequence[Judged],
    until_now: Condition | None,
    staying: Sequence[Deviation],
    outside: Sequence[Deviation],
) -> tuple[Condition, ...]:
    """Return conditions that hold in the environments `members` of one case, and in no other that it was `found` in.

    Under each of them an entry that names the case by its id holds before all that is `staying` in the baseline and
    all that stands `outside`, and leaves alone what these say of environments that no report tells of. The condition
    `until_now`, under which nearly the same was said, is taken where it is one of these.
    Raises UndocumentableError where there are none.
    """
    group = {judged.facts for judged in members}
    others = {judged.facts for judged in found if not any(judged is member for member in members)}
    smallest = separating(group, others, lambda condition: True)
    if not smallest:
        raise UndocumentableError("it differs between environments that no condition tells apart")
    for condition in smallest:  # with more keys it might win, and leave there a statement that nothing needs
        stronger = _stronger(condition, found, outside)
        if stronger is not None:
            raise UndocumentableError(f"{stronger.origin} documents something else of it: mend that")
    rivals = [*staying, *outside]
    unreported = [
        rival.condition for rival in rivals if not any(rival.condition.matches(judged.facts) for judged in found)
    ]

    def wins(condition: Condition) -> bool:
        return _stronger(condition, found, rivals) is None

    def wins_and_leaves_the_rest(condition: Condition) -> bool:
        return wins(condition) and all(disjoint(condition, other) for other in unreported)

    if until_now is not None and tells(until_now, group, others) and wins(until_now):
        return (until_now,)
    conditions = separating(group, others, wins_and_leaves_the_rest) or separating(group, others, wins)
    if not conditions:
        raise UndocumentableError("other entries of the baseline stand before all that could be said of it")
    return conditions


def _stronger(condition: Condition, found: Sequence[Judged], rivals: Sequence[Deviation]) -> Deviation | None:
    """Return one of `rivals` that holds before what names the case by its id under `condition`, or ties with it."""
    rank = (True, True, condition.keys)
    return next(
        (
            rival
            for judged in found
            if condition.matches(judged.facts)
            for rival in rivals
            if rival.condition.matches(judged.facts)
            and rank_of(rival, judged.case.fixture.id, judged.case.route.id) >= rank
            and applies(rival, judged)
        ),
        None,
    )
