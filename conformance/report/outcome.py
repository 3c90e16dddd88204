"""What came of a case, as far as two runs must agree on it: nothing in it depends on the time or on process ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.observation import SAYS_NOTHING, ResultKind
from conformance.status import ExitStatus, NotReported, status_from_json

Line = Mapping[str, Any]

STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case; two outcomes are equal where nothing that the contract speaks of differs."""

    result: str
    statuses: tuple[ExitStatus, ...]
    """How each step ended."""
    losses: tuple[tuple[str, str], ...]
    """Each thing that was not as the contract has it, with what that means, unless it is documented as `anything`."""
    streams: tuple[tuple[str, int, str], ...]
    """Of each stream that differs, a step after the other: its name, its bytes and their SHA-256."""
    decisions: tuple[str | None, ...]
    """What a system that decides made of each step."""
    reason: str
    """Why nothing is known; empty where something is."""

    def __str__(self) -> str:
        statuses = ", ".join(map(str, self.statuses))
        meanings = "; ".join(meaning for subject, meaning in self.losses if subject != "status")
        words = f"{self.result} {statuses}".rstrip() + (f": {meanings}" if meanings else "")
        return words + (f": {self.reason}" if self.reason else "")


def outcome_of(line: Line) -> Outcome:
    """Return what came of the case of a result line."""
    documented = line["deviation"] if line["result"] == ResultKind.DEVIATES else None
    anything = () if documented is None else documented["anything"]
    statuses = (status_from_json(step["status"]) for step in line["steps"])
    losses = ((found["subject"], found["meaning"]) for found in line["discrepancies"])
    return Outcome(
        line["result"],
        tuple(statuses if documented is None else map(_documented, statuses)),
        tuple(loss for loss in losses if loss[0] not in anything),
        tuple(_differing(line, anything)),
        tuple(step["decision"] for step in line["steps"]),
        line["reason"] if line["result"] in SAYS_NOTHING else "",
    )


def _documented(status: ExitStatus) -> ExitStatus:
    """Return `status` without the words of a system that reports none: it is documented that it does not, not how."""
    return NotReported("as documented") if isinstance(status, NotReported) else status


def _differing(line: Line, anything: Collection[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the streams that are not as the contract has them, without those that are documented as `anything`."""
    for step in line["steps"]:
        for name in STREAMS:
            if step[name]["difference"] is not None and name not in anything:
                yield name, step[name]["bytes"], step[name]["sha256"]
