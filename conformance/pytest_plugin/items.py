"""Matrix files as collectors, cases as items, and the place in which a pytest process runs them."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalog import Catalog, load_catalog
from conformance.engine import Engine
from conformance.errors import CatalogError, ConformanceError
from conformance.model import Case
from conformance.observation import Result, ResultKind
from conformance.process import Cancellation
from conformance.pytest_plugin import MATRIX_PATHS
from conformance.report.codec import result_line
from conformance.runners.local import LocalRunner
from conformance.selection import WHOLE, Shard
from conformance.views.text import printable

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

LINE = "conformance_line"
"""The attribute of a pytest report that holds the line of the conformance report, on its way through xdist as well."""


class DeviatesError(Exception):
    """The case deviates exactly as is documented."""


class FailsError(Exception):
    """The case is not as documented."""


def shard_of(config: pytest.Config) -> Shard:
    """Return the part of the cases that this session is to run.

    Raises pytest.UsageError for a shard that is none.
    """
    shard = config.getoption("--shard")
    try:
        return WHOLE if shard is None else Shard.parse(shard)
    except ValueError as error:
        raise pytest.UsageError(f"--shard {error}") from error


class CasePlugin:
    """The hooks of a pytest process that collects and runs cases. Registered only where a matrix is asked for."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options.

        Raises pytest.UsageError for a shard that is none.
        """
        self._shard = shard_of(config)
        self._paths = config.stash[MATRIX_PATHS]
        self._workshop: Workshop | None = None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect the matrix files that were asked for."""
        if file_path.suffix != ".toml" or file_path.resolve() not in self._paths:
            return None
        collector: pytest.Collector = MatrixFile.from_parent(parent, path=file_path, plugin=self)
        return collector

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the cases of other shards."""
        if self._shard.count == 1:
            return
        left_out = [item for item in items if isinstance(item, CaseItem) and item.case.id not in self._shard]
        if left_out:
            items[:] = [item for item in items if not isinstance(item, CaseItem) or item.case.id in self._shard]
            config.hook.pytest_deselected(items=left_out)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Hang the line of the conformance report on the report of the set-up, in which the case runs."""
        outcome = yield
        if call.when == "setup" and isinstance(item, CaseItem) and item.result is not None:
            setattr(outcome.get_result(), LINE, result_line(item.result))

    def pytest_unconfigure(self) -> None:
        """Give back what the cases of this process used."""
        if self._workshop is not None:
            self._workshop.close()
            self._workshop = None

    def workshop(self) -> Workshop:
        """Return the place of this process, opened for its first case."""
        self._workshop = self._workshop or Workshop()
        return self._workshop


class MatrixFile(pytest.File):
    """A matrix whose cases are the items."""

    def __init__(self, *, plugin: CasePlugin, **options: Any) -> None:
        super().__init__(**options)
        self._plugin = plugin

    def collect(self) -> Iterator[CaseItem]:
        """Yield the cases, sorted by id: the same in every xdist worker, and routes of different cost in turn."""
        try:
            catalog = load_catalog([str(self.path)])
        except CatalogError as error:
            raise self.CollectError(str(error)) from error
        with _garbage_collection_off():
            for case in catalog.cases():
                yield CaseItem.from_parent(self, name=case.id, catalog=catalog, case=case, plugin=self._plugin)


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Spare the search for garbage among a hundred thousand objects that all stay: it takes a sixth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class CaseItem(pytest.Item):
    """One case. It runs during set-up, in which a failure is an error: that of a broken route."""

    def __init__(self, *, catalog: Catalog, case: Case, plugin: CasePlugin, **options: Any) -> None:
        super().__init__(**options)
        self.case = case
        self.result: Result | None = None
        self._catalog = catalog
        self._plugin = plugin

    def setup(self) -> None:
        """Run the case; skip it where it cannot be run."""
        try:
            self.result = result = self._plugin.workshop().engine(self._catalog).execute(self.case)
        except ConformanceError as error:
            pytest.fail(printable(str(error)), pytrace=False)
        reason = printable(result.reason)
        told = {"conformance_result": str(result.kind), "conformance_environment": str(result.environment)}
        if result.observation is not None:
            told["conformance_basis"] = str(result.observation.basis)
        self.user_properties[:] = (dict(self.user_properties) | told).items()  # a case may be run again
        if result.kind is ResultKind.ERROR:
            pytest.fail(reason, pytrace=False)
        if result.kind in (ResultKind.UNAVAILABLE, ResultKind.SKIPPED):
            pytest.skip(reason)
        if result.kind is ResultKind.DEVIATES:
            self.add_marker(pytest.mark.xfail(raises=DeviatesError, strict=True, reason=reason))
        elif result.provisional and not result.gates and result.kind is not ResultKind.PASS:
            pytest.skip(f"provisional, not seen on this shell and system before: {reason}")

    def runtest(self) -> None:
        """Raise what the result means; nothing for a pass."""
        assert self.result is not None
        if self.result.kind is ResultKind.DEVIATES:
            raise DeviatesError(printable(self.result.reason))
        if self.result.gates:
            raise FailsError(printable(f"{self.result.kind} on {self.result.environment}: {self.result.reason}"))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Show the reason alone: a traceback through the harness says nothing about the route."""
        if isinstance(excinfo.value, DeviatesError | FailsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the matrix and the case."""
        return self.path, 0, self.name


class Workshop:
    """What the cases of one pytest process share: a place, an engine for each catalogue, and a prepared process.

    `close` undoes all of it.
    """

    def __init__(self) -> None:
        self._engines: dict[int, Engine] = {}
        with ExitStack() as stack:
            cancellation = Cancellation()
            stack.callback(cancellation.close)
            self._runner = LocalRunner(cancellation)
            stack.enter_context(self._runner.prepared())
            self._place = stack.enter_context(self._runner.open())
            self._stack = stack.pop_all()
            self.close = self._stack.close

    def engine(self, catalog: Catalog) -> Engine:
        """Return the engine on the place for the cases of `catalog`, which is the same object for all of them."""
        if id(catalog) not in self._engines:
            engine = Engine(catalog, self._runner, self._place, time_scale=1.0)
            self._engines[id(catalog)] = self._stack.enter_context(closing(engine))
        return self._engines[id(catalog)]
