"""Judge what happened against the contract and what is documented to deviate from it. Everything here is pure."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.baseline.place import REPORT, in_baseline, mending
from conformance.condition import Facts
from conformance.diagnosis import status_discrepancy, stream_discrepancy
from conformance.documented import agreed_subjects, named_subjects, pattern_departs
from conformance.model import Case, Deviation, EnvironmentKey, Expectation, Happens, ObservedPattern, Started, Step
from conformance.observation import Basis, CapturedStream, Discrepancy, Observation, Result, ResultKind, StepObservation
from conformance.payload import Payload, sha256
from conformance.precedence import deviation_for
from conformance.status import FailedToStart, satisfies

_SHELLS_OF_DIALECT = {
    "sh": {"sh", "bash", "dash"},
    "bash": {"bash"},
    "pwsh": {"pwsh"},
    "powershell5": {"powershell"},
    "cmd": {"cmd"},
}


@dataclass(frozen=True)
class Terms:
    """All that a case is judged by: one expectation a step, and the deviations that cover the case."""

    expectations: tuple[Expectation, ...]
    deviation: Deviation | None
    provisional: bool


def terms_for(case: Case, expectations: Sequence[Expectation], deviations: Iterable[Deviation], facts: Facts) -> Terms:
    """Return the terms of `case`.

    `deviations` are those whose patterns cover the case. One whose observation is what the contract asks for says
    nothing about this case and does not apply.

    Raises CatalogError where two deviations tie.
    """
    applicable = [d for d in deviations if any(departs(d, case.fixture.started, e) for e in expectations)]
    return Terms(
        expectations=tuple(expectations),
        deviation=deviation_for(applicable, case.fixture.id, case.route.id, facts),
        provisional=not all(_was_seen(expectation, case, facts) for expectation in expectations),
    )


def _was_seen(expectation: Expectation, case: Case, facts: Facts) -> bool:
    shells = {facts.shell} if case.route.shells else _SHELLS_OF_DIALECT[facts.dialect]
    return any(sighting.shell in shells and sighting.os == facts.os for sighting in expectation.seen)


def departs(deviation: Deviation, started: Started, expectation: Expectation) -> bool:
    """Tell whether what `deviation` documents differs from what the contract asks for at all."""
    return any(pattern_departs(pattern, started, expectation) for pattern in deviation.observed)


def discrepancies(case: Case, step: Step, expectation: Expectation, observed: StepObservation) -> list[Discrepancy]:
    """Return every departure of `observed` from the contract, the most telling first."""
    found = []
    if not satisfies(expectation.status, observed.status):
        found.append(status_discrepancy(expectation.status, observed.status))
    found += _started_discrepancy(case, observed)
    found += _stdin_discrepancy(step, expectation, observed)
    for name, captured, expected, other in _streams(expectation, observed):
        if expected is not None and captured.difference is not None:
            found.append(stream_discrepancy(name, captured, expected, other))
    return found


def _streams(
    expectation: Expectation, observed: StepObservation
) -> tuple[tuple[str, CapturedStream, Payload | None, Payload | None], ...]:
    return (
        ("stdout", observed.stdout, expectation.stdout, expectation.stderr),
        ("stderr", observed.stderr, expectation.stderr, expectation.stdout),
    )


def _started_discrepancy(case: Case, observed: StepObservation) -> list[Discrepancy]:
    marks = observed.witness.marks
    if case.fixture.started is Started.YES and not marks:
        return [
            Discrepancy(
                "started",
                "the body left no mark",
                "the hook never started, so its exit code says nothing of it",
            )
        ]
    if case.fixture.started is Started.NO and marks:
        return [
            Discrepancy("started", f"{marks} statements of the body left a mark", "a hook started that must not start")
        ]
    return []


def _stdin_discrepancy(step: Step, expectation: Expectation, observed: StepObservation) -> list[Discrepancy]:
    wanted = expectation.received_bytes
    if wanted is None:
        return []
    got = observed.witness.received
    if any((record.length, record.sha256) == (wanted, sha256(step.stdin, wanted)) for record in got):
        return []
    came = ", ".join(f"{record.length} bytes with SHA-256 {record.sha256}" for record in got) or "nothing"
    return [
        Discrepancy(
            "stdin",
            f"stdin: expected the hook to receive the first {wanted} bytes "
            f"(SHA-256 {sha256(step.stdin, wanted)}), it received {came}",
            "the hook did not get the standard input that it was sent",
        )
    ]


@dataclass(frozen=True)
class _Departure:
    """A step that came out otherwise than the contract has it."""

    expectation: Expectation
    observed: StepObservation
    discrepancies: tuple[Discrepancy, ...]
    place: str
    """Which step of several it is, or nothing."""

    @property
    def subjects(self) -> set[str]:
        """That in which it did."""
        return {discrepancy.subject for discrepancy in self.discrepancies}


def judge(case: Case, terms: Terms, observation: Observation, environment: EnvironmentKey) -> Result:
    """Return the result of `case`, with its reason: that of the steps that differ, or of the last.

    A deviation must document all in which any step differs, and all that it documents must be seen in one step.
    """
    departures = list(_departures(case, terms, observation))
    kind, reason = _verdict(terms, observation, departures)
    decisive = departures[0] if departures else None
    rule = decisive.expectation if decisive else terms.expectations[-1]
    return Result(
        id=case.id,
        environment=environment,
        kind=kind,
        reason=reason,
        provisional=terms.provisional,
        status=decisive.observed.status if decisive else observation.steps[-1].status,
        expected=rule.status,
        rule=rule,
        discrepancies=tuple(found for departure in departures for found in departure.discrepancies),
        deviation=terms.deviation,
        observation=observation,
    )


def _departures(case: Case, terms: Terms, observation: Observation) -> Iterator[_Departure]:
    steps = zip(case.fixture.steps, terms.expectations, observation.steps, strict=True)
    for number, (step, expectation, observed) in enumerate(steps, start=1):
        found = discrepancies(case, step, expectation, observed)
        if found:
            again = f", time {observed.repetition} of {step.times}" if step.times > 1 else ""
            several = len(case.fixture.steps) > 1 or again
            place = f"Step {number} of {len(case.fixture.steps)}{again}: " if several else ""
            yield _Departure(expectation, observed, tuple(found), place)


CONTAMINATED = "contaminated by "
"""How the reason of a failure begins that does not come in a new session."""


def contaminated(result: Result, by: str) -> Result:
    """Return the failure that `result` is, which does not come in a session that the case `by` has not used."""
    return replace(
        result,
        kind=ResultKind.FAIL,
        reason=f"{CONTAMINATED}{by}: in a new session it comes out as it is documented, but not after that\n"
        f"{result.reason}",
    )


def _verdict(terms: Terms, observation: Observation, departures: list[_Departure]) -> tuple[ResultKind, str]:
    for observed in observation.steps:
        if isinstance(observed.status, FailedToStart) and observed.status.errno != errno.E2BIG:
            return (
                ResultKind.ERROR,
                f"the route's program could not be started: {observed.status}. Correct its argv.",
            )
    status, deviation = observation.steps[-1].status, terms.deviation
    statements = "\n".join(
        departure.place + discrepancy.statement for departure in departures for discrepancy in departure.discrepancies
    )
    expectation = departures[0].expectation if departures else terms.expectations[-1]
    rule = f"{expectation.reason} ({expectation.url})"
    sometimes = deviation is not None and deviation.happens is Happens.SOMETIMES
    if deviation is not None and (departures or not sometimes):
        return _against_deviation(deviation, f"{status} and every {_UNITS[observation.basis]}", statements, departures)
    if departures:
        return ResultKind.FAIL, f"{statements}\nRule: {rule}"
    flaky = f"\n{_known_as_flaky(deviation)}" if deviation is not None else ""
    return ResultKind.PASS, f"{status}, and every {_UNITS[observation.basis]}, as expected: {rule}{flaky}"


def _known_as_flaky(deviation: Deviation) -> str:
    return (
        f"It is known to be flaky, as documented at {deviation.origin} ({deviation.reason}; {deviation.url}): "
        f"{pattern_text(deviation)}."
    )


_UNITS = {Basis.BYTES: "byte", Basis.TEXT: "character (of the text that the system hands on)"}


def _against_deviation(
    deviation: Deviation, kept: str, statements: str, departures: list[_Departure]
) -> tuple[ResultKind, str]:
    documented = f"the deviation documented at {deviation.origin} ({deviation.reason}; {deviation.url})"
    if not departures:
        remedy = "Delete it, or take this case out with `except`."
        if in_baseline(deviation):
            remedy = f"{mending(deviation, REPORT)} takes this case out."
        return ResultKind.FIXED, f"{kept} came as the contract has it, so {documented} no longer happens here. {remedy}"
    if any(_documents(pattern, departures) for pattern in deviation.observed):
        return ResultKind.DEVIATES, f"{statements}\nThis is {documented}."
    return (
        ResultKind.FAIL,
        f"{statements}\nThis is not what {documented} says: it documents {pattern_text(deviation)}."
        + (f" {mending(deviation, REPORT)} documents what came." if in_baseline(deviation) else ""),
    )


def _documents(pattern: ObservedPattern, departures: list[_Departure]) -> bool:
    agreed = [
        agreed_subjects(pattern, departure.expectation, departure.observed, departure.subjects)
        for departure in departures
    ]
    return all(subjects >= departure.subjects for subjects, departure in zip(agreed, departures, strict=True)) and any(
        subjects >= named_subjects(pattern) for subjects in agreed
    )


def pattern_text(deviation: Deviation) -> str:
    """Return what `deviation` documents in a few words; what is not named is as the contract has it."""
    if deviation.happens is Happens.ALWAYS:
        return _pattern_text(deviation.observed[0])
    return f"sometimes {'; or '.join(map(_pattern_text, deviation.observed))}"


def _pattern_text(pattern: ObservedPattern) -> str:
    parts = [str(pattern.status)] if pattern.status is not None else []
    parts += [
        f"{name} {value if isinstance(value, str) else value.describe()}"
        for name, value in (("stdout", pattern.stdout), ("stderr", pattern.stderr))
        if value is not None
    ]
    if pattern.started is not None:
        parts.append(f"started = {pattern.started}")
    if pattern.received is not None:
        parts.append("another standard input")
    return ", ".join(parts)


def facts_of(case: Case, environment: EnvironmentKey) -> Facts:
    """Return what conditions may ask about `case` in `environment`."""
    return Facts(
        os=environment.os,
        dialect=case.dialect,
        shell=environment.shell,
        version=environment.version,
        runner=case.runner,
        judged_by=case.route.judged_by,
    )
