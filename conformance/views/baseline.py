"""What an update did with a baseline, line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from conformance.baseline.changes import Change, Fate, agreeing, changes_of, counts, headline
from conformance.baseline.place import quoted
from conformance.baseline.revision import Revision

SHOWN_IDS = 3


def told(revision: Revision, name: str, route_file: str) -> Iterator[str]:
    """Yield what became of the baseline called `name`, of the routes in `route_file`."""
    changes = changes_of(revision.slots)
    yield f"{name}: {counts(changes)}"
    for change in changes:
        if change.fate is not Fate.KEPT:
            yield from _change(change)
    left: dict[str, list[str]] = defaultdict(list)
    for id_, why in {**revision.left, **revision.evidence.refused}.items():
        left[why].append(id_)
    for why, ids in left.items():
        yield f"left      {_some(ids)}: {why}"
    broken = sorted(revision.evidence.broken)
    if broken:
        yield f"broken    {_some(broken)}: an error says nothing of a route, so nothing was made of it"
    for entry, count, ids in agreeing(revision):
        command = f"conformance verify {' '.join(ids[:SHOWN_IDS])} --route {quoted(route_file)} -n 20"
        yield f"flaky?    {headline(entry)}"
        yield f"          all {count} reports agree: verify with `{command}`, then delete it"


def _change(change: Change) -> Iterator[str]:
    yield f"{change.fate:<9} {headline(change.entry)}"
    for detail in change.details:
        yield f"          {detail}"
    if change.fate is Fate.ADDED and not (change.entry.reason and change.entry.url):
        yield "          needs a reason and a URL"


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - SHOWN_IDS
    return ", ".join(ids[:SHOWN_IDS]) + (f" and {more} more" if more > 0 else "")
