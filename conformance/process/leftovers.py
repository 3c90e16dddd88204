"""What a report says of the processes that a hook left behind."""

from __future__ import annotations

from collections.abc import Iterable

import psutil

from conformance.observation import Leftover

COMMAND_CHARACTERS = 200


def describe(processes: Iterable[psutil.Process]) -> tuple[Leftover, ...]:
    """Return what a report says of `processes`, sorted by pid."""
    return tuple(
        sorted(
            {Leftover(process.pid, _command(process)) for process in processes},
            key=lambda leftover: leftover.pid,
        )
    )


def _command(process: psutil.Process) -> str:
    try:
        return (" ".join(process.cmdline()) or process.name())[:COMMAND_CHARACTERS]
    except psutil.Error:
        return "(ended)"
