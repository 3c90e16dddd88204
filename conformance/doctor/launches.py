"""The smoke test of shells and routes: a few cases of the catalogue, run as any case is.

A shell that was found gets the cases that it must pass, on a route that is known to keep them: where they fail, the
shell's installation is broken. A route gets the cases that tell most of it: what it loses is no fault of the machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.catalog import Catalog
from conformance.doctor.finding import Finding, State
from conformance.model import Case, Route
from conformance.observation import Result, ResultKind

KEEPING_ROUTES: Mapping[str, Sequence[str]] = {
    "bash": ("bash-command",),
    "sh": ("sh-command",),
    "dash": ("dash-command",),
    "pwsh": ("pwsh-preserving",),
    "cmd": ("cmd-command",),
    "powershell": ("powershell5-file",),
}
"""For each shell the routes that keep what it is asked for; the first that the catalogue has is taken."""
SHELL_FIXTURES = ("exit-codes/exit-7", "mixtures/native-7-then-exit-0", "bytes/echo-1m")
ROUTE_FIXTURES = ("exit-codes/exit-7", "native-codes/native-7")
_BROKEN_SHELL = "its simplest faithful launch fails, so what routes get from it says nothing of them"
_UNDOCUMENTED = "nothing documents it, and the machine is in order as far as is known: it is worth a report"
_UNSEEN = "nothing documents it, but this shell was not seen on this system before, so it fails no run"


@dataclass(frozen=True)
class SmokeTest:
    """The cases that are to be run, and what their results say."""

    shells: Mapping[str, Sequence[Case]]
    """For each shell that was found, what it must pass."""
    routes: Sequence[tuple[Route, Sequence[Case]]]
    """Every route; one that starts a shell which was not found has no case."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case, once."""
        groups = [*self.shells.values(), *(cases for _, cases in self.routes)]
        return tuple({case.id: case for cases in groups for case in cases}.values())

    def findings(self, results: Mapping[str, Result]) -> Iterator[Finding]:
        """Judge the shells first, and then the routes that start none but those that work."""
        broken = set()
        for shell, cases in self.shells.items():
            finding = _shell_finding(shell, [results[case.id] for case in cases])
            if finding.state is State.BROKEN:
                broken.add(shell)
            yield finding
        for route, cases in self.routes:
            if not cases or broken.intersection(route.shells):
                shells = " or ".join(broken.intersection(route.shells) or route.shells)
                yield Finding(f"route/{route.id}", State.NOT_TRIED, f"{shells} is missing or broken")
            else:
                yield _route_finding(route, [results[case.id] for case in cases])


def smoke_test(catalog: Catalog, sound_shells: Collection[str]) -> SmokeTest:
    """Return the smoke test of `sound_shells`, and of the routes of `catalog` that start no other."""
    sound = {route.id: route for route in catalog.routes if set(route.shells) <= set(sound_shells)}
    keeping = {shell: [id_ for id_ in KEEPING_ROUTES.get(shell, ()) if id_ in sound][:1] for shell in sound_shells}
    return SmokeTest(
        {shell: _cases(catalog, sound[id_], SHELL_FIXTURES) for shell, ids in keeping.items() for id_ in ids},
        [(route, _cases(catalog, route, ROUTE_FIXTURES) if route.id in sound else ()) for route in catalog.routes],
    )


def _cases(catalog: Catalog, route: Route, ids: Sequence[str]) -> tuple[Case, ...]:
    fixtures = [fixture for fixture in catalog.fixtures if fixture.id in ids]
    return tuple(Case(fixture, route) for fixture in fixtures if route.takes(fixture))


def _shell_finding(shell: str, results: Sequence[Result]) -> Finding:
    id_ = f"smoke/{shell}"
    lost = [result for result in results if result.kind not in (ResultKind.PASS, ResultKind.DEVIATES, ResultKind.FIXED)]
    if lost:
        mend = f"conformance run --fixture '{_fixture(lost[0])}' --route {_route(lost[0])}; then install {shell} anew"
        return Finding(id_, State.BROKEN, _reasons(lost), _BROKEN_SHELL, mend)
    return Finding(id_, State.OK, f"passes {', '.join(_fixture(result) for result in results)}")


def _route_finding(route: Route, results: Sequence[Result]) -> Finding:
    id_ = f"route/{route.id}"
    broken = [result for result in results if result.kind is ResultKind.ERROR]
    if broken:
        return Finding(id_, State.BROKEN, _reasons(broken), "an error says nothing of the route", _rerun(broken))
    other = [result for result in results if result.kind in (ResultKind.FAIL, ResultKind.FIXED)]
    if other:
        gates = any(result.gates for result in other)
        state, why = (State.DIFFERS, _UNDOCUMENTED) if gates else (State.WARNING, _UNSEEN)
        return Finding(id_, state, _reasons(other), why, _rerun(other))
    kept = [result for result in results if result.kind is ResultKind.PASS]
    losses = [result for result in results if result.kind is ResultKind.DEVIATES]
    if losses:
        return Finding(id_, State.LOSES, "; ".join(f"{_fixture(result)} ({_loss(result)})" for result in losses))
    if not kept:
        return Finding(id_, State.NOT_TRIED, _reasons(results))
    return Finding(id_, State.OK, f"keeps {', '.join(_fixture(result) for result in kept)}")


def _fixture(result: Result) -> str:
    return result.id.rpartition("/")[0]


def _route(result: Result) -> str:
    return result.id.rpartition("/")[2]


def _reasons(results: Sequence[Result]) -> str:
    return "; ".join(f"{_fixture(result)}: {result.reason.partition(chr(10))[0].rstrip('.')}" for result in results)


def _loss(result: Result) -> str:
    return "; ".join(f"{found.difference}: {found.meaning}" for found in result.discrepancies)


def _rerun(results: Sequence[Result]) -> str:
    return f"conformance run {' '.join(f'-k {result.id}' for result in results)}"
