"""What must be documented of a case in an environment, so that a run there is as documented. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.baseline.evidence import Judged
from conformance.baseline.patterns import pattern_of, pattern_table
from conformance.catalog import covers
from conformance.contract import Terms, departs, judge
from conformance.model import Deviation, Happens, ObservedPattern
from conformance.observation import Observation, ResultKind
from conformance.precedence import deviation_for

_AS_DOCUMENTED = (ResultKind.PASS, ResultKind.DEVIATES)
_KEPT = (ResultKind.PASS, ResultKind.FIXED)


@dataclass(frozen=True)
class Need:
    """What must be documented. Without a reason where nobody has given one yet."""

    happens: Happens
    observed: tuple[ObservedPattern, ...]
    reason: str = ""
    url: str = ""

    @classmethod
    def met_by(cls, deviation: Deviation) -> Need:
        """Return the need that `deviation` meets."""
        return cls(deviation.happens, deviation.observed, deviation.reason, deviation.url)

    def documents_as(self, other: Need) -> bool:
        """Tell whether both document the same, whatever their reasons."""
        return self.happens is other.happens and frozenset(self.observed) == frozenset(other.observed)

    def alike(self, other: Need) -> bool:
        """Tell whether both document the same, and no reasons stand against that."""
        reasonless = not self.reason or not other.reason
        return self.documents_as(other) and (reasonless or (self.reason, self.url) == (other.reason, other.url))


@dataclass(frozen=True)
class State:
    """Whether a case came out as documented in an environment, and what must be documented of it there."""

    settled: bool
    need: Need | None


def held_by(judged: Judged, deviations: Iterable[Deviation]) -> Deviation | None:
    """Return the one of `deviations` that a case is judged by.

    Raises CatalogError where two of them tie.
    """
    applicable = [deviation for deviation in deviations if applies(deviation, judged)]
    return deviation_for(applicable, judged.case.fixture.id, judged.case.route.id, judged.facts)


def applies(deviation: Deviation, judged: Judged) -> bool:
    """Tell whether `deviation` says something of a case, whatever its condition."""
    started = judged.case.fixture.started
    return covers(deviation, judged.case) and any(departs(deviation, started, e) for e in judged.expectations)


def kept(judged: Judged) -> bool:
    """Tell whether all reports say that the contract was kept."""
    return all(kind is ResultKind.PASS for kind in kinds(judged, None))


def kinds(judged: Judged, held: Deviation | None) -> list[ResultKind]:
    """Return what each report is a result of, where `held` is documented."""
    return [kind_of(judged, observation, held) for observation in judged.observations]


def kind_of(judged: Judged, observation: Observation, held: Deviation | None) -> ResultKind:
    """Return what `observation` is a result of, where `held` is documented."""
    terms = Terms(judged.expectations, held, provisional=False)
    return judge(judged.case, terms, observation, judged.key).kind


def state_of(judged: Judged, held: Deviation | None) -> State:
    """Return the state of a case that is judged by `held`.

    Raises UndocumentableError where something came that no pattern tells.
    """
    found = kinds(judged, held)
    if all(kind in _AS_DOCUMENTED for kind in found):
        return State(settled=True, need=None if held is None else Need.met_by(held))
    sometimes = held is not None and held.happens is Happens.SOMETIMES
    inherited = held.observed if held is not None and (sometimes or ResultKind.DEVIATES in found) else ()
    came = {
        pattern_of(judged.case, judged.expectations, observation)
        for kind, observation in zip(found, judged.observations, strict=True)
        if kind is ResultKind.FAIL
    }
    observed = (*inherited, *sorted(came - set(inherited), key=lambda pattern: str(pattern_table(pattern))))
    if not observed:
        return State(settled=False, need=None)
    always = len(observed) == 1 and not sometimes and not any(kind in _KEPT for kind in found)
    happens = Happens.ALWAYS if always else Happens.SOMETIMES
    reason, url = (held.reason, held.url) if held is not None and inherited else ("", "")
    return State(settled=False, need=Need(happens, observed, reason, url))
