"""Read a report back: as a whole, or what an interrupted run left of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import UsageError


@dataclass(frozen=True)
class Report:
    """A report that was read. `footer` is None where the run did not come to its end."""

    header: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    footer: dict[str, Any] | None

    @property
    def complete(self) -> bool:
        """Whether the run went through all of its cases."""
        return self.footer is not None


def read_report(path: Path) -> Report:
    """Read the report at `path`.

    Raises UsageError, with the line, for a file that is no report. A last line that was cut off is left out.
    """
    try:
        return parse_report(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read as a report: {error}") from error


def parse_report(data: bytes, name: str) -> Report:
    """Return the report that `data` holds, called `name` in messages.

    Raises UsageError, with the line, for what is no report. A last line that was cut off is left out.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: cannot be read as a report: {error}") from error
    values = [_value(name, number, line) for number, line in enumerate(lines[:-1], start=1)]
    if not values or values[0]["kind"] != "header":
        raise UsageError(
            f"{name}:1: not a report: the first line is no header. Give a file that `conformance run --report` wrote."
        )
    results = tuple(value for value in values if value["kind"] == "result")
    return Report(values[0], results, values[-1] if values[-1]["kind"] == "footer" else None)


def _value(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}:{number}: not a line of a report: {error}") from error
    if not isinstance(value, dict) or value.get("kind") not in ("header", "result", "footer"):
        raise UsageError(f"{name}:{number}: not a line of a report: its kind is none of header, result and footer")
    return value
