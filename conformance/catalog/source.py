"""TOML files checked against a JSON Schema, with the line of every table, so that an error can say `file:line`."""

from __future__ import annotations

import difflib
import itertools
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema.exceptions import ValidationError, relevance

from conformance.catalog.positions import Position, table_lines
from conformance.errors import CatalogError
from conformance.model import Origin
from conformance.schema import validator

_DECODE_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


_TABLES = ("fixture", "step", "expect", "route", "deviation", "flaky", "agreement")
"""The arrays of tables, each of which holds its own kind."""


@dataclass(frozen=True)
class SourceFile:
    """A checked TOML file: its data, and where its tables stand."""

    name: str
    data: dict[str, Any]
    lines: dict[Position, int]

    def origin(self, position: Position) -> Origin:
        """Return the place of the innermost table that holds `position`, for example `("fixture", 3, "expect", 0)`."""
        for end in range(len(position), 0, -1):
            if position[:end] in self.lines:
                return Origin(self.name, self.lines[position[:end]])
        return Origin(self.name, 1)


def read_source(path: Path, name: str, file_kind: str) -> SourceFile:
    """Read the TOML file at `path`, called `name` in messages, and check it as a `fixture_file` or a `matrix_file`.

    Raises CatalogError for a file that cannot be read, is not TOML, or does not fit the schema.
    """
    source = parse_source(path, name)
    check_source(source, file_kind)
    return source


def parse_source(path: Path, name: str) -> SourceFile:
    """Read the TOML file at `path`, called `name` in messages.

    Raises CatalogError for a file that cannot be read, or is not TOML.
    """
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise CatalogError(
            f"{name}: cannot be read: {error.strerror}. Give the name of a readable TOML file."
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CatalogError(
            f"{name}:{line}: byte {error.start} of the file is not UTF-8. "
            'Save it as UTF-8; bytes go in { hex = ".." }.'
        ) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(_decode_message(name, text, str(error))) from error
    except (ValueError, RecursionError) as error:
        raise CatalogError(
            f"{name}:1: a number is too long, or arrays are nested too deeply, to be read: {error}. Cut it down."
        ) from error
    return SourceFile(name, data, table_lines(text))


def check_source(source: SourceFile, file_kind: str) -> None:
    """Raise CatalogError where `source` does not fit the schema of files of that kind."""
    misfit = max(validator("catalog", file_kind).iter_errors(source.data), key=relevance, default=None)
    if misfit is not None:
        position = tuple(misfit.absolute_path)
        origin = source.origin((*position, *_unknown_keys(misfit)[:1]))
        raise CatalogError(f"{origin}: {_schema_message(misfit, position)}")


def _decode_message(name: str, text: str, message: str) -> str:
    found = _DECODE_POSITION.search(message)
    line = found[1] if found and found[1] else str(text.count("\n") + 1)
    return f"{name}:{line}: not valid TOML: {_DECODE_POSITION.sub('', message)}. Mend this line; see https://toml.io/en/v1.0.0."


def _unknown_keys(error: ValidationError) -> list[str]:
    if error.validator != "additionalProperties" or not isinstance(error.instance, dict):
        return []
    return sorted(set(error.instance) - set(error.schema.get("properties", ())))


def _schema_message(error: ValidationError, position: Position) -> str:
    """Say in one sentence what was found, what was expected and what to do."""
    place = _place(position)
    unknown = _unknown_keys(error)
    if unknown:
        known = sorted(error.schema.get("properties", ()))
        return (
            f"unknown key {unknown[0]!r} in {place}{_suggestion(unknown[0], known)}. "
            f"The keys here are {', '.join(known)}."
        )
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{place} lacks the key {missing[0]!r}. Add it."
    described = _description(error)
    if described:
        return f"{place} is {_short(error.instance)}, but {described} is expected."
    return f"{place}: {error.message}. See conformance/schemas/catalog.schema.json for what is expected."


def _description(error: ValidationError) -> str:
    while error is not None:
        schema = error.schema
        if isinstance(schema, dict) and "description" in schema:
            return str(schema["description"])
        error = error.parent
    return ""


def _place(position: Sequence[str | int]) -> str:
    """Name what stands at `position`: a table as its header is written, a key as it is seen from its table."""
    tables = [key for key, index in itertools.pairwise(position) if key in _TABLES and isinstance(index, int)]
    keys = position[2 * len(tables) :]
    if not keys:
        return f"[[{'.'.join(map(str, tables))}]]" if tables else "the file"
    written = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return repr(written.removeprefix("."))


def _suggestion(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
