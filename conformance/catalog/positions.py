"""Where the tables of a TOML document stand: the line numbers that `tomllib` does not keep."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Position = tuple[str | int, ...]

_TOKEN = re.compile(
    r'''
    (?P<string> """(?:\\.|[^\\])*?"{3,5} | \'\'\'.*?'{3,5} | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
    | (?P<mark> [\[\]{}=,.\n] )
    | (?P<space> [ \t\r]+ | \#[^\n]* )
    | (?P<bare> [^\s\[\]{}=,."'\#]+ )
    ''',
    re.DOTALL | re.VERBOSE,
)


def table_lines(text: str) -> dict[Position, int]:
    """Map the position of every table, for example `("fixture", 3, "expect", 0)`, to its line.

    A key at the top, outside all tables, has a line as well. `text` is a document that tomllib has accepted.
    """
    return _Walk(text).lines


class _Walk:
    """Goes once through the tokens of a document, which is known to be valid: so one token tells what comes next."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Position, int] = {}
        self._tokens = [*_tokens(text), ("\n", 0)]
        self._at = 0
        self._last_index: dict[Position, int] = {}
        table: Position = ()
        while self._at < len(self._tokens):
            if self._ahead == "\n":
                self._next()
            elif self._ahead == "[":
                table = self._header()
            else:
                self._pair(table)

    @property
    def _ahead(self) -> str:
        return self._tokens[self._at][0]

    def _next(self) -> tuple[str, int]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _header(self) -> Position:
        _, line = self._next()
        one_of_many = self._ahead == "["
        if one_of_many:
            self._next()
        *parents, last = self._keys("]")
        position: Position = ()
        for key in parents:
            position = (*position, key)
            if position in self._last_index:
                position = (*position, self._last_index[position])
        position = (*position, last)
        if one_of_many:
            self._next()
            self.lines.setdefault(position, line)
            self._last_index[position] = self._last_index.get(position, -1) + 1
            position = (*position, self._last_index[position])
        self.lines[position] = line
        return position

    def _keys(self, end: str) -> list[str]:
        """Return the parts of a dotted key, and go past the `end` that follows it."""
        keys = []
        while (token := self._next()[0]) != end:
            if token != ".":
                keys.append(str(tomllib.loads(f"key = {token}")["key"]) if token[0] in "\"'" else token)
        return keys

    def _pair(self, table: Position) -> None:
        line = self._tokens[self._at][1]
        position = (*table, *self._keys("="))
        if not table:
            self.lines[position] = line
        self._value(position)

    def _value(self, position: Position) -> None:
        token, line = self._next()
        if token == "[":
            self._elements(position)
        elif token == "{":
            self.lines[position] = line
            while self._ahead != "}":
                if self._ahead in ",\n":
                    self._next()
                else:
                    self._pair(position)
            self._next()
        else:
            while self._ahead not in ",]}\n":
                self._next()

    def _elements(self, position: Position) -> None:
        index = 0
        while self._ahead != "]":
            if self._ahead in ",\n":
                index += self._next()[0] == ","
            else:
                self._value((*position, index))
        self._next()


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield every token but white space and comments, with its line. A line break is a token."""
    line = 1
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "space":
            yield found.group(), line
        line += found.group().count("\n")
