"""What the package imports is what it declares, no less and no more."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import conformance

PACKAGE = Path(conformance.__file__).parent
PROJECT = PACKAGE.parent / "pyproject.toml"
LOADED_BY_PYTEST = PACKAGE / "pytest_plugin"
"""The one part that needs pytest, which imports it."""


def imported(module: Path) -> Iterator[str]:
    """Yield the top-level packages that `module` imports, wherever in it."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.skipif(not PROJECT.exists(), reason="there is no pyproject.toml beside an installed package")
def test_every_import_is_a_declared_dependency_and_every_dependency_is_imported() -> None:
    modules = [module for module in PACKAGE.rglob("*.py") if LOADED_BY_PYTEST not in module.parents]
    found = {name for module in modules for name in imported(module)} - sys.stdlib_module_names - {"conformance"}
    declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    assert found == {Requirement(dependency).name for dependency in declared}
    assert declared == sorted(declared)
