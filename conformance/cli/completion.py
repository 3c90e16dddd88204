"""What the shell completes from the catalogue, through click's `shell_complete`.

Where the catalogue is broken nothing is offered: a message would land in the line that the user is writing. The
command itself says what is wrong, once it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from conformance.catalog import Catalog, load_catalog, matrix_names
from conformance.errors import ConformanceError
from conformance.selection import DEFAULT_MATRIX
from conformance.systems import system_names

ALL = "all"
"""The word for every system."""


def complete_matrix(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the shipped matrices, and files, since a matrix may be one of the user's own."""
    return [_file(incomplete), *_offered(matrix_names, incomplete)]


def complete_route(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the routes of the matrices that the line names, and files, since a route may be one of the user's own."""
    return [_file(incomplete), *_offered(lambda: [route.id for route in _catalog(context).routes], incomplete)]


def complete_any_route(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the routes of all matrices, and files, since a route may be one of the user's own."""
    return [
        _file(incomplete),
        *_offered(lambda: [route.id for route in load_catalog(matrix_names()).routes], incomplete),
    ]


def complete_any_fixture(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer every fixture."""
    return _offered(lambda: [fixture.id for fixture in load_catalog(()).fixtures], incomplete)


def complete_fixture(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the fixtures of the matrices that the line names."""
    return _offered(lambda: dict.fromkeys(case.fixture.id for case in _catalog(context).cases()), incomplete)


def complete_case(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the cases of the matrices that the line names."""
    return _offered(lambda: [case.id for case in _catalog(context).cases()], incomplete)


def complete_any_case(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the cases of all matrices, or of those that the line names, and of the user's own route files in it."""
    return _offered(lambda: [case.id for case in _catalog(context, matrix_names()).cases()], incomplete)


def complete_shown(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer what `show` knows: every fixture, and the cases of all matrices or of those that the line names."""

    def names() -> Iterable[str]:
        catalog = _catalog(context, matrix_names())
        return [*(fixture.id for fixture in catalog.fixtures), *(case.id for case in catalog.cases())]

    return _offered(names, incomplete)


def complete_system(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the systems that can be installed, and all of them at once."""
    return _offered(lambda: [*system_names(), ALL], incomplete)


def _catalog(context: click.Context, default: Sequence[str] = (DEFAULT_MATRIX,)) -> Catalog:
    # Behind an option that still lacks its value click has not told the words apart.
    words = [*context.params.get("matrices", ()), *context.args]
    shipped = matrix_names()
    routes = [path for path in context.params.get("route_files", ()) if isinstance(path, Path)]
    return load_catalog([word for word in words if word in shipped or word.endswith(".toml")] or default, routes)


def _offered(names: Callable[[], Iterable[str]], incomplete: str) -> list[CompletionItem]:
    try:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]
    except (ConformanceError, OSError):
        return []


def _file(incomplete: str) -> CompletionItem:
    """Return the item that makes the shell complete files; it comes first, since bash forgets what came before it."""
    return CompletionItem(incomplete, type="file")
