"""A baseline as a text: only the entries that change are written anew, and everything else keeps every byte.

Each entry is a block of lines, from the comment right above its header to the next block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.baseline.layout import KEYS, edited_table, new_table
from conformance.baseline.place import route_file_of, update_command
from conformance.baseline.slots import Slot
from conformance.catalog.baselines import read_baseline
from conformance.errors import CatalogError, HarnessError, UsageError
from conformance.model import Deviation, Origin
from conformance.whole_file import mode_of_new_files, replacement

INTRODUCTION = """\
# What is known to go wrong in the routes of {route_file}, beside which this file lies and with which it is loaded.
# `{command} REPORT...` keeps it up to date.
"""
_FILLER = re.compile(r"\s*(#.*)?\n?")
"""A line that belongs to no table."""


@dataclass
class _Block:
    comments: str
    """The lines right above the header."""
    table: str
    rest: str
    """Empty lines and comments behind it."""


class Document:
    """The text of a baseline, cut into its entries."""

    def __init__(self, text: str, entries: Iterable[Deviation], name: str) -> None:
        """Cut `text`, the content of the file called `name`, which holds `entries`; it is empty where there is none.

        Raises UsageError for entries that have no header of their own.
        """
        self._name = name
        self._newline = "\r\n" if "\r\n" in text else "\n"
        lines = re.findall(r"[^\n]*\n|[^\n]+", text.replace("\r\n", "\n"))
        self._blocks: dict[int, _Block] = {}
        end = len(lines)
        for entry in sorted(entries, key=lambda entry: -entry.origin.line):
            header = entry.origin.line - 1
            if not re.match(r"\s*\[\[", lines[header]):
                raise UsageError(
                    f"{entry.origin}: an entry that is written like this cannot be edited. "
                    f"Make it a [[{KEYS[entry.happens]}]] table."
                )
            self._blocks[entry.origin.line], end = _block(lines, header, end)
        self._head = "".join(lines[:end])

    def with_slots(self, slots: Sequence[Slot]) -> str:
        """Return the text in which `slots` are as they must become."""
        parts = [self._head]
        revised = {slot.old.origin.line: slot for slot in slots if slot.old is not None}
        for line in sorted(self._blocks):
            parts.append(_revised(self._blocks[line], revised[line]))
        for slot in slots:
            if slot.old is None and slot.now is not None:
                before = "".join(parts) or self._introduction()
                parts = [before, _set_apart(before), new_table(slot.now)]
        return "".join(parts).replace("\n", self._newline)

    def _introduction(self) -> str:
        route_file = route_file_of(self._name)
        return INTRODUCTION.format(route_file=route_file, command=update_command(route_file))


def _block(lines: Sequence[str], header: int, end: int) -> tuple[_Block, int]:
    """Return the block whose header is the line `header`, and where it starts; the next one starts at `end`."""
    start = header
    while start > 0 and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    last = end
    while _FILLER.fullmatch(lines[last - 1]):
        last -= 1
    return _Block("".join(lines[start:header]), "".join(lines[header:last]), "".join(lines[last:end])), start


def _revised(block: _Block, slot: Slot) -> str:
    assert slot.old is not None, "a block is that of an entry"
    if slot.now is None:
        return block.rest.lstrip("\n") if block.rest.strip() else ""
    table = block.table if slot.now == slot.old else edited_table(block.table, slot.old, slot.now)
    return block.comments + table + block.rest


def _set_apart(text: str) -> str:
    if text.endswith("\n\n"):
        return ""
    return "\n" if text.endswith("\n") else "\n\n"


_FAULT = "fault in conformance itself, please report it; nothing was changed"


def write_baseline(path: Path, text: str, entries: Sequence[Deviation], name: str) -> None:
    """Write the baseline at `path`, whole or not at all, once what was written was read back as `entries`.

    Raises UsageError where it cannot be written, HarnessError where it comes back as something else.
    """
    target = path.resolve()
    try:
        with replacement(target) as part:
            part.write_bytes(text.encode())
            _check(part, entries, name)
            part.chmod(_mode(target))
    except OSError as error:
        raise UsageError(f"{name}: cannot be written: {error.strerror}. Nothing was changed.") from error


def _check(part: Path, entries: Sequence[Deviation], name: str) -> None:
    try:
        found = [_nowhere(entry) for entry in read_baseline(part, name)]
    except CatalogError as error:
        raise HarnessError(f"{_FAULT}: {error}") from error
    if found != [_nowhere(entry) for entry in entries]:
        raise HarnessError(f"{_FAULT}: {name} would not hold what it should")


def _nowhere(entry: Deviation) -> Deviation:
    return replace(entry, origin=Origin("", 0))


def _mode(path: Path) -> int:
    """Return the mode of the file at `path`, or that of a new one."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return mode_of_new_files()
