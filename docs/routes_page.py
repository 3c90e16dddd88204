"""`docs/routes.md`: what each route of the full matrix loses, as a report saw it and the matrices document it."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.catalog import Catalog
from conformance.contract import departs
from conformance.engine import terms_of
from conformance.model import Case, Deviation, EnvironmentKey, Expectation, Route, Started
from conformance.observation import ResultKind
from conformance.status import Exited, ExitStatus, FailedToStart, Signalled, TimedOut, satisfies, signal_name

_ENVIRONMENTS = re.compile(r"^<!-- environments: (\{.*\}) -->$", re.MULTILINE)

INTRODUCTION = """\
# What each route loses

This page is made from `matrices/core.toml`, `matrices/full.toml`, `matrices/sessions.toml` and the report of a run of
every fixture through every route that can take it (`python3 -m docs`); a test fails when it no longer agrees with them.
{seen}

A *route* is one way to launch a hook, a *fixture* is a hook with what must come of it ([contract.md](contract.md)).
`7 → 1` says that the contract asks for 7 and 1 arrived. Every loss is documented in the matrices with its source, and a
run in which it does not happen exactly so fails. `conformance show ID` tells all about a fixture,
`conformance explain FIXTURE/ROUTE` runs one case and tells what happened.

The worst loss comes first: a failure that arrives as 0, so that a hook which denies lets the tool run.

| route | judged by | kept | failure → 0 | success → failure | another code | bytes or start | cannot express |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Seen:
    """What a report says of a case."""

    environment: str
    result: str


@dataclass(frozen=True)
class Loss:
    """A documented departure that happened in a case."""

    case: Case
    expectation: Expectation
    deviation: Deviation

    @property
    def arrives(self) -> str:
        """The status that the contract asks for and the one that arrives, or which bytes differ."""
        observed, wanted = self.deviation.observed[0], self.expectation.status
        if self._other_status is not None:
            return f"{_short(wanted)} → {_short(self._other_status)}"
        if observed.started is Started.YES:
            return f"{_short(wanted)}, although the hook must not start"
        if observed.started is Started.NO:
            return f"{_short(wanted)}, although the hook did not start"
        return " and ".join(name for name in ("stdout", "stderr") if getattr(observed, name) is not None)

    @property
    def column(self) -> str:
        """The column of the overview that counts it."""
        if self._other_status is None:
            return "bytes"
        if self._other_status == Exited(0):
            return "failure"
        return "success" if self.expectation.status == Exited(0) else "another"

    @property
    def _other_status(self) -> ExitStatus | None:
        status = self.deviation.observed[0].status
        return None if status is None or satisfies(self.expectation.status, status) else status


def environments_of(page: str) -> dict[str, str]:
    """Return the environment key of each route's results, as the page tells them."""
    found = _ENVIRONMENTS.search(page)
    if found is None:
        raise ValueError("the page does not say on what its results were got")
    environments: dict[str, str] = json.loads(found[1])
    return environments


def routes_page(catalog: Catalog, seen: Mapping[str, Seen]) -> str:
    """Return the page; `seen` holds what the report says of every case of `catalog`, by id."""
    cases = [case for case in catalog.cases() if case.id in seen]
    environments = {case.route.id: seen[case.id].environment for case in cases}
    shells = sorted({(key.shell, key.version) for key in map(EnvironmentKey.parse, environments.values())})
    systems = sorted({f"{key.os} {key.architecture}" for key in map(EnvironmentKey.parse, environments.values())})
    on = f"The run was on {' and '.join(systems)}, with {', '.join(f'{shell} {version}' for shell, version in shells)}."
    base_first = sorted(catalog.matrices, key=lambda matrix: matrix.extends is not None)
    routes = [route for matrix in base_first for route in matrix.routes if route.id in environments]
    sections = [_Section(catalog, route, cases, seen) for route in routes]
    return "".join(
        [
            INTRODUCTION.format(seen=on),
            *(section.row() for section in sections),
            f"\n<!-- environments: {json.dumps(environments, sort_keys=True)} -->\n",
            *(section.text() for section in sections),
        ]
    )


class _Section:
    """What the page says of one route."""

    def __init__(self, catalog: Catalog, route: Route, cases: Iterable[Case], seen: Mapping[str, Seen]) -> None:
        self._route = route
        own = [case for case in cases if case.route is route]
        self._results = Counter(seen[case.id].result for case in own)
        self._losses = list(_losses(catalog, own, seen))
        documented = {ResultKind.PASS, ResultKind.DEVIATES, ResultKind.SKIPPED}
        self._other = [f"{case.id}: {seen[case.id].result}" for case in own if seen[case.id].result not in documented]

    def row(self) -> str:
        """Return the route's row of the overview."""
        total = self._results.total() - self._results[ResultKind.SKIPPED]
        columns = Counter(loss.column for loss in self._losses)
        counts = [columns[name] or "" for name in ("failure", "success", "another", "bytes")]
        kept = f"{self._results[ResultKind.PASS]} of {total}"
        cells = (f"[{self._route.id}](#{self._route.id})", self._route.judged_by, kept, *counts)
        return f"| {' | '.join(map(str, cells))} | {self._results[ResultKind.SKIPPED] or ''} |\n"

    def text(self) -> str:
        """Return the route's section."""
        parts = [f"\n## {self._route.id}\n\n", *_launch(self._route), f"\nSource: <{self._route.source}>\n"]
        if not self._losses and not self._other:
            parts.append("\nIt keeps every fixture.\n")
        groups: dict[Deviation, list[Loss]] = {}
        for loss in self._losses:
            groups.setdefault(loss.deviation, []).append(loss)
        for deviation, losses in sorted(groups.items(), key=lambda group: _rank(group[1])):
            arrivals = Counter(loss.arrives for loss in losses)
            arrows = ", ".join(arrival for arrival, _ in sorted(arrivals.items(), key=lambda item: (-item[1], item[0])))
            ids = ", ".join(f"`{loss.case.fixture.id}`" for loss in losses)
            parts.append(f"\n- **{arrows}** — {deviation.reason} ([source]({deviation.url})): {ids}\n")
        parts += [f"\n- **not as documented**: {other}\n" for other in self._other]
        return "".join(parts)


def _losses(catalog: Catalog, cases: Iterable[Case], seen: Mapping[str, Seen]) -> Iterator[Loss]:
    for case in cases:
        if seen[case.id].result == ResultKind.DEVIATES:
            terms = terms_of(catalog, case, EnvironmentKey.parse(seen[case.id].environment))
            assert terms.deviation is not None, "what deviates is documented"
            missed = next(e for e in terms.expectations if departs(terms.deviation, case.fixture.started, e))
            yield Loss(case, missed, terms.deviation)


def _rank(losses: Sequence[Loss]) -> tuple[int, int]:
    worst = min(("failure", "success", "another", "bytes").index(loss.column) for loss in losses)
    return worst, -len(losses)


def _launch(route: Route) -> Iterator[str]:
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in route.environment.items())
    yield f"```text\n{variables}{shlex.join(route.argv)}\n```\n"
    texts = {"Standard input": route.stdin} if route.stdin is not None else {}
    if route.dialogue is not None:
        texts["Sent for a body"] = route.dialogue.request
    texts |= {f"`{{{{file:{name}}}}}`": text for name, text in route.files.items() if len(text) < 1000}
    for name, text in texts.items():
        yield f"\n{name}:\n\n```text\n{text.rstrip()}\n```\n"


def _short(status: ExitStatus) -> str:
    match status:
        case Exited(code):
            return str(code)
        case Signalled(number):
            return signal_name(number)
        case TimedOut():
            return "hangs"
        case FailedToStart():
            return "cannot be started"
    return str(status)
