"""The results of a whole pytest session: its report, and what only the whole run shows.

With xdist, workers run the cases and the controller alone records them: their lines come with pytest's own reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.campaign import describe_environment
from conformance.catalog import Catalog, load_catalog
from conformance.errors import CatalogError, HarnessError
from conformance.process import Cancellation
from conformance.pytest_plugin import MATRIX_PATHS
from conformance.pytest_plugin.items import LINE, CaseItem, shard_of
from conformance.report.findings import exit_code, judge_run, missing_shells, missing_statement
from conformance.report.writer import ReportWriter
from conformance.runners.local import LocalRunner
from conformance.selection import Selection
from conformance.views.text import printable

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


def record_session(config: pytest.Config) -> None:
    """Record the session of `config`, where it is one that reports: not a worker's, and not one that only collects.

    Raises pytest.UsageError for a report that cannot be written.
    """
    if hasattr(config, "workerinput") or config.getoption("collectonly"):
        return
    name = config.getoption("--conformance-report")
    path = None if name is None else config.invocation_params.dir / name
    if path is not None:
        _check_writable(path, name)
    config.pluginmanager.register(_Recorder(config, path), "conformance-recorder")


def _check_writable(path: Path, name: str) -> None:
    """Raise pytest.UsageError where `path` cannot be written; leave alone what stands there."""
    existed = path.exists()
    try:
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise pytest.UsageError(
            f"--conformance-report {name}: cannot be written: {error.strerror}. Choose another place."
        ) from error


class _Recorder:
    """Collects the lines of a session as they come, writes them, and judges the run at its end."""

    def __init__(self, config: pytest.Config, path: Path | None) -> None:
        self._config = config
        self._path = path
        self._stack = ExitStack()
        self._writer: ReportWriter | None = None
        self._unwritten: HarnessError | None = None
        self._catalog: Catalog | None = None
        self._selected: set[str] = set()
        self._lines: dict[tuple[str, str], dict[str, Any]] = {}
        """The last line of each case id in each environment: a case may be run again."""
        self._statements: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn which cases were selected; without xdist."""
        self._select(item.case.id for item in session.items if isinstance(item, CaseItem))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController, ids: list[str]) -> None:
        """Learn which items a worker selected, by their node ids: FILE::CASE, or ::CASE for a matrix from elsewhere."""
        self._select(id_.partition("::")[2] for id_ in ids)

    def _select(self, names: Iterable[str]) -> None:
        """Take in those of `names` that are cases.

        Loads the catalogue now, before any test can change the folder or the home that its names are shown by.
        Raises pytest.UsageError for matrices that cannot be run together.
        """
        # No name of a test function has a slash before its parameters.
        candidates = {name for name in names if "/" in name.partition("[")[0]}
        if candidates and self._catalog is None:
            try:
                self._catalog = load_catalog([str(path) for path in self._config.stash[MATRIX_PATHS]])
            except CatalogError as error:
                raise pytest.UsageError(str(error)) from error
        if self._catalog is not None:
            self._selected |= candidates & {case.id for case in self._catalog.cases()}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the line of a case that was run, here or in a worker."""
        line = getattr(report, LINE, None)
        if line is None:
            return
        if not self._lines:
            self._begin_report()
        self._lines[line["id"], line["environment"]] = line
        self._write(lambda writer: writer.result(line))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the run, end the report if it went through all of its cases, and fail the session if need be."""
        if self._catalog is None or not self._lines:
            return
        lines = list(self._lines.values())
        findings = judge_run(lines, self._catalog)
        missing = missing_shells(lines, self._catalog)
        if self._config.getoption("--conformance-allow-unavailable"):
            missing = []
        complete = self._selected <= {line["id"] for line in lines}
        if complete:
            code = exit_code(lines, findings, missing)
            self._write(lambda writer: writer.footer(findings, code))
        failures = [
            *(str(error) for error in [self._unwritten] if error is not None),
            *findings,
            *(missing_statement(shell, "--conformance-allow-unavailable") for shell in missing),
        ]
        if failures and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._statements = [f"conformance: {printable(failure)}" for failure in failures]
        if self._writer is not None and self._unwritten is None:
            name = self._config.getoption("--conformance-report")
            self._statements.append(f"report: {name}" if complete else f"conformance: the report {name} is incomplete")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what only the whole run shows, and where the report is."""
        if self._statements:
            terminalreporter.section("conformance")
        for statement in self._statements:
            terminalreporter.write_line(statement)

    def pytest_unconfigure(self) -> None:
        """Close the report."""
        with suppress(OSError):  # what could not be flushed has been said already
            self._stack.close()

    def _begin_report(self) -> None:
        if self._path is None or self._catalog is None:
            return
        try:
            stream = self._stack.enter_context(self._path.open("w", encoding="utf-8"))
        except OSError as error:
            self._unwritten = HarnessError(f"the report {self._path.name} cannot be written: {error.strerror}")
            return
        self._writer = ReportWriter(stream, self._config.getoption("--conformance-report"))
        catalog = self._catalog
        cases = tuple(case for case in catalog.cases() if case.id in self._selected)
        with closing(Cancellation()) as cancellation:
            environment = describe_environment(cases, LocalRunner(cancellation))
        selection = Selection(ids=tuple(filter(None, [self._config.option.keyword])), shard=shard_of(self._config))
        self._write(lambda writer: writer.header(catalog, cases, environment, selection))

    def _write(self, write: Callable[[ReportWriter], None]) -> None:
        if self._writer is not None and self._unwritten is None:
            try:
                write(self._writer)
            except HarnessError as error:
                self._unwritten = error
