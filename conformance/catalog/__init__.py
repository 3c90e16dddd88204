"""`fixtures/*.toml` and `matrices/*.toml` become fixtures, matrices and cases; errors name file and line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property, partial
from pathlib import Path

from conformance.baseline.place import SUFFIX, in_baseline, mending, route_file_of
from conformance.catalog.baselines import baseline_file, read_baseline
from conformance.catalog.fixtures import read_fixtures
from conformance.catalog.former_ids import FormerIds, check_aliases
from conformance.catalog.matrices import read_matrix
from conformance.errors import CatalogError, UsageError
from conformance.model import Agreement, Case, Deviation, Fixture, Matrix, Route
from conformance.paths import data_folder


@dataclass(frozen=True)
class Catalog:
    """Every fixture, and the matrices of a run. Filters select from its cases and never change it."""

    fixtures: tuple[Fixture, ...]
    matrices: tuple[Matrix, ...]
    digest: str
    """SHA-256 (hex) of all fixture, matrix and wrapper files: two runs with the same digest ran the same suite."""

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes of all matrices."""
        return tuple(route for matrix in self.matrices for route in matrix.routes)

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """The deviations of all matrices, and of the baselines beside them."""
        return tuple(deviation for matrix in self.matrices for deviation in (*matrix.deviations, *matrix.baseline))

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """The agreements of all matrices."""
        return tuple(agreement for matrix in self.matrices for agreement in matrix.agreements)

    @property
    def required(self) -> frozenset[str]:
        """The shells without which a run of these matrices proves nothing."""
        return frozenset(shell for matrix in self.matrices for shell in matrix.required)

    @cached_property
    def former_ids(self) -> FormerIds:
        """What leads from former ids to today's."""
        return FormerIds.of(self.fixtures, self.routes)

    def cases(self) -> tuple[Case, ...]:
        """Return every case, sorted by id."""
        return self._cases

    @cached_property
    def _cases(self) -> tuple[Case, ...]:
        shared = tuple(glob for matrix in self.matrices for glob in matrix.fixtures)
        matching = cache(partial(matching_fixtures, self.fixtures))
        cases = [
            Case(fixture, route)
            for matrix in self.matrices
            for route in matrix.routes
            for fixture in matching(route.fixtures or matrix.fixtures or shared)
            if route.takes(fixture) and not matches(fixture.id, route.exceptions)
        ]
        return tuple(sorted(cases, key=lambda case: case.id))


def matching_fixtures(fixtures: Iterable[Fixture], globs: Sequence[str]) -> tuple[Fixture, ...]:
    """Return the fixtures whose id matches one of `globs`."""
    return tuple(fixture for fixture in fixtures if matches(fixture.id, globs))


def matches(id_: str, globs: Iterable[str]) -> bool:
    """Tell whether `id_` matches one of `globs`."""
    return any(fnmatchcase(id_, glob) for glob in globs)


def covers(statement: Deviation | Agreement, case: Case) -> bool:
    """Tell whether the patterns of `statement` take in `case`, whatever its condition says."""
    return (
        matches(case.route.id, statement.routes)
        and matches(case.fixture.id, statement.fixtures)
        and not matches(case.fixture.id, statement.exceptions)
    )


def load_catalog(
    matrices: Sequence[str], route_files: Sequence[Path] = (), fixture_folder: Path | None = None
) -> Catalog:
    """Load all fixtures, the matrices called `matrices` (shipped names or paths) and the users' `route_files`.

    A file of a user's brings its baseline with it.
    Raises UsageError for an unknown matrix, CatalogError for a broken file.
    """
    catalog = read_catalog(matrices, route_files, fixture_folder)
    check_catalog(catalog)
    return catalog


def read_catalog(
    matrices: Sequence[str], route_files: Sequence[Path] = (), fixture_folder: Path | None = None
) -> Catalog:
    """Load as `load_catalog` does, but for what `check_catalog` finds wrong.

    Raises UsageError for an unknown matrix, CatalogError for a file that cannot be read.
    """
    folder = fixture_folder or data_folder("fixtures")
    loaded = _load_matrices([*(matrix_path(name) for name in matrices), *route_files])
    baselines = [path for path in map(baseline_file, loaded) if path is not None]
    files = [*sorted(folder.glob("*.toml")), *loaded, *baselines]
    return Catalog(read_fixtures(folder), tuple(loaded.values()), _digest(files, loaded.values()))


def _load_matrices(paths: Sequence[Path]) -> dict[Path, Matrix]:
    """Load the matrices at `paths` and those that they extend, whose routes then meet the fixtures of both."""
    for path in paths:
        if path.name.endswith(SUFFIX):
            shown = display_name(path)
            raise UsageError(f"{shown}: is the baseline of {route_file_of(shown)}, and comes with it. Name that file.")
    loaded = {path: read_matrix(path, display_name(path)) for path in paths}
    for path, matrix in tuple(loaded.items()):
        if matrix.extends is not None:
            base_path = matrix_path(matrix.extends, path.parent)
            base = loaded.get(base_path) or read_matrix(base_path, display_name(base_path))
            if base.extends is not None:
                raise CatalogError(
                    f"{matrix.origin}: {matrix.extends!r} extends {base.extends!r} itself. Name that one."
                )
            loaded[base_path] = replace(base, fixtures=(*base.fixtures, *matrix.fixtures))
    return {path: replace(matrix, baseline=_baseline(path)) for path, matrix in loaded.items()}


def _baseline(matrix: Path) -> tuple[Deviation, ...]:
    path = baseline_file(matrix)
    return () if path is None else read_baseline(path, display_name(path))


def matrix_names() -> tuple[str, ...]:
    """Return the names of the matrices that are shipped."""
    return tuple(path.stem for path in sorted(data_folder("matrices").glob("*.toml")))


def matrix_path(name: str, base: Path = Path()) -> Path:
    """Return the file of the matrix called `name`: a shipped one, or a path (relative to `base`) that ends in `.toml`.

    Raises UsageError for anything else.
    """
    if name in matrix_names():
        return data_folder("matrices") / f"{name}.toml"
    if name.endswith(".toml"):
        return base / name
    raise UsageError(
        f"unknown matrix {name!r}: the matrices are {', '.join(matrix_names())}, or the path of a .toml file"
    )


def display_name(path: Path) -> str:
    """Return the name of the matrix file `path` in messages and reports, where a user's home must not be shown."""
    if path.parent == data_folder("matrices"):
        return f"matrices/{path.name}"
    for find, shown in ((Path.cwd, Path()), (Path.home, Path("~"))):
        with suppress(OSError, RuntimeError, ValueError):  # gone, unknown, or not above it
            return str(shown / path.relative_to(find()))
    return str(path)


def _digest(paths: Sequence[Path], matrices: Iterable[Matrix]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    for matrix in matrices:
        for route in matrix.routes:
            digest.update(repr(sorted(route.files.items())).encode())
    return digest.hexdigest()


def check_catalog(catalog: Catalog) -> None:
    """Raise CatalogError where a pattern matches nothing, or two routes have one id."""
    _check_routes(catalog)
    check_aliases(catalog.fixtures)
    check_aliases(catalog.routes)
    ids, routes = catalog.former_ids.fixtures, catalog.former_ids.routes
    for matrix in catalog.matrices:
        for glob in matrix.fixtures:
            _check_glob(glob, ids, f"{matrix.origin}: 'fixtures'", "fixture")
    for route in catalog.routes:
        for key, globs in (("fixtures", route.fixtures), ("except", route.exceptions)):
            for glob in globs:
                _check_glob(glob, ids, f"{route.origin}: {key!r}", "fixture")
    statements: tuple[Deviation | Agreement, ...] = (*catalog.deviations, *catalog.agreements)
    for statement in statements:
        remedy = ""
        if isinstance(statement, Deviation) and in_baseline(statement):
            remedy = f" {mending(statement)} takes it out."
        for glob in statement.routes:
            _check_glob(glob, routes, f"{statement.origin}: 'routes'", "route", remedy)
        for glob in statement.fixtures:
            _check_glob(glob, ids, f"{statement.origin}: 'fixtures'", "fixture", remedy)
        for glob in statement.exceptions:
            _check_glob(glob, ids, f"{statement.origin}: 'except'", "fixture", remedy)
        if isinstance(statement, Deviation) and next(covered(statement, catalog), None) is None:
            raise CatalogError(
                f"{statement.origin}: the deviation matches no case of the catalogue."
                f"{remedy or ' Mend its patterns, or delete it.'}"
            )
    for agreement in catalog.agreements:
        if max(Counter(case.fixture.id for case in covered(agreement, catalog)).values(), default=0) < 2:
            raise CatalogError(
                f"{agreement.origin}: no two routes of the agreement take the same one of its fixtures, so it compares "
                "nothing. Mend its patterns, or delete it."
            )


def covered(statement: Deviation | Agreement, catalog: Catalog) -> Iterator[Case]:
    """Yield what `statement` covers of the cases that any choice of fixtures makes; no matrix need choose them."""
    for route in catalog.routes:
        if matches(route.id, statement.routes):
            for fixture in catalog.fixtures:
                if route.takes(fixture) and covers(statement, case := Case(fixture, route)):
                    yield case


def _check_routes(catalog: Catalog) -> None:
    first: dict[str, Route] = {}
    for route in catalog.routes:
        if route.id in first:
            raise CatalogError(
                f"{route.origin}: the route {route.id!r} stands already at {first[route.id].origin}. Rename one."
            )
        first[route.id] = route


def _check_glob(glob: str, ids: Mapping[str, str], place: str, what: str, remedy: str = "") -> None:
    """Raise CatalogError for a glob that matches none of today's ids; `ids` leads to them from all that there were."""
    if any(fnmatchcase(id_, glob) for id_ in ids.values()):
        return
    if glob in ids:
        raise CatalogError(f"{place}: {glob!r} was renamed. Write {ids[glob]!r}.")
    raise CatalogError(f"{place}: {glob!r} matches no {what}. `conformance list {what}s` names them all.{remedy}")
