"""Baseline files become the deviations that a user documents beside routes of their own."""

from __future__ import annotations

from pathlib import Path

from conformance.baseline.place import baseline_of, route_file_of
from conformance.catalog.matrices import TABLES, deviations_in
from conformance.catalog.source import check_source, parse_source
from conformance.errors import CatalogError
from conformance.model import Deviation
from conformance.paths import data_folder


def baseline_file(matrix: Path) -> Path | None:
    """Return the baseline of the file `matrix`, if it has one; what is shipped has none."""
    path = baseline_of(matrix)
    owned = matrix.suffix == ".toml" and matrix.parent != data_folder("matrices")
    return path if owned and path.exists() else None


def read_baseline(path: Path, name: str) -> tuple[Deviation, ...]:
    """Read the baseline at `path`, called `name` in messages.

    Raises CatalogError for a broken file, and for one that holds anything but deviations and what is flaky.
    """
    source = parse_source(path, name)
    for key in source.data:
        if key not in TABLES:
            raise CatalogError(
                f"{source.origin((key,))}: {key!r} has no place in a baseline, which holds [[deviation]] and [[flaky]] "
                f"tables only. Routes, and all else, belong in {route_file_of(name)}."
            )
    check_source(source, "baseline_file")
    return deviations_in(source)
