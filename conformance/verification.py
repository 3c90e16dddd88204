"""Whether cases come out the same each time: the result lines of many runs become a verdict on each case. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from conformance.model import Seconds
from conformance.observation import SAYS_NOTHING
from conformance.report.outcome import Outcome, outcome_of

Line = Mapping[str, Any]

NEAR_A_DEADLINE = 0.8
"""A run that takes more than this part of its deadline will pass it one day, on a slower or busier machine."""


class Surroundings(StrEnum):
    """What ran beside a case: nothing of ours, or busy processes on all processors and other cases."""

    ALONE = "alone"
    BESIDE_LOAD = "beside load"


class VerdictKind(StrEnum):
    """What is known of a case after many runs, in the order in which it is told."""

    FLAKY = "flaky"
    STABLE = "stable"
    NOTHING_KNOWN = "not judged"


@dataclass(frozen=True)
class Seen:
    """One way in which a case came out."""

    outcome: Outcome
    line: Line
    """That of the first time."""
    times: Mapping[Surroundings, int]

    @property
    def total(self) -> int:
        """How often it came out so."""
        return sum(self.times.values())


@dataclass(frozen=True)
class Verdict:
    """What many runs of one case say of it."""

    id: str
    environment: str
    seen: tuple[Seen, ...]
    """The ways in which it came out, the most frequent first."""
    longest: Seconds
    """How long the longest step of all runs took."""
    deadline: Seconds | None
    """When a step of it is killed; None for a case that is to hang until then."""

    @property
    def kind(self) -> VerdictKind:
        """Whether all runs came out the same."""
        if len(self.seen) > 1:
            return VerdictKind.FLAKY
        return VerdictKind.NOTHING_KNOWN if self.seen[0].outcome.result in SAYS_NOTHING else VerdictKind.STABLE

    @property
    def near_deadline(self) -> bool:
        """Whether a run came so near its deadline that the next one may miss it."""
        return self.deadline is not None and self.longest > NEAR_A_DEADLINE * self.deadline

    @property
    def total(self) -> int:
        """How often it was run."""
        return sum(seen.total for seen in self.seen)

    def runs(self, surroundings: Surroundings) -> int:
        """Return how often it was run in `surroundings`."""
        return sum(seen.times[surroundings] for seen in self.seen)


def verdicts_of(
    observed: Iterable[tuple[Surroundings, Line]], deadlines: Mapping[str, Seconds | None]
) -> tuple[Verdict, ...]:
    """Return the verdict on each case of which there is a line: what is flaky first, then by id.

    `deadlines` holds that of each case, or None where it does not apply.
    """
    tallies: dict[str, _Tally] = {}
    for surroundings, line in observed:
        tallies.setdefault(line["id"], _Tally()).add(surroundings, line)
    verdicts = (tally.verdict(deadlines[id_]) for id_, tally in tallies.items())
    order = list(VerdictKind)
    return tuple(sorted(verdicts, key=lambda verdict: (order.index(verdict.kind), verdict.id)))


@dataclass
class _Tally:
    """What was seen of one case so far; of all lines that say the same only the first is kept."""

    lines: dict[Outcome, Line] = field(default_factory=dict)
    times: dict[Outcome, Counter[Surroundings]] = field(default_factory=dict)
    longest: float = 0.0

    def add(self, surroundings: Surroundings, line: Line) -> None:
        outcome = outcome_of(line)
        self.lines.setdefault(outcome, line)
        self.times.setdefault(outcome, Counter())[surroundings] += 1
        self.longest = max(self.longest, *(step["seconds"] for step in line["steps"]), 0.0)

    def verdict(self, deadline: Seconds | None) -> Verdict:
        seen = [Seen(outcome, line, self.times[outcome]) for outcome, line in self.lines.items()]
        first = seen[0].line
        seen.sort(key=lambda way: way.total, reverse=True)
        return Verdict(first["id"], first["environment"], tuple(seen), Seconds(self.longest), deadline)
