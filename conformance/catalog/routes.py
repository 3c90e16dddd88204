"""The `[[route]]` tables of matrix and route files become routes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from conformance.errors import CatalogError
from conformance.model import ADAPTER, MARKER_SESSION, ONE_SHOT, SESSION, Dialogue, Origin, Route, State, UnfinishedLine
from conformance.shells import PROGRAM_NAMES, SHELL_NAMES
from conformance.systems import system_names
from conformance.template import Placeholder, placeholders, render

FILE_NAMES = ("file", "compiled")
"""The templates whose argument is one of the route's own files."""
DELIVERIES = frozenset({"body", "body_file"})
_EVERYWHERE = frozenset({"file", "folder"}) | PROGRAM_NAMES | SHELL_NAMES
NAMES = {
    ONE_SHOT: _EVERYWHERE | DELIVERIES,
    SESSION: _EVERYWHERE | {"compiled"},
    MARKER_SESSION: _EVERYWHERE | {"compiled"},
    ADAPTER: _EVERYWHERE | {"system"},
}
"""The templates that each kind of route may hold in argv and files."""
DIALOGUE_NAMES = {"request": frozenset({"body", "nonce"}), "begin": frozenset({"nonce"}), "end": frozenset({"nonce"})}
_KINDS = {"stdin": ONE_SHOT, "state": SESSION, "dialogue": MARKER_SESSION}
"""The keys that only one kind of route has."""

Texts = Mapping[str, str]
"""The texts of a route by the place where they stand."""


def route_from_argv(
    argv: tuple[str, ...], route_id: str, dialects: tuple[str, ...], judged_by: str, origin: Origin
) -> Route:
    """Return the one-shot route that a command line describes.

    Raises CatalogError where the hook's text would never reach the launcher, or a template is unknown.
    """
    table = {
        "id": route_id,
        "kind": ONE_SHOT,
        "dialects": list(dialects),
        "argv": list(argv),
        "judged_by": judged_by,
        "source": "",
    }
    return _build_route(table, {}, origin, None)


def read_route(origin: Origin, table: dict[str, Any], folder: Path) -> Route:
    """Return the route that `table` describes, whose files lie in `folder`.

    Raises CatalogError for templates that are unknown or lead nowhere, and for keys that its kind does not have.
    """
    texts = {name: _file_text(value, folder, name, origin) for name, value in table.get("files", {}).items()}
    return _build_route(table, texts, origin, folder.absolute())


def _build_route(table: dict[str, Any], files: dict[str, str], origin: Origin, folder: Path | None) -> Route:
    kind = table["kind"]
    for key, only in _KINDS.items():
        if key in table and kind != only:
            raise CatalogError(
                f"{origin}: {key} is for routes of kind {only!r}, and this one is {kind!r}. Take it out."
            )
    launched = {f"argv[{index}]": text for index, text in enumerate(table["argv"])}
    if "stdin" in table:
        launched["stdin"] = table["stdin"]
    found = _launch_placeholders(launched, files, NAMES[kind], origin)
    _check_environment(table.get("env", {}), origin)
    if kind == ONE_SHOT and not any(placeholder.name in DELIVERIES for placeholder in found):
        raise CatalogError(
            f"{origin}: route {table['id']!r} has no {{{{body}}}} and no {{{{body_file}}}}, "
            "so the hook's text never reaches the launcher. "
            "Put one of them where the launcher takes it."
        )
    shells = dict.fromkeys(placeholder.name for placeholder in found if placeholder.name in SHELL_NAMES)
    if next(iter(shells), "") != "pwsh" and any(placeholder.name == "compiled" for placeholder in found):
        raise CatalogError(
            f"{origin}: {{{{compiled:NAME}}}} is compiled by the pwsh of argv. Put {{{{pwsh}}}} first there."
        )
    if folder is None and any(placeholder.name == "folder" for placeholder in found):
        raise CatalogError(f"{origin}: {{{{folder}}}} is that of a route file, and there is none here. Write the path.")
    return Route(
        id=table["id"],
        kind=kind,
        dialects=tuple(table["dialects"]),
        argv=tuple(table["argv"]),
        files=files,
        environment=table.get("env", {}),
        shells=tuple(shells),
        judged_by=table.get("judged_by", "last-statement"),
        source=table["source"],
        origin=origin,
        stdin=table.get("stdin"),
        dialogue=_dialogue(table, origin) if kind == MARKER_SESSION else None,
        state=State(table.get("state", "kept")),
        fingerprint=table.get("fingerprint"),
        fixtures=tuple(table.get("fixtures", ())),
        exceptions=tuple(table.get("except", ())),
        folder=folder,
        programs=tuple(dict.fromkeys(placeholder.name for placeholder in found if placeholder.name in PROGRAM_NAMES)),
        systems=tuple(
            dict.fromkeys(placeholder.argument or "" for placeholder in found if placeholder.name == "system")
        ),
        aliases=tuple(table.get("aliases", ())),
    )


def _dialogue(table: dict[str, Any], origin: Origin) -> Dialogue:
    if "dialogue" not in table:
        raise CatalogError(f"{origin}: a route of kind {MARKER_SESSION!r} lacks the key 'dialogue'. Add it.")
    texts = table["dialogue"]
    found = {
        key: _checked(f"dialogue.{key}", texts[key], names, origin)
        for key, names in DIALOGUE_NAMES.items()
        if key in texts
    }
    if not any(placeholder.name == "body" for placeholder in found["request"]):
        raise CatalogError(f"{origin}: dialogue.request has no {{{{body}}}}. Put it where the shell is to run it.")
    try:
        pattern = re.compile(render(texts["end"], lambda _: "nonce"))
    except re.error as error:
        raise CatalogError(f"{origin}: dialogue.end is no regular expression: {error}. Mend it.") from error
    if "code" not in pattern.groupindex:
        raise CatalogError(f"{origin}: dialogue.end has no group (?P<code>...). Put it around the exit code.")
    if pattern.match(""):
        raise CatalogError(f"{origin}: dialogue.end matches no text at all. Put what the shell prints there into it.")
    if re.search(r"\(\?P<code>[^()]*\)\Z", texts["end"]):
        raise CatalogError(
            f"{origin}: dialogue.end ends with the code, of which more digits may follow. Put behind it what ends it."
        )
    unfinished_line = UnfinishedLine(texts.get("unfinished_line", "kept"))
    return Dialogue(texts["request"], texts.get("begin", ""), texts["end"], unfinished_line)


def _file_text(value: str | dict[str, str], folder: Path, name: str, origin: Origin) -> str:
    if isinstance(value, str):
        return value
    try:
        return (folder / value["path"]).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"{origin}: files.{name}: cannot read {value['path']!r} beside the matrix: {error}. Mend the path."
        ) from error


def _launch_placeholders(launched: Texts, files: Texts, names: Collection[str], origin: Origin) -> list[Placeholder]:
    """Return the templates of what is launched and of the files that it uses, directly or not."""
    found = [placeholder for place, text in launched.items() for placeholder in _checked(place, text, names, origin)]
    used: dict[str, list[str]] = {}
    for placeholder in found:  # which grows meanwhile by what the files hold
        name = placeholder.argument
        if name is None or name in used or placeholder.name not in FILE_NAMES:
            continue
        if name not in files:
            raise CatalogError(
                f"{origin}: {{{{{placeholder.name}:{name}}}}} names no file of the route. Add files.{name}."
            )
        inside = _checked(f"files.{name}", files[name], names, origin) if placeholder.name == "file" else ()
        used[name] = [within.argument or "" for within in inside if within.name in FILE_NAMES]
        found += inside
    for name in sorted(files.keys() - used):
        _checked(f"files.{name}", files[name], names, origin)
        raise CatalogError(f"{origin}: files.{name} is not used. Write {{{{file:{name}}}}} in argv, or delete it.")
    _check_no_cycle(used, origin)
    return found


def _checked(place: str, text: str, names: Collection[str], origin: Origin) -> tuple[Placeholder, ...]:
    try:
        found = placeholders(text, names)
        for placeholder in found:
            _check_argument(placeholder)
    except ValueError as error:
        raise CatalogError(f"{origin}: {place}: {error}.") from error
    return found


def _check_argument(placeholder: Placeholder) -> None:
    name = placeholder.name
    if name in FILE_NAMES:
        if not placeholder.argument:
            raise ValueError(
                f"{{{{{name}}}}} needs the name of a file: write {{{{{name}:NAME}}}}, with files.NAME beside argv"
            )
    elif name == "system":
        if placeholder.argument not in system_names():
            raise ValueError(
                f"{{{{system:{placeholder.argument or ''}}}}} names no system that can be installed: "
                f"the systems are {', '.join(system_names())}"
            )
    elif placeholder.argument is not None:
        raise ValueError(f"{{{{{name}}}}} takes no argument: write {{{{{name}}}}}")


def _check_no_cycle(uses: Mapping[str, Collection[str]], origin: Origin) -> None:
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
