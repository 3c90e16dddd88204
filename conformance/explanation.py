"""Everything that is known of one case that was run, as one JSON value: what a bug report needs.

Nothing of it is private: paths are named as in a report.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import conformance
from conformance.campaign import describe_environment
from conformance.catalog import Catalog, covers
from conformance.condition import Condition, Facts
from conformance.contract import Terms, departs, discrepancies, facts_of, pattern_text
from conformance.description import (
    describe_condition,
    describe_deviation,
    describe_expectation,
    describe_fixture,
    describe_route,
)
from conformance.engine import terms_of
from conformance.errors import CatalogError, HarnessError
from conformance.model import ADAPTER, ONE_SHOT, Case, Deviation, Expectation, Happens, Route, Started, Step
from conformance.observation import Result, ResultKind
from conformance.payload import Payload, sha256
from conformance.process.capture import HEAD_BYTES, TAIL_BYTES
from conformance.report.codec import encode_bytes, result_line
from conformance.routes.expressible import why_skipped
from conformance.routes.needs import look_up_needs
from conformance.runners import Runner
from conformance.runners.local import documented_environment, public_path
from conformance.runners.recording import LaunchRecord
from conformance.status import FailedToStart, TimedOut, status_to_json


def explain(
    catalog: Catalog, case: Case, runner: Runner, result: Result, records: Sequence[LaunchRecord]
) -> dict[str, Any]:
    """Return what is known of `case`, which gave `result` when it was launched as `records` say.

    Raises CatalogError where two expectations or deviations tie.
    """
    terms = terms_of(catalog, case, result.environment)
    facts = facts_of(case, result.environment)
    line = result_line(result)
    return {
        "case": case.id,
        "result": line["result"],
        "provisional": result.provisional,
        "reason": result.reason,
        "environment": str(result.environment),
        "basis": line["basis"],
        "driven": line["system"],
        "suite": catalog.digest,
        "version": conformance.__version__,
        **_machine(case, runner),
        "dialect": case.dialect,
        **_fixture(case),
        "route": _public(describe_route(case.route)),
        "launches": [_launch(record, case.route) for record in _last_of_each_step(records, result)],
        "steps": [
            {
                "contract": _contract(case, step, expectation),
                "came": line["steps"][index] if line["steps"] else None,
                "differences": _differences(case, index, expectation, result),
                "rule": describe_expectation(expectation),
                "other_rules": list(_other_rules(step, expectation, facts)),
            }
            for index, (step, expectation) in enumerate(zip(case.fixture.steps, terms.expectations, strict=True))
        ],
        "deviation": _deviation(terms, result),
        "other_deviations": list(_other_deviations(catalog, case, terms, facts)),
        "other_routes": list(_other_routes(catalog, case, runner)),
    }


def _machine(case: Case, runner: Runner) -> dict[str, Any]:
    described = describe_environment([case], runner)
    return {"system": described["system"], "shells": described["shells"]}


def _fixture(case: Case) -> dict[str, Any]:
    described = describe_fixture(case.fixture, (case.dialect,))
    for step in described.get("steps", [described]):
        del step["expectations"]  # they are the rules
        step["body"] = step["body"][case.dialect]
    return {"fixture": described}


def _public(value: Any) -> Any:
    """Return `value` with the names of private folders taken out of its texts."""
    if isinstance(value, str):
        return public_path(value)
    if isinstance(value, dict):
        return {name: _public(item) for name, item in value.items()}
    return [_public(item) for item in value] if isinstance(value, list) else value


def _last_of_each_step(records: Sequence[LaunchRecord], result: Result) -> Iterator[LaunchRecord]:
    """Yield the launches that `result` tells of: a step may have several, of which it keeps the last."""
    steps = result.observation.steps if result.observation is not None else ()
    lasts = set(itertools.accumulate(step.repetition for step in steps))
    return (record for number, record in enumerate(records, start=1) if number in lasts or not steps)


def _launch(record: LaunchRecord, route: Route) -> dict[str, Any]:
    launch = record.launch
    return {
        "argv": [public_path(argument) for argument in launch.argv],
        "body": public_path(record.body),
        "files": [
            {
                "path": public_path(path),
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "text": public_path(data.decode("utf-8", "backslashreplace")),
            }
            for path, data in record.files
        ],
        "directory": public_path(launch.directory),
        "environment": documented_environment(launch.environment),
        "stdin": _payload(launch.stdin),
        "deadline": {
            "seconds": launch.deadline,
            "counts_from": "the launch" if launch.started_file is None else "the first mark of the body",
        },
        "timeline": list(_timeline(record, route)),
    }


def _payload(payload: Payload) -> dict[str, Any]:
    return {
        "description": payload.describe(),
        "bytes": payload.length,
        "sha256": sha256(payload),
        "head": encode_bytes(payload.slice(0, HEAD_BYTES)),
        "tail": encode_bytes(payload.slice(max(0, payload.length - TAIL_BYTES), payload.length)),
    }


_BEGINNINGS = {ONE_SHOT: ("launched", "process"), ADAPTER: ("asked of the adapter", "body, as the adapter says,")}
"""How a body begins, and what ends, for the kinds of routes that have no session."""


def _timeline(record: LaunchRecord, route: Route) -> Iterator[dict[str, Any]]:
    """Yield what happened when; the witness record is looked at once a millisecond, and later on a busy machine.

    What nobody was left to note after the end was noted before it, however late it was seen.
    """
    completed = record.completed
    beginning, ending = _BEGINNINGS.get(route.kind, ("handed to the session", "body"))
    if isinstance(completed.status, FailedToStart):
        yield {"seconds": 0.0, "event": f"the launch failed: {completed.status}"}
        return
    ended = (
        "the deadline came, and the whole tree was killed"
        if isinstance(completed.status, TimedOut)
        else f"the {ending} ended: {completed.status}"
    )
    left = "".join(f"; killed then: {leftover.pid} {leftover.command}" for leftover in completed.leftovers)
    events = [(0.0, beginning)]
    last = record.cleared if completed.leftovers else completed.seconds
    events += [(min(note.seconds, last), f"the body noted: {public_path(note.line)}") for note in record.notes]
    events += [(completed.seconds, ended), (record.cleared, f"all pipes closed, nothing runs any more{left}")]
    if not record.notes:
        events.append((record.cleared, "the body has never left a mark"))
    for seconds, event in sorted(events, key=lambda pair: pair[0]):
        yield {"seconds": seconds, "event": event}


def _contract(case: Case, step: Step, expectation: Expectation) -> dict[str, Any]:
    wanted = expectation.received_bytes
    return {
        "status": status_to_json(expectation.status),
        "stdout": _payload(expectation.stdout) if expectation.stdout is not None else None,
        "stderr": _payload(expectation.stderr) if expectation.stderr is not None else None,
        "started": None if case.fixture.started is Started.UNPROVABLE else case.fixture.started is Started.YES,
        "received": None if wanted is None else {"bytes": wanted, "sha256": sha256(step.stdin, wanted)},
    }


def _differences(case: Case, index: int, expectation: Expectation, result: Result) -> list[dict[str, str]]:
    if result.observation is None:
        return []
    observed = result.observation.steps[index]
    return [
        {
            "subject": found.subject,
            "difference": found.difference,
            "meaning": found.meaning,
            "evidence": found.evidence,
        }
        for found in discrepancies(case, case.fixture.steps[index], expectation, observed)
    ]


def _other_rules(step: Step, held: Expectation, facts: Facts) -> Iterator[dict[str, Any]]:
    for expectation in step.expectations:
        if expectation is not held:
            yield {**describe_expectation(expectation), "lost_because": _why_not(expectation.condition, held, facts)}


def _why_not(condition: Condition, held: Expectation | Deviation | None, facts: Facts) -> str:
    unmet = [
        f"{name} is {getattr(facts, name)!r} here, not {wanted!r}"
        for name, wanted in describe_condition(condition).items()
        if not Condition(**{name: wanted}).matches(facts)
    ]
    if unmet:
        return f"its condition does not hold: {'; '.join(unmet)}"
    assert held is not None, "one whose condition holds loses to another only"
    return f"it is less specific than the one at {held.origin}, which holds as well"


def _deviation(terms: Terms, result: Result) -> dict[str, Any] | None:
    if terms.deviation is None:
        return None
    happened = {
        ResultKind.DEVIATES: "exactly this happened",
        ResultKind.FIXED: "it did not happen: the contract was kept",
        ResultKind.FAIL: "something else happened",
    }
    if terms.deviation.happens is Happens.SOMETIMES:
        happened |= {
            ResultKind.PASS: "not this time: the contract was kept, as it sometimes is",
            ResultKind.DEVIATES: "one of these happened this time",
        }
    return {
        **describe_deviation(terms.deviation),
        "happened": happened.get(result.kind, "nothing can be said of it, since the case was not run"),
    }


def _other_deviations(catalog: Catalog, case: Case, terms: Terms, facts: Facts) -> Iterator[dict[str, Any]]:
    for deviation in catalog.deviations:
        if covers(deviation, case) and deviation is not terms.deviation:
            applies = any(departs(deviation, case.fixture.started, held) for held in terms.expectations)
            because = (
                _why_not(deviation.condition, terms.deviation, facts)
                if applies
                else "what it documents is what the contract asks for in this case"
            )
            yield {**describe_deviation(deviation), "lost_because": because}


def _other_routes(catalog: Catalog, case: Case, runner: Runner) -> Iterator[dict[str, Any]]:
    """Yield what the same body is documented to give on the other routes that would take it."""
    for other in catalog.cases():
        if other.fixture is case.fixture and other.route is not case.route and other.dialect == case.dialect:
            key = runner.environment_key(other.route)
            try:
                terms = terms_of(catalog, other, key)
            except CatalogError:  # a tie is told when that case is run
                continue
            wanted = terms.expectations[-1].status
            skipped = why_skipped(other)
            kept = terms.deviation is None and skipped is None
            yield {
                "case": other.id,
                "environment": str(key),
                "available": _available(other, runner),
                "judged_by": other.route.judged_by,
                "contract": status_to_json(wanted),
                "documented": None if terms.deviation is None else pattern_text(terms.deviation),
                "reason": None if terms.deviation is None else terms.deviation.reason,
                "skipped": skipped,
                "keeps": kept and other.route.kind != ADAPTER,
                "keeps_or_skips": kept and other.route.kind == ADAPTER,
                "provisional": terms.provisional,
            }


def _available(case: Case, runner: Runner) -> bool:
    try:
        look_up_needs(case.route, runner)
    except HarnessError:
        return False
    return True
