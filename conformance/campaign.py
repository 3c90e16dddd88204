"""One run from its selection to its exit code: what `run` and `try` share."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.catalog import Catalog
from conformance.engine import terms_of
from conformance.errors import HarnessError, InterruptedRunError, ShellError
from conformance.model import Case
from conformance.observation import Result, ResultKind
from conformance.process import Cancellation
from conformance.report.codec import result_line
from conformance.report.findings import exit_code, judge_run
from conformance.report.writer import ReportWriter
from conformance.runners import Runner
from conformance.runners.local import (
    LocalRunner,
    child_environment,
    documented_environment,
    local_os,
    public_path,
)
from conformance.schedule import run_cases
from conformance.selection import Selection
from conformance.signals import answering


@dataclass(frozen=True)
class Plan:
    """What is to be run, and how."""

    catalog: Catalog
    cases: tuple[Case, ...]
    jobs: int
    time_scale: float
    fail_fast: bool = False
    selection: Selection = field(default_factory=Selection)
    """How the cases were chosen."""


@dataclass
class Outcome:
    """What came of a run, so far."""

    results: list[Result] = field(default_factory=list)
    lines: list[Mapping[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    unwritten: HarnessError | None = None
    """Why the report could not be written to its end."""
    interrupted: bool = False

    @property
    def broken(self) -> bool:
        """Whether the harness or a route was broken somewhere."""
        return any(result.kind is ResultKind.ERROR for result in self.results)


def perform(plan: Plan, writer: ReportWriter, on_line: Callable[[Mapping[str, Any]], None]) -> Outcome:
    """Run `plan`, writing every result at once and telling `on_line` of it.

    A report that cannot be written any more does not end the run: its results are still shown.
    Raises CatalogError where two expectations or deviations tie.
    """
    outcome = Outcome()
    with local_runner() as (runner, cancellation):
        for case in plan.cases:  # a tie is said before anything runs
            terms_of(plan.catalog, case, runner.environment_key(case.route))
        described = describe_environment(plan.cases, runner)
        _write(outcome, writer.header, plan.catalog, plan.cases, described, plan.selection)
        with closing(run_cases(plan.catalog, plan.cases, runner, plan.jobs, plan.time_scale)) as results:
            for result in results:
                line = result_line(result)
                outcome.results.append(result)
                outcome.lines.append(line)
                _write(outcome, writer.result, line)
                on_line(line)
                if plan.fail_fast and (result.gates or result.kind is ResultKind.ERROR):
                    break
        outcome.interrupted = cancellation.thrown
    outcome.findings = judge_run(outcome.lines, plan.catalog)
    return outcome


@contextmanager
def local_runner() -> Iterator[tuple[LocalRunner, Cancellation]]:
    """Make this process ready to run cases: a local runner, whose cases end when this process is told to end."""
    with closing(Cancellation()) as cancellation, answering(lambda *_: cancellation.throw()):
        runner = LocalRunner(cancellation)
        with runner.prepared():
            yield runner, cancellation


def finish(plan: Plan, outcome: Outcome, writer: ReportWriter, missing: Sequence[str]) -> int:
    """End the report, if the run went through all of its cases, and return the exit code of the command.

    `missing` are the required shells that were not there.
    """
    if len(outcome.results) == len(plan.cases) and not outcome.interrupted:
        _write(outcome, writer.footer, outcome.findings, _exit_code(outcome, missing))
    return _exit_code(outcome, missing)  # another one where the footer found no room


def _write(outcome: Outcome, write: Callable[..., None], *values: object) -> None:
    if outcome.unwritten is None:
        try:
            write(*values)
        except HarnessError as error:
            outcome.unwritten = error


def _exit_code(outcome: Outcome, missing: Sequence[str]) -> int:
    """Interrupted wins over broken, and broken over different."""
    if outcome.interrupted:
        return InterruptedRunError.exit_code
    if outcome.unwritten is not None:
        return HarnessError.exit_code
    return exit_code(outcome.lines, outcome.findings, missing)


def describe_environment(cases: Iterable[Case], runner: Runner) -> dict[str, Any]:
    """Return what the header says of the machine, the shells that `cases` need and the environment of children."""
    asked = sorted({shell for case in cases for shell in case.route.shells})
    return {
        "environment": f"{local_os()}-{platform.machine().lower()}/{runner.name}",
        "system": {
            "release": platform.release(),
            "distribution": distribution(),
            "python": platform.python_version(),
        },
        "shells": [_describe_shell(name, runner) for name in asked],
        "child_environment": documented_environment(child_environment(Path("{{place}}/home"), Path("{{case}}/tmp"))),
    }


def _describe_shell(name: str, runner: Runner) -> dict[str, str]:
    try:
        shell = runner.shell(name)
    except ShellError as error:
        return {"asked": name, "unavailable": public_path(str(error))}
    return {
        "asked": name,
        "name": shell.name,
        "version": shell.version,
        "path": public_path(shell.path),
        "found": shell.found,
    }


def distribution() -> str:
    """Return the name and version of the operating system's distribution."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return platform.platform(terse=True)
