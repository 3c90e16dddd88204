"""Options that several subcommands share, and how they load the catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import click

from conformance.catalog import Catalog, display_name, load_catalog, matrix_names
from conformance.cli.completion import (
    complete_any_case,
    complete_case,
    complete_fixture,
    complete_matrix,
    complete_route,
)
from conformance.cli.former import todays, todays_all
from conformance.errors import UsageError
from conformance.model import Case
from conformance.schedule import usable_processors
from conformance.selection import DEFAULT_MATRIX, Selection, Shard

Command = TypeVar("Command", bound=Callable[..., Any])

time_scale_option = click.option(
    "--timeout-scale",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="Multiply every deadline.",
)


REPORT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
"""A report: a file, or - for standard input."""

route_files_option = click.option(
    "--route",
    "route_files",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A TOML file with routes of yours, whose cases then have ids as well; may be repeated.",
)


def selection_options(command: Command) -> Command:
    """Add MATRIX..., -k, --route, --fixture and --shard."""
    for decorate in (
        click.option(
            "--shard",
            metavar="K/N",
            default="1/1",
            callback=_shard,
            help="Only the K-th of N parts, cut by a hash of the case ids; pytest cuts alike.",
        ),
        click.option(
            "--fixture",
            "fixtures",
            multiple=True,
            metavar="GLOB",
            shell_complete=complete_fixture,
            help="Only fixtures whose id matches; may be repeated.",
        ),
        click.option(
            "--route",
            "routes",
            multiple=True,
            metavar="ID|FILE",
            shell_complete=complete_route,
            help="Only this route: an id, or a TOML file with routes of yours; may be repeated.",
        ),
        click.option(
            "-k",
            "ids",
            multiple=True,
            metavar="GLOB",
            shell_complete=complete_case,
            help="Only cases whose id matches; without wildcards an exact id or a part of ids. May be repeated.",
        ),
        click.argument("matrices", nargs=-1, metavar="[MATRIX]...", shell_complete=complete_matrix),
    ):
        command = decorate(command)
    return command


def pace_options(command: Command) -> Command:
    """Add -j and --timeout-scale."""
    jobs = click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        default=default_jobs,
        show_default="processors + 1",
        help="How many cases run at once.",
    )
    return jobs(time_scale_option(command))


def source_options(command: Command) -> Command:
    """Add --matrix, --route FILE and --timeout-scale, for a command that takes the ids of cases."""
    for decorate in (
        time_scale_option,
        route_files_option,
        click.option(
            "--matrix",
            "matrices",
            multiple=True,
            shell_complete=complete_matrix,
            help="Where to look, instead of all shipped matrices; may be repeated.",
        ),
    ):
        command = decorate(command)
    return command


def case_options(command: Command) -> Command:
    """Add ID, --matrix, --route FILE and --timeout-scale, for a command on one case."""
    return click.argument("id_", metavar="ID", shell_complete=complete_any_case)(source_options(command))


def load_case(id_: str, matrices: Sequence[str], route_files: Sequence[Path]) -> tuple[Catalog, Case]:
    """Return the case called `id_`, and the catalogue in which it stands.

    Raises UsageError where there is none, or a matrix is unknown; CatalogError for a broken file.
    """
    catalog = load_catalog(matrices or matrix_names(), tuple(dict.fromkeys(route_files)))
    cases = {case.id: case for case in catalog.cases()}
    id_ = todays(id_, catalog.former_ids.case)
    if id_ in cases:
        return catalog, cases[id_]
    near = get_close_matches(id_, cases, n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(f"unknown case {id_!r}: {hint}`conformance list cases {' '.join(matrix_names())}` names them all")


def _shard(context: click.Context, parameter: click.Parameter, value: str) -> Shard:
    try:
        return Shard.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def load(
    matrices: Sequence[str], ids: Sequence[str], routes: Sequence[str], fixtures: Sequence[str], shard: Shard
) -> tuple[Catalog, Selection]:
    """Load what the selection options ask for.

    Raises UsageError for an unknown route or matrix, CatalogError for a broken file.
    """
    files = dict.fromkeys(Path(route) for route in routes if is_file(route))
    catalog = load_catalog(matrices or (DEFAULT_MATRIX,), tuple(files))
    former = catalog.former_ids
    wanted = [todays(route, former.route) for route in routes if not is_file(route)]
    known = [route.id for route in catalog.routes]
    for route in wanted:
        if route not in known:
            raise UsageError(
                f"unknown route {route!r}: the routes are {', '.join(known)}, or give the path of a .toml file"
            )
    shown = {display_name(file) for file in files}
    for matrix in (matrix for matrix in catalog.matrices if matrix.origin.file in shown):
        if not matrix.routes:
            raise UsageError(f"{matrix.origin}: holds no [[route]], so there is nothing to run. Add one.")
        wanted += [route.id for route in matrix.routes]
    return catalog, Selection(
        ids=todays_all(ids, former.case),
        routes=tuple(wanted),
        fixtures=todays_all(fixtures, former.fixture),
        shard=shard,
    )


def is_file(route: str) -> bool:
    """Tell whether `route` is the path of a route file, and no id."""
    return route.endswith(".toml") or "/" in route or os.sep in route


def default_jobs() -> int:
    """Return one more than the processors that this process may use: a case that hangs on purpose leaves one idle."""
    return usable_processors() + 1
