"""Progress on standard error: a bar on a terminal, a line now and then elsewhere, and at once what went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.report.findings import line_gates
from conformance.views.terminal import cell

LOG_LINES = 10
"""How many lines a run writes into a log that is no terminal."""
EARLY_NEWS = 10
"""How many cases are told of before the summary; one broken route must not fill the screen."""
BAR_COLUMNS = 40
BESIDE_BAR_COLUMNS = 30
"""What stands beside the bar: a word, the counts and the time."""

OnLine = Callable[[Mapping[str, Any]], None]


@contextmanager
def progress(total: int, things: str = "cases") -> Iterator[OnLine]:
    """Yield a function to be called with every result line; `total` is the number of cases, or of other `things`."""
    console = Console(stderr=True, highlight=False)
    # Whether colour is forced (FORCE_COLOR, as in many CI systems) says nothing about moving a cursor.
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        bar = BarColumn(bar_width=max(5, min(BAR_COLUMNS, console.width - BESIDE_BAR_COLUMNS)))
        columns = (TextColumn(things), bar, MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as display:
            task = display.add_task(things, total=total)
            news = _News(console)

            def on_line(line: Mapping[str, Any]) -> None:
                news(line)
                display.advance(task)

            yield on_line
    else:
        yield _Log(console, total, things)


class _News:
    """Tells at once of what is not as documented."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._left = EARLY_NEWS

    def __call__(self, line: Mapping[str, Any]) -> None:
        if self._left and (line_gates(line) or line["result"] == "error"):
            self._left -= 1
            more = "" if self._left else "  (the summary names the others)"
            self._console.print(cell(line), line["id"] + more, soft_wrap=not self._console.is_terminal)


class _Log:
    """Writes a line whenever another tenth is done."""

    def __init__(self, console: Console, total: int, things: str) -> None:
        self._console = console
        self._news = _News(console)
        self._total = total
        self._things = things
        self._done = 0

    def __call__(self, line: Mapping[str, Any]) -> None:
        self._news(line)
        before = self._done * LOG_LINES // self._total
        self._done += 1
        if self._done * LOG_LINES // self._total > before:
            self._console.print(f"{self._done} of {self._total} {self._things}")
