"""The grid of fixtures and routes, for a terminal or a log: a row a fixture, a column a route in an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.text import Text

from conformance.observation import Basis
from conformance.report.index import Column
from conformance.report.results import Results
from conformance.views.terminal import LETTERS, ON_TEXT, STYLES, TEXT_NOTE, word
from conformance.views.text import printable

Line = Mapping[str, Any]

MOST_CELLS = 5_000_000
"""A grid of more is mostly empty, and nobody would read it."""
GAP = 2
FIXTURE_WIDTH = 12
"""A column of fixtures is never narrower, however long the ids are."""


@dataclass(frozen=True, slots=True)
class _Cell:
    word: str
    letter: str
    style: str


_EMPTY = _Cell("-", "-", "dim")


@dataclass(frozen=True, slots=True)
class _Row:
    fixture: str
    cells: Mapping[int, _Cell]
    """By the number of the column."""


def grid(results: Results, width: int) -> Iterator[Text]:
    """Yield the lines of the grid of `results` for a console of `width` characters.

    Where it is too narrow for words, a letter stands for each result; where it is too narrow for these, the columns
    stand in several blocks, one below the other.
    """
    columns = results.columns()
    rows = list(_rows(results, columns))
    if len(columns) * len(rows) > MOST_CELLS:
        yield Text(f"(no grid: it would have {len(rows)} rows and {len(columns)} columns)", style="dim")
        return
    fixture_width = max([len("fixture"), *(len(row.fixture) for row in rows)])
    heads = [_head(column, columns) for column in columns]
    widths = [max(map(len, head)) for head in heads]
    for row in rows:
        for number, cell in row.cells.items():
            widths[number] = max(widths[number], len(cell.word))
    if fixture_width + sum(widths) + GAP * len(widths) <= width:
        yield from _wide(rows, heads, fixture_width, widths)
    else:
        yield from _narrow(rows, columns, min(fixture_width, max(FIXTURE_WIDTH, width // 2)), width)
        yield from _legend(results, columns)


def _rows(results: Results, columns: Sequence[Column]) -> Iterator[_Row]:
    place = {column: number for number, column in enumerate(columns)}
    known: dict[_Cell, _Cell] = {}  # of a million cells only a few differ
    for fixture, lines in groupby(results.lines(), lambda line: str(line["fixture"])):
        found = ((place[Column(line["route"], line["environment"])], _cell(line)) for line in lines)
        yield _Row(fixture, {number: known.setdefault(cell, cell) for number, cell in found})


def _cell(line: Line) -> _Cell:
    mark = ON_TEXT if line["basis"] == Basis.TEXT else ""
    return _Cell(word(line), LETTERS[line["result"]] + mark, STYLES[line["result"]])


def _head(column: Column, columns: Sequence[Column]) -> list[str]:
    """Return the lines of a column's head: its environment below its route, where the route has more than one."""
    several = sum(other.route == column.route for other in columns) > 1
    return [*column.route.split("-", 1), *(printable(column.environment).split("/") if several else [])]


def name(column: Column, columns: Sequence[Column]) -> str:
    """Return what `column` is called among `columns` on one line."""
    several = sum(other.route == column.route for other in columns) > 1
    return f"{column.route} on {printable(column.environment)}" if several else column.route


def _wide(rows: Sequence[_Row], heads: Sequence[Sequence[str]], left: int, widths: Sequence[int]) -> Iterator[Text]:
    height = max(map(len, heads), default=1)
    for number in range(height):
        first = "fixture" if number == height - 1 else ""
        lines = [head[number - height + len(head)] if number >= height - len(head) else "" for head in heads]
        yield _line(first, left, [(text, "bold") for text in lines], widths, "bold")
    for row in rows:
        cells = [row.cells.get(number, _EMPTY) for number in range(len(widths))]
        yield _line(row.fixture, left, [(cell.word, cell.style) for cell in cells], widths)


def _narrow(rows: Sequence[_Row], columns: Sequence[Column], left: int, width: int) -> Iterator[Text]:
    cell_width = max(len(str(len(columns))), *(len(cell.letter) for row in rows for cell in row.cells.values()), 1)
    block = max(1, (width - left) // (cell_width + GAP))
    widths = [cell_width] * block
    for start in range(0, len(columns), block):
        numbers = range(start, min(start + block, len(columns)))
        yield _line("fixture", left, [(str(number + 1), "bold") for number in numbers], widths, "bold")
        for row in rows:
            cells = [row.cells.get(number, _EMPTY) for number in numbers]
            if start and not any(number in row.cells for number in numbers):
                continue
            *folded, last = [row.fixture[at : at + left] for at in range(0, len(row.fixture), left)]
            yield from map(Text, folded)
            yield _line(last, left, [(cell.letter, cell.style) for cell in cells], widths)
        yield Text()


def _line(first: str, left: int, cells: Sequence[tuple[str, str]], widths: Sequence[int], style: str = "") -> Text:
    line = Text(first.ljust(left) if cells else first, style=style)
    for number, ((text, cell_style), width) in enumerate(zip(cells, widths, strict=False), start=1):
        line.append(" " * GAP)
        line.append(text if number == len(cells) else text.ljust(width), cell_style)
    line.rstrip()
    return line


def _legend(results: Results, columns: Sequence[Column]) -> Iterator[Text]:
    yield from (Text(f"{number} {name(column, columns)}") for number, column in enumerate(columns, start=1))
    counts = results.counts()
    yield from (Text(f"{letter} {kind}") for kind, letter in LETTERS.items() if counts.get(kind))
    if results.on_text:
        yield Text(f"{ON_TEXT} {TEXT_NOTE}")
