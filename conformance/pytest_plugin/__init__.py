"""pytest plug-in: collects matrices as items, each of which is one `Engine.execute`, as in `conformance run`.

It does nothing unless a matrix is asked for: `conformance_matrices = core` in the ini file, or
`--conformance-matrices core` (with `-p conformance.pytest_plugin` where entry points are not loaded). This module is
all that every pytest loads then.

A documented deviation is an xfail, by an exception type that nothing else raises; a missing shell is a skip; a broken
route or harness is an error; all else that is not as documented fails. What only the whole run shows, a required shell
that is missing or a deviation that nothing needs, fails the session.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

MATRICES = "conformance_matrices"

MATRIX_PATHS = pytest.StashKey[tuple[Path, ...]]()
"""The files that were asked for, resolved."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini option and the command line options."""
    help_text = "conformance matrices (shipped names or paths) to collect when no test path is given"
    parser.addini(MATRICES, help_text, type="args", default=[])
    group = parser.getgroup("conformance")
    group.addoption("--conformance-matrices", action="append", default=[], metavar="MATRIX", help=help_text)
    group.addoption("--conformance-report", metavar="FILE", help="write the report that `conformance run` writes")
    group.addoption(
        "--conformance-allow-unavailable", action="store_true", help="do not fail when a required shell is missing"
    )
    group.addoption(
        "--shard",
        metavar="K/N",
        help="only the K-th of N parts of the conformance cases, cut as in `conformance run`",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Add the matrices to what is collected, unless the user named paths; xdist hands that on to its workers."""
    config.stash[MATRIX_PATHS] = paths = _matrix_paths(config)
    if not paths:
        for option in ("--conformance-report", "--shard"):
            if config.getoption(option) is not None:
                raise pytest.UsageError(f"{option} needs a matrix: name one with {MATRICES} or --conformance-matrices")
        return
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        folders = [config.invocation_params.dir / argument for argument in config.args]
        config.args += [str(path) for path in paths if not _comes_by_itself(path, folders, config)]
    from conformance.pytest_plugin.items import CasePlugin
    from conformance.pytest_plugin.recording import record_session

    config.pluginmanager.register(CasePlugin(config), "conformance-cases")
    record_session(config)


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


def _matrix_paths(config: pytest.Config) -> tuple[Path, ...]:
    names = [*config.getini(MATRICES), *config.getoption("--conformance-matrices")]
    if not names:
        return ()
    from conformance.catalog import matrix_path
    from conformance.errors import UsageError

    try:
        return tuple(dict.fromkeys(matrix_path(name, config.rootpath).resolve() for name in names))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
