"""Execute cases. `Engine.execute` is the only way in which a case is run, for the CLI and pytest alike."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from conformance.catalog import Catalog, covers
from conformance.contract import Terms, contaminated, discrepancies, facts_of, judge, terms_for
from conformance.errors import CatalogError, HarnessError, InexpressibleError, UnavailableError
from conformance.lending import Lender
from conformance.model import MARKER_SESSION, SESSION, Case, Deadline, EnvironmentKey, Expectation, Route, Seconds, Step
from conformance.observation import Observation, Result, ResultKind, StepObservation
from conformance.precedence import expectations_of
from conformance.process import CancelledError
from conformance.routes import Executor
from conformance.routes.expressible import why_skipped
from conformance.routes.needs import look_up_needs
from conformance.runners import Place, Runner
from conformance.runners.local import public_path
from conformance.shells import MissingShellError
from conformance.systems import MissingSystemError

DEADLINE_SECONDS = 60.0
"""How long a body may run that is not meant to hang, in seconds at time scale 1."""

LINGER_SECONDS = 0.5
"""How long a child that the hook left behind may hold the pipes before it is killed, in seconds at time scale 1."""


class Engine:
    """Runs cases at one place, one after the other; each worker has an engine of its own."""

    def __init__(self, catalog: Catalog, runner: Runner, place: Place, time_scale: float) -> None:
        """`time_scale` multiplies every deadline: above 1 for slow or busy machines."""
        self._catalog = catalog
        self._runner = runner
        self._lender = Lender(runner, place)
        self._time_scale = time_scale

    def close(self) -> None:
        """End the sessions that cases have used."""
        self._lender.close()

    def execute(self, case: Case) -> Result:
        """Run `case` and judge it. What goes wrong in the harness or the route becomes an `error` result.

        Raises CancelledError when the run is cancelled, CatalogError where two expectations or deviations tie.
        """
        key = self._runner.environment_key(case.route)
        unavailable = self._unavailable(case.route)
        if unavailable is not None:
            kind, reason = unavailable
            return Result(case.id, key, kind, public_path(reason))
        try:
            terms = terms_of(self._catalog, case, key)
            skipped = why_skipped(case)
            if skipped is not None:
                return Result(case.id, key, ResultKind.SKIPPED, skipped)
            return self._judged(case, terms, key)
        except (CancelledError, CatalogError):
            raise
        except InexpressibleError as error:
            return Result(case.id, key, ResultKind.SKIPPED, str(error))
        except UnavailableError as error:
            return Result(case.id, key, ResultKind.UNAVAILABLE, public_path(str(error)))
        except HarnessError as error:
            return Result(case.id, key, ResultKind.ERROR, public_path(str(error)))
        except OSError as error:
            reason = f"the case's own files could not be written or read: {error.strerror}. Make room, or set TMPDIR."
            return Result(case.id, key, ResultKind.ERROR, reason)
        except Exception as error:  # a fault of ours must not lose the results of other cases
            where = traceback.extract_tb(error.__traceback__)[-1]
            fault = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
            reason = f"fault in conformance itself, please report it: {fault}"
            return Result(case.id, key, ResultKind.ERROR, public_path(reason))

    def _unavailable(self, route: Route) -> tuple[ResultKind, str] | None:
        availability = self._runner.probe()
        if not availability.available:
            return ResultKind.UNAVAILABLE, availability.reason
        sessions = self._runner.sessions()
        if route.kind in (SESSION, MARKER_SESSION) and not sessions.available:
            return ResultKind.UNAVAILABLE, sessions.reason
        try:
            look_up_needs(route, self._runner)
        except (MissingShellError, MissingSystemError) as error:
            return ResultKind.UNAVAILABLE, str(error)
        except HarnessError as error:
            return ResultKind.ERROR, str(error)
        return None

    def _judged(self, case: Case, terms: Terms, key: EnvironmentKey) -> Result:
        """Run `case`; what fails in a session that others have used counts only if it fails in a new one as well."""
        with self._lender.executor(case) as loan:
            result = judge(case, terms, self._observe(case, terms, loan.executor), key)
        if loan.after is None or result.kind not in (ResultKind.FAIL, ResultKind.FIXED):
            return result
        with self._lender.new_executor(case) as new:
            alone = judge(case, terms, self._observe(case, terms, new.executor), key)
        if alone.kind in (ResultKind.PASS, ResultKind.DEVIATES):
            self._lender.give_up(case)
            return contaminated(result, loan.after)
        return alone

    def _observe(self, case: Case, terms: Terms, executor: Executor) -> Observation:
        own = case.fixture.deadline
        deadline = Deadline(
            total=Seconds(DEADLINE_SECONDS * self._time_scale),
            after_start=Seconds(own * self._time_scale) if own is not None else None,
            linger=Seconds(LINGER_SECONDS * self._time_scale),
        )
        steps = zip(case.fixture.steps, terms.expectations, strict=True)
        performed = tuple(_performed(executor, case, *step, deadline) for step in steps)
        return Observation(performed, executor.system)


def _performed(
    executor: Executor, case: Case, step: Step, expectation: Expectation, deadline: Deadline
) -> StepObservation:
    """Perform `step` as often as it says, or until it comes out otherwise than the contract has it."""
    repetition = 1
    while True:
        observed = executor.perform(step, case.dialect, expectation, deadline)
        if repetition == step.times or discrepancies(case, step, expectation, observed):
            return replace(observed, repetition=repetition)
        repetition += 1


def terms_of(catalog: Catalog, case: Case, key: EnvironmentKey) -> Terms:
    """Return what `case` is judged by in the environment `key`.

    Raises CatalogError where two expectations or deviations tie.
    """
    facts = facts_of(case, key)
    covering = [deviation for deviation in catalog.deviations if covers(deviation, case)]
    return terms_for(case, expectations_of(case, facts), covering, facts)


@contextmanager
def open_engine(catalog: Catalog, runner: Runner, time_scale: float) -> Iterator[Engine]:
    """Open a place of `runner` and an engine on it."""
    with runner.open() as place, closing(Engine(catalog, runner, place, time_scale)) as engine:
        yield engine
