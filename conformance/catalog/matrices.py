"""Matrix files become matrices, routes, deviations and agreements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.catalog.routes import read_route
from conformance.catalog.source import read_source
from conformance.catalog.values import condition_in, status_in
from conformance.errors import CatalogError
from conformance.model import Agreement, Deviation, Matrix, ObservedPattern, Origin, Started
from conformance.payload import Literal, Payload
from conformance.shells import SHELL_NAMES


def read_matrix(path: Path, name: str) -> Matrix:
    """Read the matrix or route file at `path`, called `name` in messages.

    Raises CatalogError for a broken file or an unknown shell.
    """
    source = read_source(path, name, "matrix_file")
    routes = tuple(
        read_route(source.origin(("route", index)), table, path.parent)
        for index, table in enumerate(source.data.get("route", ()))
    )
    for shell in source.data.get("required", ()):
        if shell not in SHELL_NAMES:
            raise CatalogError(
                f"{source.origin(('required',))}: unknown shell {shell!r} in 'required'. "
                f"The shells are {', '.join(sorted(SHELL_NAMES))}."
            )
    return Matrix(
        name=path.stem,
        extends=source.data.get("extends"),
        required=tuple(source.data.get("required", ())),
        fixtures=tuple(source.data.get("fixtures", ())),
        routes=routes,
        deviations=tuple(
            _deviation(source.origin(("deviation", index)), table)
            for index, table in enumerate(source.data.get("deviation", ()))
        ),
        origin=source.origin(("fixtures",)),
        agreements=tuple(
            _agreement(source.origin(("agreement", index)), table)
            for index, table in enumerate(source.data.get("agreement", ()))
        ),
    )


def _deviation(origin: Origin, table: dict[str, Any]) -> Deviation:
    observed = table["observed"]
    return Deviation(
        routes=tuple(table["routes"]),
        fixtures=tuple(table["fixtures"]),
        exceptions=tuple(table.get("except", ())),
        observed=ObservedPattern(
            status=status_in(observed, origin),
            stdout=_observed_stream(observed.get("stdout"), origin),
            stderr=_observed_stream(observed.get("stderr"), origin),
            started=Started(observed["started"]) if "started" in observed else None,
            received=observed.get("received"),
        ),
        condition=condition_in(table, origin),
        reason=table["reason"],
        url=table["url"],
        origin=origin,
    )


def _agreement(origin: Origin, table: dict[str, Any]) -> Agreement:
    return Agreement(
        routes=tuple(table["routes"]),
        fixtures=tuple(table["fixtures"]),
        exceptions=tuple(table.get("except", ())),
        equal=tuple(table.get("equal", ("status",))),
        reason=table["reason"],
        url=table["url"],
        origin=origin,
    )


def _observed_stream(value: str | dict[str, str] | None, origin: Origin) -> Payload | str | None:
    if not isinstance(value, dict):
        return value
    if "text" in value:
        return Literal(value["text"].encode())
    try:
        return Literal(bytes.fromhex(value["hex"]))
    except ValueError as error:
        raise CatalogError(f'{origin}: hex is not a row of whole bytes: {error}. Write it like "00 ff".') from error
