"""The parts that fixture and matrix tables share: conditions, statuses and signals."""

from __future__ import annotations

import errno
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from conformance.condition import Condition
from conformance.errors import CatalogError
from conformance.model import Origin
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut

# The signals that have the same number on Linux and macOS; a fixture that names another would not be portable.
SIGNALS = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "FPE": 8, "KILL": 9,
    "SEGV": 11, "PIPE": 13, "ALRM": 14, "TERM": 15,
}  # fmt: skip
_STATUSES = ("exit", "signal", "timed_out", "failed_to_start", "not_reported")


def status_in(table: dict[str, Any], origin: Origin) -> ExitStatus | None:
    """Return the status that one of the keys for it gives in `table` (`exit`, `signal` and others), or None.

    Raises CatalogError for a signal without a portable number, and for more than one of the keys.
    """
    given = [key for key in _STATUSES if key in table]
    if len(given) > 1:
        raise CatalogError(f"{origin}: {' and '.join(given)} exclude each other. Keep one.")
    if "exit" in table:
        return Exited(table["exit"])
    if "timed_out" in table:
        return TimedOut()
    if "failed_to_start" in table:
        return FailedToStart(errno.E2BIG, "the text is too long for an argument")
    if "not_reported" in table:
        return NotReported("whatever is said instead")
    if "signal" not in table:
        return None
    if table["signal"] not in SIGNALS:
        raise CatalogError(f"{origin}: unknown signal {table['signal']!r}. The signals are {', '.join(SIGNALS)}.")
    return Signalled(SIGNALS[table["signal"]])


def condition_in(table: dict[str, Any], origin: Origin) -> Condition:
    """Return the condition under the key `when`; one that always holds where there is none.

    Raises CatalogError for a version condition that cannot be read.
    """
    condition = Condition(**table.get("when", {}))
    try:
        SpecifierSet(condition.version or "")
    except InvalidSpecifier as error:
        raise CatalogError(
            f"{origin}: when.version is {condition.version!r}, which is no version condition. "
            'Write one such as ">=7.4", or several with commas between them.'
        ) from error
    return condition
