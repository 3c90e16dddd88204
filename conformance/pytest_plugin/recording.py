"""The results of a whole pytest session: its report, and what only the whole run shows.

With xdist, workers run the cases and the controller alone records them: their lines come with pytest's own reports.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

import pytest

from conformance.campaign import describe_environment
from conformance.catalog import Catalog, load_catalog
from conformance.errors import HarnessError
from conformance.process import Cancellation
from conformance.pytest_plugin import MATRIX_PATHS
from conformance.pytest_plugin.items import LINE, CaseItem
from conformance.report.findings import exit_code, judge_run, missing_shells
from conformance.report.writer import ReportWriter
from conformance.runners.local import LocalRunner

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


def record_session(config: pytest.Config) -> None:
    """Record the session of `config`, where it is one that reports: not a worker's, and not one that only collects.

    Raises pytest.UsageError for a report that cannot be written.
    """
    if hasattr(config, "workerinput") or config.getoption("collectonly"):
        return
    name = config.getoption("--conformance-report")
    stream = None
    if name is not None:
        path = config.invocation_params.dir / name
        try:
            stream = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise pytest.UsageError(
                f"--conformance-report {name}: cannot be written: {error.strerror}. Choose another place."
            ) from error
    config.pluginmanager.register(_Recorder(config, stream), "conformance-recorder")


class _Recorder:
    """Collects the lines of a session as they come, writes them, and judges the run at its end."""

    def __init__(self, config: pytest.Config, stream: IO[str] | None) -> None:
        self._config = config
        self._stream = stream
        self._writer = None if stream is None else ReportWriter(stream, config.getoption("--conformance-report"))
        self._unwritten: HarnessError | None = None
        self._selected: set[str] = set()
        self._lines: list[dict[str, Any]] = []
        self._statements: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn which cases were selected; without xdist."""
        self._selected.update(item.case.id for item in session.items if isinstance(item, CaseItem))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController, ids: list[str]) -> None:
        """Learn which items a worker selected; that some of them are no cases does not matter."""
        self._selected.update(id_.partition(".toml::")[2] for id_ in ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the line of a case that was run, here or in a worker."""
        line = getattr(report, LINE, None)
        if line is None:
            return
        if not self._lines:
            self._write(self._write_header)
        self._lines.append(line)
        self._write(lambda writer: writer.result(line))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the run, end the report if it went through all of its cases, and fail the session if need be."""
        if not self._lines:
            return
        catalog = self._catalog
        findings = judge_run(self._lines, catalog)
        missing = missing_shells(self._lines, catalog)
        if self._config.getoption("--conformance-allow-unavailable"):
            missing = []
        if self._selected <= {"", *(line["id"] for line in self._lines)}:
            code = exit_code(self._lines, findings, missing)
            self._write(lambda writer: writer.footer(findings, code))
        self._statements = [
            *(str(error) for error in [self._unwritten] if error is not None),
            *findings,
            *(
                f"{shell} is required and missing, so this run proves nothing about it; "
                "install it, or pass --conformance-allow-unavailable to go without"
                for shell in missing
            ),
        ]
        if self._statements and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what only the whole run shows, and where the report is."""
        if self._statements:
            terminalreporter.section("conformance", red=True, bold=True)
        for statement in self._statements:
            terminalreporter.write_line(f"conformance: {statement}")
        if self._writer is not None and self._lines and self._unwritten is None:
            terminalreporter.write_line(f"report: {self._config.getoption('--conformance-report')}")

    def pytest_unconfigure(self) -> None:
        """Close the report."""
        if self._stream is not None:
            with suppress(OSError):  # what could not be flushed has been said already
                self._stream.close()

    def _write(self, write: Callable[[ReportWriter], None]) -> None:
        if self._writer is not None and self._unwritten is None:
            try:
                write(self._writer)
            except HarnessError as error:
                self._unwritten = error

    def _write_header(self, writer: ReportWriter) -> None:
        catalog = self._catalog
        cases = tuple(case for case in catalog.cases() if case.id in self._selected)
        with closing(Cancellation()) as cancellation:
            writer.header(catalog, cases, describe_environment(catalog, cases, LocalRunner(cancellation)))

    @cached_property
    def _catalog(self) -> Catalog:
        """The unfiltered catalogue of all matrices."""
        return load_catalog([str(path) for path in self._config.stash[MATRIX_PATHS]])
