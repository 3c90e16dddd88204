"""Conditions under which what is documented of a case holds against all else that is documented of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.baseline.conditions import disjoint, separating
from conformance.baseline.evidence import Judged
from conformance.baseline.needs import applies
from conformance.baseline.patterns import UndocumentableError
from conformance.condition import Condition
from conformance.model import Deviation
from conformance.precedence import rank_of


def winning_conditions(
    members: Sequence[Judged], found: Sequence[Judged], rivals: Sequence[Deviation]
) -> tuple[Condition, ...]:
    """Return conditions that hold in the environments `members` of one case, and in no other that it was `found` in.

    Under each of them an entry that names the case by its id holds before all `rivals`, and leaves alone what these
    say of environments that no report tells of.
    Raises UndocumentableError where there are none.
    """
    unreported = [
        rival.condition for rival in rivals if not any(rival.condition.matches(judged.facts) for judged in found)
    ]

    def wins(condition: Condition) -> bool:
        return _stronger(condition, found, rivals) is None

    def wins_and_leaves_the_rest(condition: Condition) -> bool:
        return wins(condition) and all(disjoint(condition, other) for other in unreported)

    group = {judged.facts for judged in members}
    others = {judged.facts for judged in found if not any(judged is member for member in members)}
    conditions = separating(group, others, wins_and_leaves_the_rest) or separating(group, others, wins)
    if conditions:
        return conditions
    rival = _stronger(Condition(), members, rivals)
    if rival is None:
        raise UndocumentableError("it differs between environments that no condition tells apart")
    raise UndocumentableError(f"{rival.origin} documents something else of it: mend that")


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
