"""Where a baseline stands: in `NAME.baseline.toml`, beside the file `NAME.toml` whose routes it tells of."""

from __future__ import annotations

import shlex
from pathlib import Path

from conformance.model import Deviation

SUFFIX = ".baseline.toml"
REPORT = "conformance-report.jsonl"
"""Where `run` writes its report, unless it is told otherwise."""


def baseline_of(route_file: Path) -> Path:
    """Return the path of the baseline of `route_file`, whether or not it exists."""
    return route_file.with_name(route_file.name.removesuffix(".toml") + SUFFIX)


def route_file_of(baseline: str) -> str:
    """Return the route file that `baseline` belongs to."""
    return baseline.removesuffix(SUFFIX) + ".toml"


def in_baseline(deviation: Deviation) -> bool:
    """Tell whether `deviation` stands in a baseline, which the command keeps, and not in a matrix or route file."""
    return deviation.origin.file.endswith(SUFFIX)


def update_command(route_file: str, *arguments: str) -> str:
    """Return the command that brings the baseline of `route_file` up to date, as a user writes it."""
    return " ".join(["conformance baseline update --route", *map(quoted, (route_file, *arguments))])


def mending(deviation: Deviation, *reports: str) -> str:
    """Return the command that mends `deviation`, which stands in a baseline."""
    return f"`{update_command(route_file_of(deviation.origin.file), *reports)}`"


def quoted(text: str) -> str:
    """Return `text` quoted for a shell, which must still see that a home is meant."""
    home = "~/" if text.startswith("~/") else ""
    return home + shlex.quote(text.removeprefix(home))
