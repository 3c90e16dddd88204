"""Values of which each is written once, however often it occurs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from conformance.views.text import printable


def script_json(value: object) -> str:
    """Return `value` as JSON that is ASCII and in which no tag, entity or end of a script can be."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class Pool:
    """Texts and lists, each with a number. A list refers to others by their numbers."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._lists: dict[str, int] = {}

    def text(self, value: str) -> int:
        """Return the number of a text."""
        return self._texts.setdefault(value, len(self._texts))

    def list(self, *items: object) -> int:
        """Return the number of a list."""
        return self._lists.setdefault(script_json(items), len(self._lists))

    def chunks(self) -> Iterator[str]:
        """Yield the parts of a JSON object with all texts, made safe to show, and all lists, in order."""
        yield '{"texts":['
        yield from _separated(script_json(printable(text)) for text in self._texts)
        yield '],"lists":['
        yield from _separated(self._lists)
        yield "]}"


def _separated(values: Iterator[str] | dict[str, int]) -> Iterator[str]:
    separator = ""
    for value in values:
        yield separator + value
        separator = ","
