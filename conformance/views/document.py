"""A text in sections, for a terminal or as Markdown. Much of it comes from others, so all is made safe to show."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.views.text import printable

_NEEDS_NO_ESCAPE = re.compile(r"(?!\d+[.)])[^\W_](?:[^\W_]|[ .,:;'\"()/?=+%-])*|")
"""Text that means in Markdown what it says."""
_BECOMES_A_LINK = re.compile(r"www\.|://|\bGH-\d", re.IGNORECASE)
"""What GitHub makes a link of wherever it stands."""


@dataclass(frozen=True)
class Sentences:
    """Prose."""

    text: str


@dataclass(frozen=True)
class Fields:
    """Names, each with a value of one line."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Verbatim:
    """Lines that keep every blank, under a name."""

    name: str
    text: str


@dataclass(frozen=True)
class Table:
    """Rows of cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Script:
    """A program of ours under a name, exactly as it is; Markdown folds it."""

    name: str
    language: str
    text: str


Block = Sentences | Fields | Verbatim | Table | Script


@dataclass(frozen=True)
class Section:
    """Blocks under a title."""

    title: str
    blocks: tuple[Block, ...]


def as_text(sections: Iterable[Section]) -> str:
    """Return `sections` for a terminal."""
    return "\n\n".join(
        "\n".join([printable(section.title), *(line for block in section.blocks for line in _text_lines(block))])
        for section in sections
    )


def _text_lines(block: Block) -> Iterator[str]:
    if isinstance(block, Sentences):
        yield from (f"  {line}" for line in printable(block.text).split("\n"))
    elif isinstance(block, Fields):
        pairs = [(printable(name), printable(value)) for name, value in block.rows]
        width = max(len(name) for name, _ in pairs)
        yield from (f"  {name:<{width}}  {value}" for name, value in pairs)
    elif isinstance(block, Verbatim):
        yield f"  {printable(block.name)}:"
        yield textwrap.indent(printable(block.text), "    | ", lambda line: True)
    elif isinstance(block, Script):
        yield f"  {printable(block.name)}:"
        yield block.text
    else:
        rows = [tuple(map(printable, row)) for row in (block.header, *block.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  " + "  ".join(f"{value:<{width}}" for value, width in zip(row, widths, strict=True)).rstrip()


def as_markdown(sections: Iterable[Section]) -> str:
    """Return `sections` as Markdown that can be pasted into an issue: nothing in them can break out of its place."""
    return "\n".join(
        f"### {escaped(section.title)}\n\n" + "\n".join(map(_markdown, section.blocks)) for section in sections
    )


def _markdown(block: Block) -> str:
    if isinstance(block, Sentences):
        return f"{escaped(block.text)}\n"
    if isinstance(block, Fields):
        return "".join(f"{_bullet(name)} {escaped(name.strip())}: {escaped(value)}\n" for name, value in block.rows)
    if isinstance(block, Verbatim):
        return f"{escaped(block.name)}:\n\n{fenced(printable(block.text), 'text')}"
    if isinstance(block, Script):
        program = fenced(block.text.removesuffix("\n"), block.language)
        return f"<details><summary>{block.name}</summary>\n\n{program}\n</details>\n"
    header, *rows = (
        "| " + " | ".join(escaped(value).replace("|", "\\|") for value in row) + " |\n"
        for row in (block.header, *block.rows)
    )
    return "".join([header, "|" + " --- |" * len(block.header) + "\n", *rows])


def fenced(text: str, language: str) -> str:
    """Return `text` as a block of code, which nothing in it can end."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _bullet(name: str) -> str:
    return "  -" if name.startswith(" ") else "-"


def escaped(text: str) -> str:
    """Return one line of Markdown that shows `text`; as code where its characters could mean something else."""
    line = printable(text).replace("\n", " ")
    if re.fullmatch(r"https?://[^\s<>]+", line):
        return f"<{line}>"
    if _NEEDS_NO_ESCAPE.fullmatch(line) and not _BECOMES_A_LINK.search(line):
        return line
    return code(line)


def code(text: str) -> str:
    """Return one line of Markdown that shows `text` as code."""
    line = printable(text).replace("\n", " ") or " "
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
