"""Entries of a baseline as TOML, and one that stands there edited in its place, with its comments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import Array, InlineTable

from conformance.baseline.patterns import pattern_table
from conformance.catalog.matrices import TABLES
from conformance.catalog.positions import table_lines
from conformance.description import describe_condition
from conformance.model import Deviation, Happens

LONGEST_LINE = 120
KEYS = {happens: key for key, happens in TABLES.items()}
"""The name of the table that documents what happens so often."""


def new_table(entry: Deviation) -> str:
    """Return the table of a new entry."""
    keys = [f"{key} = {_laid_out(key, value)}\n" for key, value in _values(entry).items()]
    return f"[[{KEYS[entry.happens]}]]\n" + "".join(keys)


def edited_table(text: str, old: Deviation, new: Deviation) -> str:
    """Return `text`, the table of `old`, as that of `new`; what both say alike stays as it was written."""
    if old.happens is not new.happens:
        text = _renamed(text, KEYS[old.happens], KEYS[new.happens])
    document: Any = tomlkit.parse(text)
    table = document[KEYS[new.happens]][0]
    before, after = _values(old), _values(new)
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            _set(table, key, after.get(key))
    return str(tomlkit.dumps(document))


def observed_text(entry: Deviation) -> str:
    """Return what `entry` says that is observed, as it stands in a file."""
    return _one_line(_values(entry)["observed"])


def _values(entry: Deviation) -> dict[str, Any]:
    patterns = [pattern_table(pattern) for pattern in entry.observed]
    return {
        "routes": list(entry.routes),
        "fixtures": list(entry.fixtures),
        **({"except": list(entry.exceptions)} if entry.exceptions else {}),
        "observed": patterns if entry.happens is Happens.SOMETIMES else patterns[0],
        **({"when": when} if (when := describe_condition(entry.condition)) else {}),
        "reason": entry.reason,
        "url": entry.url,
    }


def _renamed(text: str, old: str, new: str) -> str:
    """Return the table `text` with another name in its header, and in those of the tables in it."""
    lines = text.split("\n")
    for position, line in table_lines(text).items():
        if position[:1] == (old,):
            header = rf"(\s*\[+\s*)[\"']?{old}[\"']?(?=[\s\].])"
            lines[line - 1] = re.sub(header, rf"\g<1>{new}", lines[line - 1], count=1)
    return "\n".join(lines)


def _set(table: Any, key: str, value: Any) -> None:
    if value is None:
        del table[key]
        return
    standing = table.get(key)
    many_lines = isinstance(standing, Array) and "\n" in standing.as_string()
    if many_lines and isinstance(value, list) and _edited(standing, value):
        return
    if isinstance(standing, Array | InlineTable):
        table[key] = _item(key, value)
        return
    if standing is not None:
        del table[key]
    table.append(key, _item(key, value))


def _edited(array: Any, wanted: Sequence[Any]) -> bool:
    """Make an array of many lines hold what is `wanted`, so that comments stay beside what stays; tell if it does."""
    standing = array.unwrap()
    if [value for value in standing if value in wanted] != [value for value in wanted if value in standing]:
        return False
    if not all(isinstance(value, str) for value in wanted) and standing != list(wanted[: len(standing)]):
        return False
    for index in range(len(standing) - 1, -1, -1):
        if standing[index] not in wanted:
            del array[index]
            del standing[index]
    for index, value in enumerate(wanted):
        if index >= len(standing) or standing[index] != value:
            array.insert(index, _item("", value))
            standing.insert(index, value)
    try:
        return bool(tomllib.loads(f"value = {array.as_string()}\n")["value"] == wanted)
    except tomllib.TOMLDecodeError:  # a comment where a comma should be, which is not put right
        return False


def _item(key: str, value: Any) -> Any:
    """Return `value` as tomlkit has it, laid out as it is here."""
    return tomlkit.parse(f"value = {_laid_out(key, value)}\n")["value"]


def _laid_out(key: str, value: Any) -> str:
    text = _one_line(value)
    if isinstance(value, list) and len(f"{key} = {text}") > LONGEST_LINE:
        return "[\n" + "".join(f"  {_one_line(item)},\n" for item in value) + "]"
    return text


def _one_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_one_line(item)}' for name, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_one_line, value))}]"
    return str(tomlkit.item(value).as_string())
