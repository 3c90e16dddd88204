"""The processes that a hook left behind: how one is known on any system, and what a report says of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import psutil

from conformance.observation import Leftover
from conformance.process.launch import TOKEN_VARIABLE

COMMAND_CHARACTERS = 200


def token_of(process: psutil.Process) -> str | None:
    """Return the token of the launch that `process` belongs to; None where it has none, or hides it."""
    with suppress(psutil.Error, OSError):
        return process.environ().get(TOKEN_VARIABLE)
    return None


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
