"""Matrix and route files become matrices, routes, deviations and agreements."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from conformance.catalog.source import SourceFile, read_source
from conformance.catalog.values import condition_in, status_in
from conformance.errors import CatalogError
from conformance.model import Agreement, Deviation, Matrix, ObservedPattern, Origin, Route, Started
from conformance.payload import Literal, Payload
from conformance.shells import SHELL_NAMES
from conformance.template import Placeholder, placeholders

DELIVERIES = frozenset({"body", "body_file"})
LAUNCH_NAMES = DELIVERIES | {"file"} | SHELL_NAMES


def read_matrix(path: Path, name: str) -> Matrix:
    """Read the matrix or route file at `path`, called `name` in messages.

    Raises CatalogError for a broken file or an unknown shell.
    """
    source = read_source(path, name, "matrix_file")
    routes = tuple(
        _route(source, index, table, path.parent) for index, table in enumerate(source.data.get("route", ()))
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


def route_from_argv(
    argv: tuple[str, ...], route_id: str, dialects: tuple[str, ...], judged_by: str, origin: Origin
) -> Route:
    """Return the one-shot route that a command line describes.

    Raises CatalogError where the hook's text would never reach the launcher, or a template is unknown.
    """
    table = {
        "id": route_id,
        "kind": "one-shot",
        "dialects": list(dialects),
        "argv": list(argv),
        "judged_by": judged_by,
        "source": "",
    }
    return _build_route(table, {}, origin)


def _route(source: SourceFile, index: int, table: dict[str, Any], folder: Path) -> Route:
    origin = source.origin(("route", index))
    texts = {name: _file_text(value, folder, name, origin) for name, value in table.get("files", {}).items()}
    return _build_route(table, texts, origin)


def _build_route(table: dict[str, Any], texts: dict[str, str], origin: Origin) -> Route:
    found = _launch_placeholders(table, texts, origin)
    _check_environment(table.get("env", {}), origin)
    if not any(placeholder.name in DELIVERIES for placeholder in found):
        raise CatalogError(
            f"{origin}: route {table['id']!r} has no {{{{body}}}} and no {{{{body_file}}}}, "
            "so the hook's text never reaches the launcher. "
            "Put one of them where the launcher takes it."
        )
    shells = dict.fromkeys(placeholder.name for placeholder in found if placeholder.name in SHELL_NAMES)
    return Route(
        id=table["id"],
        kind=table["kind"],
        dialects=tuple(table["dialects"]),
        argv=tuple(table["argv"]),
        files=texts,
        environment=table.get("env", {}),
        shells=tuple(shells),
        judged_by=table.get("judged_by", "last-statement"),
        source=table["source"],
        origin=origin,
        stdin=table.get("stdin"),
        fingerprint=table.get("fingerprint"),
    )


def _file_text(value: str | dict[str, str], folder: Path, name: str, origin: Origin) -> str:
    if isinstance(value, str):
        return value
    try:
        return (folder / value["path"]).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"{origin}: files.{name}: cannot read {value['path']!r} beside the matrix: {error}. Mend the path."
        ) from error


def _launch_placeholders(table: dict[str, Any], texts: dict[str, str], origin: Origin) -> list[Placeholder]:
    """Return the templates of argv, of what is fed on stdin, and of the files that these use, directly or not."""
    launched = {f"argv[{index}]": text for index, text in enumerate(table["argv"])}
    if "stdin" in table:
        launched["stdin"] = table["stdin"]
    in_files = {name: _checked(f"files.{name}", text, origin) for name, text in texts.items()}
    found = [placeholder for place, text in launched.items() for placeholder in _checked(place, text, origin)]
    used: set[str | None] = set()
    for placeholder in found:  # which grows meanwhile by what the files hold
        name = placeholder.argument
        if placeholder.name == "file" and name not in used:
            if name is None or name not in in_files:
                raise CatalogError(f"{origin}: {{{{file:{name}}}}} names no file of the route. Add files.{name}.")
            used.add(name)
            found += in_files[name]
    for name in sorted(texts.keys() - used):
        raise CatalogError(f"{origin}: files.{name} is not used. Write {{{{file:{name}}}}} in argv, or delete it.")
    _check_no_cycle(in_files, origin)
    return found


def _checked(place: str, text: str, origin: Origin) -> tuple[Placeholder, ...]:
    try:
        found = placeholders(text, LAUNCH_NAMES)
        for placeholder in found:
            _check_argument(placeholder)
    except ValueError as error:
        raise CatalogError(f"{origin}: {place}: {error}.") from error
    return found


def _check_argument(placeholder: Placeholder) -> None:
    if placeholder.name == "file" and not placeholder.argument:
        raise ValueError("{{file}} needs the name of a file: write {{file:NAME}}, with files.NAME beside argv")
    if placeholder.name != "file" and placeholder.argument is not None:
        raise ValueError(f"{{{{{placeholder.name}}}}} takes no argument: write {{{{{placeholder.name}}}}}")


def _check_no_cycle(in_files: dict[str, tuple[Placeholder, ...]], origin: Origin) -> None:
    uses = {name: [p.argument for p in found if p.name == "file"] for name, found in in_files.items()}
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        chain = " > ".join(f"files.{name}" for name in reversed(error.args[1]))
        raise CatalogError(f"{origin}: {chain}: a file that holds itself has no end. Take one out.") from error


def _check_environment(environment: dict[str, str], origin: Origin) -> None:
    """Templates are filled in where the hook's text may go; one in a variable would reach the launcher as it stands."""
    for name, value in environment.items():
        try:
            placeholders(value, ())
        except ValueError as error:
            raise CatalogError(
                f"{origin}: env.{name} holds a template, but templates are expected in argv and files only. "
                "Write plain text, or set the variable in a wrapper file."
            ) from error


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
