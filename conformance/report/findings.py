"""What the results of a run come to as a whole: a pure pass over the result lines of a report.

It is checked against the unfiltered catalogue, so that a selection, a shard or a worker cannot change what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from conformance.baseline.breadth import too_broad
from conformance.baseline.place import REPORT, in_baseline, mending
from conformance.catalog import Catalog, covers
from conformance.contract import facts_of
from conformance.errors import code_of
from conformance.model import ONE_SHOT, Case, Deviation, EnvironmentKey
from conformance.observation import SAYS_NOTHING, gates
from conformance.report.agreement import disagreements
from conformance.report.fingerprint import misstated

Line = Mapping[str, Any]


def judge_run(lines: Iterable[Line], catalog: Catalog) -> list[str]:
    """Return what is wrong with a run though no single result shows it, a sentence each."""
    told = {line["id"]: line for line in lines}
    ran = {id_: line for id_, line in told.items() if line["steps"]}
    return [
        *_unused_deviations(ran, catalog),
        *_too_broad(told, catalog),
        *disagreements(ran, catalog),
        *misstated(ran, catalog),
    ]


def _unused_deviations(ran: Mapping[str, Line], catalog: Catalog) -> list[str]:
    """Say which deviations are stale.

    A deviation is unused when all cases that its patterns take in were run under its condition and none needed it: the
    contract asks for just what it documents, or more specific ones stand before it. A run of a part says nothing.
    """
    cases = catalog.cases()
    return [
        f"{deviation.origin}: the deviation is unused: it applies to none of the {len(covered)} cases it names. "
        + (
            f"{mending(deviation, REPORT)} takes it out."
            if in_baseline(deviation)
            else "Delete it, or mend its patterns."
        )
        for deviation in catalog.deviations
        for covered in [[case for case in cases if covers(deviation, case)]]
        if all(case.id in ran for case in covered)
        and any(
            deviation.condition.matches(facts_of(case, EnvironmentKey.parse(ran[case.id]["environment"])))
            for case in covered
        )
        and not any(_origin(ran[case.id]) == str(deviation.origin) for case in covered)
    ]


def _too_broad(told: Mapping[str, Line], catalog: Catalog) -> Iterator[str]:
    """Yield which entries of baselines name many cases that do not need them. A run of a part says nothing."""
    for deviation in filter(in_baseline, catalog.deviations):
        named = [case for case in catalog.cases() if covers(deviation, case)]
        if not all(case.id in told for case in named):
            continue
        judged = [told[case.id] for case in named if _holds(deviation, case, told[case.id])]
        needing = [line for line in judged if _origin(line) == str(deviation.origin) and line["result"] != "fixed"]
        if needing and too_broad(deviation, len(needing), len(judged)):
            yield (
                f"{deviation.origin}: the deviation is too broad: {len(needing)} of the {len(judged)} cases that it "
                f"names need it. {mending(deviation, REPORT)} narrows it to these."
            )


def _holds(deviation: Deviation, case: Case, line: Line) -> bool:
    key = EnvironmentKey.parse(line["environment"])
    return line["result"] not in SAYS_NOTHING and deviation.condition.matches(facts_of(case, key))


def _origin(line: Line) -> str | None:
    return None if line["deviation"] is None else str(line["deviation"]["origin"])


def missing_shells(lines: Iterable[Line], catalog: Catalog) -> list[str]:
    """Return the shells that the matrices require, that these cases need, and that were not there.

    Where it is only sessions that cannot be held, the shell was found, and its version is known.
    """
    unavailable = {line["route"]: line["environment"] for line in lines if line["result"] == "unavailable"}
    needed = {
        shell
        for route in catalog.routes
        if route.id in unavailable
        and (route.kind == ONE_SHOT or EnvironmentKey.parse(unavailable[route.id]).version == "unknown")
        for shell in route.shells
    }
    return sorted(needed & catalog.required)


def missing_statement(shell: str, option: str) -> str:
    """Say that a required `shell` is missing; `option` is the one that goes without."""
    return (
        f"{shell} is required and missing, so this run proves nothing about it; "
        f"install it, or pass {option} to go without"
    )


def exit_code(lines: Sequence[Line], findings: Sequence[str], missing: Sequence[str]) -> int:
    """Return the exit code of a run that went through all of its cases: broken wins over different."""
    broken = bool(missing) or any(line["result"] == "error" for line in lines)
    return code_of(broken=broken, differs=bool(findings) or any(map(line_gates, lines)))


def line_gates(line: Line) -> bool:
    """Whether the result in `line` makes a run fail."""
    return gates(line["result"], provisional=line["provisional"])
