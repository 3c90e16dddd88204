"""Paired measurements: the thing and what it is compared with take turns, so that both see the same machine."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Timed = Callable[[], float]
"""Does something once and returns how long it took, in seconds."""


@dataclass(frozen=True)
class Figure:
    """One measured figure beside its goal."""

    name: str
    goal: str
    measured: str
    met: bool | None
    """None where there is nothing to compare, or it could not be measured."""
    detail: str = ""


def timed(action: Callable[[], object]) -> Timed:
    """Return `action` as something that tells how long it took."""

    def run() -> float:
        started = time.perf_counter()
        action()
        return time.perf_counter() - started

    return run


def paired(first: Timed, second: Timed, rounds: int) -> list[tuple[float, float]]:
    """Run both in turn `rounds` times, each round in the other order, after one round that is thrown away."""
    pairs = []
    for number in range(rounds + 1):
        if number % 2:
            b, a = second(), first()
        else:
            a, b = first(), second()
        pairs.append((a, b))
    return pairs[1:]


def spread(values: Sequence[float], unit: str) -> str:
    """Return `values` as `median (least to most) unit`."""
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g}) {unit}"


def ends_well(command: Sequence[str | Path], folder: Path | None = None) -> Callable[[], None]:
    """Return an action that runs `command` in `folder`; its exit code must be 0, and its output is seen only if not."""

    def run() -> None:
        completed = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if completed.returncode:
            sys.exit(f"bench: {command} exited {completed.returncode}\n{completed.stderr.decode(errors='replace')}")

    return run


def peak_megabytes(command: Sequence[str | Path], folder: Path) -> float:
    """Run `command` in `folder` and return the most memory that it held, in MB (10^6 bytes)."""
    if sys.platform == "win32":
        raise NotImplementedError("the peak of a process's memory is not measured on Windows")
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
