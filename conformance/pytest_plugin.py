"""pytest plug-in: collects matrices as items, each of which is one `Engine.execute`, as in `conformance run`.

It does nothing unless a matrix is asked for: `conformance_matrices = core` in the ini file, or
`--conformance-matrices core` (with `-p conformance.pytest_plugin` where entry points are not loaded).

A documented deviation is an xfail, by an exception type that nothing else raises; a missing shell is a skip; a broken
route or harness is an error; all else that is not as documented fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

    from conformance.catalog import Catalog
    from conformance.engine import Engine
    from conformance.model import Case
    from conformance.observation import Result

MATRICES = "conformance_matrices"


class DeviatesError(Exception):
    """The case deviates exactly as is documented."""


class FailsError(Exception):
    """The case is not as documented."""


class BrokenError(Exception):
    """The harness or the route is broken."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini option and the command line option that name matrices."""
    help_text = "conformance matrices (shipped names or paths) to collect when no test path is given"
    parser.addini(MATRICES, help_text, type="args", default=[])
    parser.getgroup("conformance").addoption(
        "--conformance-matrices", action="append", default=[], metavar="MATRIX", help=help_text
    )


def pytest_configure(config: pytest.Config) -> None:
    """Add the matrices to what is collected, unless the user named paths; xdist hands that on to its workers."""
    paths = _matrix_paths(config)
    config.stash[_PATHS] = frozenset(paths)
    if paths and config.args_source is not pytest.Config.ArgsSource.ARGS:
        folders = [config.invocation_params.dir / argument for argument in config.args]
        config.args += [str(path) for path in paths if not _comes_by_itself(path, folders, config)]


def _comes_by_itself(path: Path, folders: list[Path], config: pytest.Config) -> bool:
    """Tell whether pytest comes upon `path` while it walks `folders`; named as well, it would be collected twice.

    Raises pytest.UsageError for a matrix in a folder that pytest passes over: nothing would be run, and all would pass.
    """
    for folder in folders:
        if folder in path.parents:
            for part in path.relative_to(folder).parts[:-1]:
                if any(fnmatch(part, glob) for glob in config.getini("norecursedirs")):
                    raise pytest.UsageError(
                        f"{MATRICES}: {path} lies in {part!r}, which pytest does not search (norecursedirs). Move it."
                    )
            return True
    return False


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give back what the cases of this process used."""
    workshop = config.stash.get(_WORKSHOP, None)
    if workshop is not None:
        workshop.close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the matrix files that were asked for."""
    if file_path.resolve() not in parent.config.stash[_PATHS]:
        return None
    collector: pytest.Collector = MatrixFile.from_parent(parent, path=file_path)
    return collector


def _matrix_paths(config: pytest.Config) -> list[Path]:
    names = [*config.getini(MATRICES), *config.getoption("--conformance-matrices")]
    if not names:
        return []
    from conformance.catalog import matrix_path
    from conformance.errors import UsageError

    try:
        return [matrix_path(name, config.rootpath).resolve() for name in names]
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


class MatrixFile(pytest.File):
    """A matrix whose cases are the items."""

    def collect(self) -> Iterator[CaseItem]:
        """Yield the cases, sorted by id: the same in every xdist worker, and routes of different cost in turn."""
        from conformance.catalog import load_catalog
        from conformance.errors import CatalogError

        try:
            catalog = load_catalog([str(self.path)])
        except CatalogError as error:
            raise self.CollectError(str(error)) from error
        for case in catalog.cases():
            yield CaseItem.from_parent(self, name=case.id, catalog=catalog, case=case)


class CaseItem(pytest.Item):
    """One case. It runs during set-up, so that a broken route is an error and not a failure."""

    def __init__(self, *, catalog: Catalog, case: Case, **options: Any) -> None:
        super().__init__(**options)
        self._catalog = catalog
        self._case = case
        self._result: Result | None = None

    def setup(self) -> None:
        """Run the case; skip it where it cannot be run."""
        from conformance.observation import ResultKind

        self._result = result = _workshop(self.config).engine(self._catalog).execute(self._case)
        if result.kind is ResultKind.ERROR:
            raise BrokenError(result.reason)
        if result.kind in (ResultKind.UNAVAILABLE, ResultKind.SKIPPED):
            pytest.skip(result.reason)
        if result.kind is ResultKind.DEVIATES:
            self.add_marker(pytest.mark.xfail(raises=DeviatesError, strict=True, reason=result.reason))
        elif result.provisional and not result.gates and result.kind is not ResultKind.PASS:
            pytest.skip(f"provisional, not seen on this shell and system before: {result.reason}")

    def runtest(self) -> None:
        """Raise what the result means; nothing for a pass."""
        from conformance.observation import ResultKind

        assert self._result is not None
        if self._result.kind is ResultKind.DEVIATES:
            raise DeviatesError(self._result.reason)
        if self._result.gates:
            raise FailsError(f"{self._result.kind} on {self._result.environment}: {self._result.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Show the reason alone: a traceback through the harness says nothing about the route."""
        if isinstance(excinfo.value, DeviatesError | FailsError | BrokenError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the matrix and the case."""
        return self.path, 0, self.name


class _Workshop:
    """What the cases of one pytest process share: a place and a prepared process."""

    def __init__(self) -> None:
        from conformance.process import Cancellation
        from conformance.runners.local import LocalRunner

        self._stack = ExitStack()
        cancellation = Cancellation()
        self._stack.callback(cancellation.close)
        self._runner = LocalRunner(cancellation)
        self._stack.enter_context(self._runner.prepared())
        self._place = self._stack.enter_context(self._runner.open())

    def engine(self, catalog: Catalog) -> Engine:
        from conformance.engine import Engine

        return Engine(catalog, self._runner, self._place, time_scale=1.0)

    def close(self) -> None:
        self._stack.close()


def _workshop(config: pytest.Config) -> _Workshop:
    if _WORKSHOP not in config.stash:
        config.stash[_WORKSHOP] = _Workshop()
    return config.stash[_WORKSHOP]


_PATHS = pytest.StashKey[frozenset[Path]]()
_WORKSHOP = pytest.StashKey[_Workshop]()
