"""What the known status policies make of a few telling fixtures: the table by which a route's fingerprint is read.

The columns of `last-statement` and `last-native` are the two readings of the contract. `success-flag` and `exit-only`
are what pwsh itself does with -Command and with -File.
Source: https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_pwsh
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NONE = "none of these"

POLICIES: Mapping[str, str] = {
    "last-statement": "the last statement decides, with the code of its own native",
    "last-native": "the code of the last native decides, whatever came after it",
    "success-flag": "0 or 1, as the last statement succeeded or failed, unless the body says exit",
    "exit-only": "0, unless the body says exit or an error ends it",
}
"""The policies by name, each in a few words."""


@dataclass(frozen=True)
class Telling:
    """A fixture that tells policies apart."""

    fixture: str
    happens: str
    codes: Mapping[str, int]
    """Policy -> the exit code that it makes of the fixture."""


def _rows(policies: tuple[str, ...], *rows: tuple[str, str, tuple[int, ...]]) -> tuple[Telling, ...]:
    return tuple(Telling(fixture, happens, dict(zip(policies, codes, strict=True))) for fixture, happens, codes in rows)


POWERSHELL = _rows(
    ("last-statement", "last-native", "success-flag", "exit-only"),
    ("exit-codes/none", "nothing fails", (0, 0, 0, 0)),
    ("exit-codes/exit-7", "exit 7", (7, 7, 7, 7)),
    ("mixtures/native-7-then-exit-0", "exit 0 after a native's 7", (0, 0, 0, 0)),
    ("native-codes/native-7", "a native's 7", (7, 7, 1, 0)),
    ("native-codes/native-7-in-function", "a native's 7 in a function", (0, 7, 0, 0)),
    ("native-codes/not-found", "an unknown command", (1, 1, 1, 0)),
    ("errors/failing-cmdlet", "a cmdlet fails", (1, 1, 1, 0)),
    ("errors/throw", "throw", (1, 1, 1, 1)),
    ("mixtures/native-0-then-failing-cmdlet", "a cmdlet fails after a native's 0", (1, 0, 1, 0)),
    ("mixtures/native-2-then-cmdlet", "a cmdlet succeeds after a native's 2", (0, 2, 0, 0)),
    ("mixtures/native-2-then-failing-cmdlet", "a cmdlet fails after a native's 2", (1, 2, 1, 0)),
    ("mixtures/native-2-then-throw", "throw after a native's 2", (1, 1, 1, 1)),
)

SMALL_SHELLS = _rows(
    # `last-native` is no policy here: what a command left is gone as soon as another one has run.
    ("last-statement", "success-flag", "exit-only"),
    ("exit-codes/none", "nothing fails", (0, 0, 0)),
    ("exit-codes/exit-7", "exit 7", (7, 7, 7)),
    ("exit-codes/bare-exit-after-native-7", "exit without a number after a native's 7", (7, 7, 7)),
    ("mixtures/native-7-then-exit-0", "exit 0 after a native's 7", (0, 0, 0)),
    ("native-codes/native-7", "a native's 7", (7, 1, 0)),
    ("native-codes/native-7-in-function", "a native's 7 in a function", (7, 1, 0)),
    ("native-codes/native-7-then-success", "true after a native's 7", (0, 0, 0)),
    ("native-codes/not-found", "an unknown command", (127, 1, 0)),
)

BY_DIALECT: Mapping[str, tuple[Telling, ...]] = {
    "pwsh": POWERSHELL,
    "powershell5": POWERSHELL,
    "sh": SMALL_SHELLS,
    "bash": SMALL_SHELLS,
    "cmd": SMALL_SHELLS,
}
"""The table by which a route is read, by the first of its dialects."""
