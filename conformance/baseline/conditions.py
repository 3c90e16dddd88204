"""The smallest condition that tells some environments from others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, replace

from packaging.version import InvalidVersion, Version

from conformance.condition import Condition, Facts

SYSTEMS = ("linux", "macos", "windows")
"""What a condition can say of the operating system."""
_TOLD_APART_BY = (("os",), ("shell",), ("runner",), ("os", "shell"))
_LAST_RESORT = (("os", "shell", "runner"),)

Accept = Callable[[Condition], bool]


def separating(group: Collection[Facts], others: Collection[Facts], accept: Accept) -> tuple[Condition, ...]:
    """Return conditions that hold for all of `group` and for none of `others`: one, or else one an environment.

    All that are returned are ones that `accept` lets pass; there is none where no conditions do.
    """
    for condition in _candidates(group, others):
        if tells(condition, group, others) and accept(condition):
            return (condition,)
    if len(group) == 1:
        return ()
    ordered = sorted(group, key=lambda facts: sorted(asdict(facts).items()))
    parts = [separating([one], [*others, *(facts for facts in ordered if facts != one)], accept) for one in ordered]
    return tuple(condition for part in parts for condition in part) if all(parts) else ()


def disjoint(one: Condition, other: Condition) -> bool:
    """Tell whether no environment can be in both, since they want different things of it."""
    return any(
        None not in (wanted, getattr(other, key)) and wanted != getattr(other, key)
        for key, wanted in asdict(one).items()
        if key != "version"
    )


def tells(condition: Condition, group: Collection[Facts], others: Collection[Facts]) -> bool:
    """Tell whether `condition` holds for all of `group` and for none of `others`."""
    return all(map(condition.matches, group)) and not any(map(condition.matches, others))


def _candidates(group: Collection[Facts], others: Collection[Facts]) -> Iterator[Condition]:
    """Yield conditions, those that say least first."""
    yield Condition()
    yield from _alike(group, _TOLD_APART_BY)
    for version in _versions(group, others):
        for condition in _alike(group, (("shell",), ("os", "shell"))):
            yield replace(condition, version=version)
    yield from _alike(group, _LAST_RESORT)
    for version in sorted({f"=={facts.version}" for facts in group if _version(facts.version) is not None}):
        for condition in _alike(group, (("shell",), ("os", "shell"), *_LAST_RESORT)):
            yield replace(condition, version=version)


def _alike(group: Collection[Facts], choices: Collection[tuple[str, ...]]) -> Iterator[Condition]:
    """Yield a condition for each of `choices` in whose keys all of `group` are alike."""
    for keys in choices:
        found = {tuple(getattr(facts, key) for key in keys) for facts in group}
        if len(found) == 1:
            wanted = dict(zip(keys, found.pop(), strict=True))
            if all(wanted.values()) and wanted.get("os", SYSTEMS[0]) in SYSTEMS:
                yield Condition(**wanted)


def _versions(group: Collection[Facts], others: Collection[Facts]) -> Iterator[str]:
    """Yield the boundaries between the versions of `group` and those of `others` with the same shell."""
    shells = {facts.shell for facts in group}
    own = [_version(facts.version) for facts in group]
    foreign = [_version(facts.version) for facts in others if facts.shell in shells]
    versions, bounds = [v for v in own if v is not None], [v for v in foreign if v is not None]
    if len(shells) > 1 or len(versions) < len(own) or not bounds:
        return
    if max(bounds) < min(versions):
        yield f">={_boundary(max(bounds), min(versions))}"
    if max(versions) < min(bounds):
        yield f"<{_boundary(max(versions), min(bounds))}"


def _boundary(below: Version, first: Version) -> str:
    """Return the shortest version that is above `below` and not above `first`."""
    for size in range(1, len(first.release) + 1):
        boundary = ".".join(map(str, first.release[:size]))
        if below < Version(boundary) <= first:
            return boundary
    return str(first)


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
