"""What a run or a report comes to, in a sentence: the same in every view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.errors import ALL_AS_DOCUMENTED
from conformance.report.results import Told

WRONG = ("error", "fail", "fixed")
"""The results that are told first, in this order."""


@dataclass(frozen=True)
class Verdict:
    """The sentence, and whether all is well."""

    sentence: str
    is_good: bool


def verdict(told: Told) -> Verdict:
    """Return what `told` comes to: what is wrong with it, or that nothing is."""
    wrong = ", ".join(_wrong(told))
    total = counted(sum(told.results.counts().values()), "result")
    if told.cut_short:
        return Verdict(f"incomplete: {told.cut_short}" + (f"; {wrong}" if wrong else ""), is_good=False)
    if told.exit_code == ALL_AS_DOCUMENTED:
        but = f", but for {wrong}" if wrong else ""
        return Verdict(f"{total}, all as documented{but}", is_good=True)
    return Verdict(f"{wrong or f'exit code {told.exit_code}'}, in {total}", is_good=False)


def _wrong(told: Told) -> Iterator[str]:
    counts = told.results.counts()
    yield from (f"{counts[kind]} {kind}" for kind in WRONG if counts.get(kind))
    if told.findings:
        yield counted(len(told.findings), "finding")
    provisional = sum(counts.get(kind, 0) for kind in ("fail", "fixed")) - told.results.gating
    if provisional:
        yield f"{provisional} of these provisional"
    if told.lacks_a_shell:
        yield "a required shell is missing"


def counted(count: int, noun: str) -> str:
    """Return `count` with its noun: 1 case, 2 cases."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
