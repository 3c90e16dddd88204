"""What a body costs in a session that is open already, or by an adapter that is running."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import perf_counter

import psutil

from bench.cases import NoNatives
from bench.measure import Figure, Timed, paired, spread
from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.engine import DEADLINE_SECONDS, LINGER_SECONDS, terms_of
from conformance.model import Case, Deadline, Fixture, Seconds
from conformance.routes import open_executor
from conformance.runners.local import LocalRunner, child_environment
from conformance.runners.natives import rendered_body
from conformance.status import Exited

FIXTURE = "exit-codes/none"
"""Its body leaves a mark, and does nothing else."""
BASH_BODIES = 500
ADAPTER_BODIES = 200
PWSH_BODIES = 200
ONE_SHOTS = 4
ROUNDS = 7
PWSH_ROUNDS = 5
WARM_UP, MEMORY_BODIES = 500, 1000
MEBIBYTE = 1 << 20

Perform = Callable[[], None]


def bash() -> Figure:
    """A warm body of bash-session, against the same by a bash that is driven barely."""
    with local_runner() as (runner, _), _performing(runner, "bash-session") as body, _bare_bash(runner) as bare:
        pairs = paired(_median(body, BASH_BODIES), _median(bare, BASH_BODIES), ROUNDS)
    ratios = [ours / theirs for ours, theirs in pairs]
    return Figure(
        "a warm body of bash-session against a bare round trip through pipes of the same bash",
        "at most 1.5 times",
        spread(ratios, "times"),
        statistics.median(ratios) <= 1.5,
        f"{_milliseconds(ours for ours, _ in pairs)} against {_milliseconds(theirs for _, theirs in pairs)}",
    )


def pwsh() -> Figure:
    """A warm body of pwsh-session, against the same in a process of its own."""
    return _pwsh("pwsh-session", milliseconds=25, times=10)


def pwsh_reused() -> Figure:
    """A warm body of pwsh-session-reused, against the same in a process of its own."""
    return _pwsh("pwsh-session-reused", milliseconds=8, times=40)


def _pwsh(route: str, *, milliseconds: float, times: float) -> Figure:
    with ExitStack() as stack:
        runner, _ = stack.enter_context(local_runner())
        body = stack.enter_context(_performing(runner, route))
        one_shot = stack.enter_context(_performing(runner, "pwsh-preserving"))
        pairs = paired(_median(body, PWSH_BODIES), _median(one_shot, ONE_SHOTS), PWSH_ROUNDS)
    ratios = [theirs / ours for ours, theirs in pairs]
    median = 1000 * statistics.median(ours for ours, _ in pairs)
    return Figure(
        f"a warm body of {route}, against one of pwsh-preserving",
        f"at most {milliseconds} ms, at least {times} times cheaper",
        f"{_milliseconds(ours for ours, _ in pairs)}, {spread(ratios, 'times')}",
        median <= milliseconds and statistics.median(ratios) >= times,
        f"one-shot it takes {_milliseconds(theirs for _, theirs in pairs)}",
    )


def adapter() -> Figure:
    """A body that an adapter has subprocess.run perform, on top of the same subprocess.run."""
    with ExitStack() as stack:
        runner, _ = stack.enter_context(local_runner())
        body = stack.enter_context(_performing(runner, "python-run", "systems"))
        bare = stack.enter_context(_bare_run(runner))
        pairs = paired(_median(body, ADAPTER_BODIES), _median(bare, ADAPTER_BODIES), ROUNDS)
    added = [ours - theirs for ours, theirs in pairs]
    return Figure(
        "a body by the adapter of subprocess.run, on top of a bare subprocess.run",
        "at most 1.5 ms",
        _milliseconds(added),
        statistics.median(added) <= 0.0015,
        f"the bare run takes {_milliseconds(theirs for _, theirs in pairs)}",
    )


def memory() -> Figure:
    """How the memory of pwsh-session grows over bodies, once it is warm."""
    with local_runner() as (runner, _), _performing(runner, "pwsh-session") as body:
        for _ in range(WARM_UP):
            body()
        (session,) = psutil.Process().children()
        before = session.memory_info().rss
        for _ in range(MEMORY_BODIES):
            body()
        after = session.memory_info().rss
    grown = after / before - 1
    return Figure(
        f"the memory of pwsh-session over {MEMORY_BODIES} bodies, after {WARM_UP}",
        "less than 5 % more",
        f"{100 * grown:+.1f} %",
        grown < 0.05,
        f"from {before / MEBIBYTE:.0f} to {after / MEBIBYTE:.0f} MiB",
    )


@contextmanager
def _performing(runner: LocalRunner, route: str, matrix: str = "sessions") -> Iterator[Perform]:
    """Return what performs the body once on `route` of `matrix`, by its executor and with all that is looked at."""
    catalog = load_catalog([matrix])
    case = Case(_fixture(catalog), next(each for each in catalog.routes if each.id == route))
    (expectation,) = terms_of(catalog, case, runner.environment_key(case.route)).expectations
    (step,) = case.fixture.steps
    deadline = Deadline(Seconds(DEADLINE_SECONDS), None, Seconds(LINGER_SECONDS))
    with runner.open() as place, open_executor(case.route, runner, place) as executor:

        def perform() -> None:
            observed = executor.perform(step, case.dialect, expectation, deadline)
            assert (observed.status, observed.witness.marks) == (Exited(0), 1), observed

        perform()
        yield perform


@contextmanager
def _bare_run(runner: LocalRunner) -> Iterator[Perform]:
    """Return what has a new bash perform the body once, and looks at nothing."""
    fixture = _fixture(load_catalog(["core"]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        body = rendered_body(fixture.steps[0].bodies["sh"], "bash", NoNatives(), folder / "record")
        argv = [str(runner.shell("bash").path), "--noprofile", "--norc", "-c", body]
        environment = child_environment(folder, folder)

        def perform() -> None:
            subprocess.run(argv, input=b"", capture_output=True, check=True, cwd=folder, env=environment)

        yield perform


@contextmanager
def _bare_bash(runner: LocalRunner) -> Iterator[Perform]:
    """Return what has a bash that stays open perform the body once, and looks at nothing.

    The body is sent as a line on its standard input; what it prints comes through a pipe, and its status, which tells
    that it has ended, through another.
    """
    fixture = _fixture(load_catalog(["core"]))
    status, bash_status = os.pipe()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        body = rendered_body(fixture.steps[0].bodies["sh"], "bash", NoNatives(), folder / "record")
        bash = stack.enter_context(
            subprocess.Popen(
                [runner.shell("bash").path, "--noprofile", "--norc"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=child_environment(folder, folder),
                cwd=folder,
                pass_fds=[bash_status],
                bufsize=0,
            )
        )
        os.close(bash_status)
        stack.callback(os.close, status)
        assert bash.stdin is not None
        assert bash.stdout is not None
        request, output = f"{body}; echo $? >&{bash_status}\n".encode(), bash.stdout.fileno()
        os.set_blocking(output, False)
        requests = bash.stdin.fileno()

        def perform() -> None:
            os.write(requests, request)
            if os.read(status, MEBIBYTE) != b"0\n":
                sys.exit("bench: the bare bash did not perform the body")
            with suppress(BlockingIOError):  # it printed nothing
                os.read(output, MEBIBYTE)

        yield perform
        bash.stdin.close()


def _fixture(catalog: Catalog) -> Fixture:
    return next(fixture for fixture in catalog.fixtures if fixture.id == FIXTURE)


def _median(perform: Perform, bodies: int) -> Timed:
    """Return what performs the body `bodies` times and tells the median of how long one took."""

    def run() -> float:
        seconds = []
        for _ in range(bodies):
            started = perf_counter()
            perform()
            seconds.append(perf_counter() - started)
        return statistics.median(seconds)

    return run


def _milliseconds(seconds: Iterable[float]) -> str:
    return spread([1000 * each for each in seconds], "ms")
