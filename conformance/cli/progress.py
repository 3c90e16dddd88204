"""Progress on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

LOG_LINES = 10
"""How many lines a run writes into a log that is no terminal."""


@contextmanager
def progress(total: int) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function to be called with every result line; `total` is the number of cases."""
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("cases", total=total)
            yield lambda line: bar.update(task, advance=1)
    else:
        yield _Log(console, total)


class _Log:
    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0

    def __call__(self, line: Mapping[str, Any]) -> None:
        before = self._done * LOG_LINES // self._total
        self._done += 1
        if self._done * LOG_LINES // self._total > before:
            self._console.print(f"{self._done} of {self._total} cases", highlight=False)
