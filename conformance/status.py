"""Exit statuses: how a process ended, kept apart by kind.

A status is never derived from a number that could mean two things: a hook that exits 137 is `exited(137)`, one killed
by SIGKILL is `signalled(9)`, one killed by the harness at its deadline is `timed_out`.
"""

from __future__ import annotations

import errno
import signal
from dataclasses import dataclass
from typing import Any

LAST_8_BIT_CODE = 255
SHELL_SIGNAL_BASE = 128


@dataclass(frozen=True, slots=True)
class Exited:
    """The process ended by itself with `code`: 0 to 255 on POSIX, an unsigned 32-bit number on Windows."""

    code: int

    def __str__(self) -> str:
        hexadecimal = f" = 0x{self.code:08X}" if self.code > LAST_8_BIT_CODE else ""
        return f"exited({self.code}{hexadecimal})"


@dataclass(frozen=True, slots=True)
class Signalled:
    """A signal that the harness did not send ended the process."""

    number: int

    def __str__(self) -> str:
        return f"signalled({self.number} {signal_name(self.number)})"


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The process still ran at its deadline and was killed with its whole tree by the harness."""

    def __str__(self) -> str:
        return "timed_out"


@dataclass(frozen=True, slots=True)
class FailedToStart:
    """The operating system refused to start the program (`errno`)."""

    errno: int
    detail: str

    def __str__(self) -> str:
        return f"failed_to_start({errno.errorcode.get(self.errno, self.errno)}: {self.detail})"


@dataclass(frozen=True, slots=True)
class NotReported:
    """The route did not tell how the hook ended."""

    reason: str

    def __str__(self) -> str:
        return f"not_reported({self.reason})"


ExitStatus = Exited | Signalled | TimedOut | FailedToStart | NotReported

_KINDS: dict[str, type[ExitStatus]] = {
    "exited": Exited,
    "signalled": Signalled,
    "timed_out": TimedOut,
    "failed_to_start": FailedToStart,
    "not_reported": NotReported,
}


def satisfies(expected: ExitStatus, observed: ExitStatus) -> bool:
    """Tell whether `observed` is what `expected` asks for.

    A death by signal n may arrive as `signalled(n)` or as `exited(128+n)`: the same body gives one through `bash -c`,
    which replaces itself by its last command, and the other from a file.
    Source: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
    """
    if isinstance(expected, FailedToStart):  # whatever words this system has for it
        return isinstance(observed, FailedToStart) and observed.errno == expected.errno
    if isinstance(expected, NotReported):
        return isinstance(observed, NotReported)
    if isinstance(expected, Signalled):
        return observed in (expected, Exited(SHELL_SIGNAL_BASE + expected.number))
    return observed == expected


def signal_name(number: int) -> str:
    """Return "SIGKILL" for 9, or "signal 77" where the number has no name here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def status_to_json(status: ExitStatus) -> dict[str, Any]:
    """Return the report's form of `status`: its kind and its fields."""
    kind = next(name for name, type_ in _KINDS.items() if isinstance(status, type_))
    return {"kind": kind, **{field: getattr(status, field) for field in status.__dataclass_fields__}}


def status_from_json(value: dict[str, Any]) -> ExitStatus:
    """Return the status that `status_to_json` wrote.

    Raises KeyError or TypeError for anything else.
    """
    fields = dict(value)
    return _KINDS[fields.pop("kind")](**fields)
