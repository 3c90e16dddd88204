"""Matrix files become matrices, routes, deviations and agreements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.catalog.routes import read_route
from conformance.catalog.source import SourceFile, read_source
from conformance.catalog.values import condition_in, status_in
from conformance.errors import CatalogError
from conformance.model import Agreement, Deviation, Happens, Matrix, ObservedPattern, Origin, Started
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
        deviations=deviations_in(source),
        origin=source.origin(("fixtures",)),
        agreements=tuple(
            _agreement(source.origin(("agreement", index)), table)
            for index, table in enumerate(source.data.get("agreement", ()))
        ),
    )


def deviations_in(source: SourceFile) -> tuple[Deviation, ...]:
    """Return what the `[[deviation]]` and `[[flaky]]` tables of `source` document, in the order of the file.

    Raises CatalogError for what the schema cannot tell.
    """
    found = [
        _deviation(source.origin((key, index)), table, happens)
        for key, happens in TABLES.items()
        for index, table in enumerate(source.data.get(key, ()))
    ]
    return tuple(sorted(found, key=lambda deviation: deviation.origin.line))


TABLES = {"deviation": Happens.ALWAYS, "flaky": Happens.SOMETIMES}
"""The tables that document departures, and how often these happen."""


def _deviation(origin: Origin, table: dict[str, Any], happens: Happens) -> Deviation:
    observed = table["observed"] if happens is Happens.SOMETIMES else [table["observed"]]
    return Deviation(
        routes=tuple(table["routes"]),
        fixtures=tuple(table["fixtures"]),
        exceptions=tuple(table.get("except", ())),
        observed=tuple(observed_pattern(pattern, origin) for pattern in observed),
        condition=condition_in(table, origin),
        reason=table["reason"],
        url=table["url"],
        origin=origin,
        happens=happens,
    )


def observed_pattern(table: dict[str, Any], origin: Origin) -> ObservedPattern:
    """Return the observation that an `observed` table documents.

    Raises CatalogError for what the schema cannot tell.
    """
    return ObservedPattern(
        status=status_in(table, origin),
        stdout=_observed_stream(table.get("stdout"), origin),
        stderr=_observed_stream(table.get("stderr"), origin),
        started=Started(table["started"]) if "started" in table else None,
        received=table.get("received"),
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
