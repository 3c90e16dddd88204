"""Render `{{native:N}}`, `{{mark}}` and `{{witness}}` in bodies."""

from __future__ import annotations

from pathlib import PurePath
from typing import Protocol

from conformance.template import Placeholder, render


class Natives(Protocol):
    """The programs of a place that bodies start. Paths have forward slashes, and need no quotes in any shell.

    The witness record's path is in the text of the body, since a route may pass no environment.
    """

    def native(self, code: str, record: str) -> str:
        """Return the command that leaves its mark in `record` and exits with `code`."""

    def witness(self, record: str) -> str:
        """Return the command that performs the verbs which follow it, and writes down in `record` what it did."""


def rendered_body(body: str, dialect: str, natives: Natives, record: PurePath) -> str:
    """Return `body`, which is written in `dialect`, with its templates filled in."""

    def command(placeholder: Placeholder) -> str:
        path = record.as_posix()
        if placeholder.name == "filler":
            return "x" * int(placeholder.argument or "")
        if placeholder.name == "native":
            text = natives.native(placeholder.argument or "", path)
        else:
            text = natives.witness(path) if placeholder.name == "witness" else _mark(dialect, path)
        return text.replace("/", "\\") if dialect == "cmd" else text

    return render(body, command)


def _mark(dialect: str, record: str) -> str:
    """Return the statement that leaves a mark in `record` with nothing but what the shell has built in."""
    if dialect in ("pwsh", "powershell5"):
        return f"[IO.File]::AppendAllText('{record}', \"mark`n\")"
    return f"echo mark>>{record}" if dialect == "cmd" else f"printf 'mark\\n' >>{record}"
