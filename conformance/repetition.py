"""Run the same cases again and again, first alone and then beside load, and hand out what comes of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from conformance.campaign import local_runner
from conformance.catalog import Catalog
from conformance.engine import DEADLINE_SECONDS, terms_of
from conformance.load import busy_processes
from conformance.model import Case, Seconds
from conformance.report.codec import result_line
from conformance.schedule import run_cases, usable_processors
from conformance.verification import Line, Surroundings


def repeated(
    catalog: Catalog, cases: Sequence[Case], times: int, time_scale: float
) -> Generator[tuple[Surroundings, Line], None, None]:
    """Run each of `cases` `times` times alone, one after the other, and as often beside load and each other.

    Alone, each round has new sessions. It ends early when this process is told to end.
    Raises CatalogError where two expectations or deviations tie, HarnessError where no load can be made.
    """
    with local_runner() as (runner, cancellation):
        for case in cases:  # a tie is said before anything runs
            terms_of(catalog, case, runner.environment_key(case.route))
        for _ in range(times):
            with closing(run_cases(catalog, cases, runner, 1, time_scale)) as results:
                for result in results:
                    yield Surroundings.ALONE, result_line(result)
            if cancellation.thrown:
                return
        processors = usable_processors()
        with (
            busy_processes(processors),
            closing(run_cases(catalog, [*cases] * times, runner, processors + 1, time_scale)) as results,
        ):
            for result in results:
                yield Surroundings.BESIDE_LOAD, result_line(result)


def step_deadline(case: Case, time_scale: float) -> Seconds | None:
    """Return after how many seconds a step of `case` is killed; None where it hangs on purpose until its own."""
    return Seconds(DEADLINE_SECONDS * time_scale) if case.fixture.deadline is None else None
