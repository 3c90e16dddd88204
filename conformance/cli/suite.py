"""The catalogue that a report is of, where it is here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from conformance.catalog import Catalog, load_catalog, matrix_names
from conformance.errors import UsageError


def suite_of(header: Mapping[str, Any], route_files: Iterable[Path]) -> Catalog:
    """Return the catalogue that the report with this `header` is of, with those of the user's `route_files` it names.

    Raises UsageError where that suite is not the one that is here, CatalogError for a broken file.
    """
    suite = header["suite"]
    own = {path.stem: str(path) for path in route_files}
    missing = [name for name in suite["matrices"] if name not in own and name not in matrix_names()]
    if missing:
        raise UsageError(f"{', '.join(missing)} is no shipped matrix. Give the file of your routes with --route")
    catalog = load_catalog([own.get(name, name) for name in suite["matrices"]])
    if catalog.digest != suite["digest"]:
        raise UsageError(
            f"the suite that is here ({catalog.digest[:12]}) is not the one of the report ({suite['digest'][:12]}). "
            "Work in the checkout that was run"
        )
    return catalog
