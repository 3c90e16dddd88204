"""What several tests share: the `conformance` command run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "conformance")
FREE_OF = (
    "CONFORMANCE_PWSH",
    "NO_COLOR",
    "FORCE_COLOR",
    "TERM",
    "COLUMNS",
    "LINES",
    "PYTEST_ADDOPTS",
    "PYTEST_XDIST_WORKER",
)
"""Variables of the developer's that would change what the command does."""


@dataclass(frozen=True)
class Finished:
    """A command that ran to its end. Its output was decoded as UTF-8, as a terminal would."""

    code: int
    out: str
    err: str


def command_environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return this process's environment without what would change the command, with `changes` (None takes one out)."""
    environment = {name: value for name, value in os.environ.items() if name not in FREE_OF}
    for name, value in (changes or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def run_cli(
    *arguments: str | Path,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> Finished:
    """Run `conformance ARGUMENTS` as a process. `env` changes the environment; None takes a variable out of it."""
    completed = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=command_environment(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )
    return Finished(completed.returncode, completed.stdout, completed.stderr)


@pytest.fixture(name="run_cli")
def run_cli_fixture() -> object:
    """Give `run_cli` to tests that like to ask for it."""
    return run_cli
