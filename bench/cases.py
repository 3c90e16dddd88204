"""What a case costs on top of the process that it starts."""

from __future__ import annotations

import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.measure import Figure, Timed, ends_well, paired, spread, timed
from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.model import Case
from conformance.report.codec import result_line
from conformance.report.writer import ReportWriter
from conformance.runners.local import LocalRunner, child_environment
from conformance.runners.natives import rendered_body
from conformance.schedule import run_cases

BASH_CASE = "exit-codes/exit-7/bash-command"
BASH_CASES = 500
PWSH_CASE = "exit-codes/exit-7/pwsh-command"
PWSH_CASES = 12
BATS_BODIES = 100
ROUNDS = 7


def bash(jobs: int) -> Figure:
    """A bash case against a bare `subprocess.run` of the same argv."""
    pairs = _case_pairs(load_catalog(["core"]), BASH_CASE, BASH_CASES, jobs)
    added = [1000 * (ours - bare) / BASH_CASES for ours, bare in pairs]
    bare_ms = [1000 * bare / BASH_CASES for _, bare in pairs]
    return Figure(
        f"a bash case on top of a bare subprocess.run, -j {jobs}",
        "at most 0.5 ms",
        spread(added, "ms"),
        statistics.median(added) <= 0.5,
        f"the bare run takes {spread(bare_ms, 'ms')}",
    )


def pwsh(jobs: int) -> Figure:
    """A one-shot pwsh case against the same argv started bare."""
    pairs = _case_pairs(load_catalog(["core"]), PWSH_CASE, PWSH_CASES, jobs)
    ratios = [ours / bare for ours, bare in pairs]
    bare_ms = [1000 * bare / PWSH_CASES for _, bare in pairs]
    return Figure(
        f"a one-shot pwsh case against the same argv bare, -j {jobs}",
        "at most 1.05 times",
        spread(ratios, "times"),
        statistics.median(ratios) <= 1.05,
        f"the bare run takes {spread(bare_ms, 'ms')}",
    )


def bats() -> Figure:
    """The bodies of bash cases, all as they are in `conformance run`, against the same as bats tests."""
    name, goal = "the same bodies as bats tests, one at a time", "several times slower than as cases"
    program = shutil.which("bats")
    if program is None:
        return Figure(name, goal, "not measured: bats is not on PATH (apt-get install bats)", None)
    catalog = load_catalog(["core"])
    case = _case(catalog, BASH_CASE)
    with tempfile.TemporaryDirectory() as folder, local_runner() as (runner, _):
        argv = shlex.join(_argv(case, runner, Path(folder) / "record"))
        tests = Path(folder) / "same.bats"
        test = f'{{\n  run {argv}\n  [ "$status" -eq 7 ]\n  [ -z "$output" ]\n}}\n'
        tests.write_text("".join(f'@test "{case.id} {number}" {test}' for number in range(BATS_BODIES)))
        ours = _ours(catalog, [case] * BATS_BODIES, runner, jobs=1)
        pairs = paired(timed(ends_well([program, tests])), ours, ROUNDS)
    ratios = [theirs / ours for theirs, ours in pairs]
    return Figure(name, goal, spread(ratios, "times"), statistics.median(ratios) >= 3)


def pytest_item() -> Figure:
    """A case as a pytest item against one in `conformance run -j 1`: how both grow with the number of cases."""
    few, many = 100, 600
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in (few, many):
            (folder / f"{count}.toml").write_text(same_route_many_times(count, "exit-codes/exit-7"))
        (folder / "pytest.ini").write_text("[pytest]\n")

        def pytest_run(count: int) -> Timed:
            options = ["-q", "-p", "no:cacheprovider", f"--conformance-matrices={count}.toml"]
            return timed(ends_well([sys.executable, "-m", "pytest", *options], folder))

        def run(count: int) -> Timed:
            options = ["-j", "1", "--report", "report.jsonl"]
            return timed(ends_well([sys.executable, "-m", "conformance", "run", f"{count}.toml", *options], folder))

        added = []
        for _ in range(ROUNDS):
            item = (pytest_run(many)() - pytest_run(few)()) / (many - few)
            case = (run(many)() - run(few)()) / (many - few)
            added.append(1000 * (item - case))
    return Figure(
        "a pytest item on top of a case of the command, -j 1",
        "at most 1.5 ms",
        spread(added, "ms"),
        statistics.median(added) <= 1.5,
    )


def same_route_many_times(count: int, fixtures: str) -> str:
    """Return a matrix of `count` routes that all are `bash -c`."""
    routes = "".join(
        f'[[route]]\nid = "bash-{number}"\nkind = "one-shot"\ndialects = ["bash", "sh"]\n'
        'argv = ["{{bash}}", "-c", "{{body}}"]\nsource = "https://www.gnu.org/software/bash/manual/"\n'
        for number in range(count)
    )
    return f'fixtures = ["{fixtures}"]\n{routes}'


def _case(catalog: Catalog, id_: str) -> Case:
    return next(case for case in catalog.cases() if case.id == id_)


def _case_pairs(catalog: Catalog, id_: str, count: int, jobs: int) -> list[tuple[float, float]]:
    case = _case(catalog, id_)
    with tempfile.TemporaryDirectory() as folder, local_runner() as (runner, _):
        argv = _argv(case, runner, Path(folder) / "record")
        environment = child_environment(Path(folder), Path(folder))
        ours = _ours(catalog, [case] * count, runner, jobs)
        return paired(ours, _bare(argv, environment, count, jobs), ROUNDS)


def _argv(case: Case, runner: LocalRunner, record: Path) -> list[str]:
    """Return the argv of `case` as its route would start it, with the mark of its body going into `record`."""
    (shell,) = case.route.shells
    body = rendered_body(case.fixture.steps[0].bodies[case.dialect], case.dialect, NoNatives(), record)
    values = {"{{body}}": body, f"{{{{{shell}}}}}": str(runner.shell(shell).path)}
    return [values.get(word, word) for word in case.route.argv]


class NoNatives:
    """For bodies that start no program."""

    def native(self, code: str, record: str) -> str:
        """Raise: there is none."""
        raise NotImplementedError

    def witness(self, record: str) -> str:
        """Raise: there is none."""
        raise NotImplementedError


def _ours(catalog: Catalog, cases: Sequence[Case], runner: LocalRunner, jobs: int) -> Timed:
    """Return a run of `cases` with its report, but without the start of the command and the search for shells."""

    def run() -> None:
        with tempfile.TemporaryFile("w") as stream:
            writer = ReportWriter(stream, "in a file")
            for result in run_cases(catalog, cases, runner, jobs, time_scale=1.0):
                assert result.kind == "pass", result.reason
                writer.result(result_line(result))

    return timed(run)


def _bare(argv: Sequence[str], environment: dict[str, str], count: int, jobs: int) -> Timed:
    """Return `count` times `subprocess.run` of `argv`, by `jobs` threads."""

    def start(_: int) -> None:
        completed = subprocess.run(argv, input=b"", capture_output=True, env=environment, check=False)
        assert completed.returncode == 7, completed

    def run() -> None:
        with ThreadPoolExecutor(jobs) as pool:
            deque(pool.map(start, range(count)), maxlen=0)

    return timed(run)
