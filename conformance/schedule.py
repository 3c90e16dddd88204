"""Run many cases on a few workers, the longest first, and hand out the results as they come."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator

from conformance.catalog import Catalog
from conformance.engine import open_engine
from conformance.model import Case
from conformance.observation import Result
from conformance.process import CancelledError
from conformance.runners import Runner

_SECONDS_BY_DIALECT = {"pwsh": 0.5, "powershell5": 1.0, "cmd": 0.1}
_SECONDS_OF_A_SMALL_SHELL = 0.01
_BODIES_FOR_A_START = 40
"""How many more bodies a session performs in the time that its shell takes to start."""
_RESPONSE_SECONDS = 0.2
"""How long the main thread waits at a time. It hears of signals between two waits, and no wait ends early by one that
came just before it or was given to another thread, or on Windows by any."""


def usable_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def expected_seconds(case: Case) -> float:
    """Return about how long `case` takes; a fixture with a deadline hangs until then."""
    start = _SECONDS_BY_DIALECT.get(case.dialect, _SECONDS_OF_A_SMALL_SHELL)
    bodies = sum(step.times for step in case.fixture.steps)
    return (case.fixture.deadline or 0.0) + start * (1 + (bodies - 1) / _BODIES_FOR_A_START)


def run_cases(
    catalog: Catalog, cases: Iterable[Case], runner: Runner, jobs: int, time_scale: float
) -> Generator[Result, None, None]:
    """Run `cases` with `jobs` workers and yield the results in the order in which they come.

    When the generator is closed, no further case begins. When the run is cancelled it ends early.
    Raises what a worker raised, after the others have stopped.
    """
    waiting = deque(sorted(cases, key=expected_seconds, reverse=True))
    outcomes: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            with open_engine(catalog, runner, time_scale) as engine:
                while True:
                    try:
                        case = waiting.popleft()
                    except IndexError:
                        break
                    outcomes.put(engine.execute(case))
        except CancelledError:
            waiting.clear()
        except BaseException as error:
            waiting.clear()
            outcomes.put(error)
        finally:
            outcomes.put(None)

    workers = [threading.Thread(target=work, name=f"conformance-{number}") for number in range(jobs)]
    for worker in workers:
        worker.start()
    try:
        yield from _until_done(outcomes, len(workers))
    finally:
        waiting.clear()
        for worker in workers:
            while worker.is_alive():
                worker.join(_RESPONSE_SECONDS)


def _until_done(outcomes: queue.SimpleQueue[Result | BaseException | None], workers: int) -> Iterator[Result]:
    failure: BaseException | None = None
    while workers:
        try:
            outcome = outcomes.get(timeout=_RESPONSE_SECONDS)
        except queue.Empty:
            continue
        if outcome is None:
            workers -= 1
        elif isinstance(outcome, Result):
            yield outcome
        else:
            failure = failure or outcome
    if failure is not None:
        raise failure
