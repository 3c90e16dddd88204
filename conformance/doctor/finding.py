"""What a check found: frozen values, each with the command that mends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from conformance.errors import ALL_AS_DOCUMENTED, SOMETHING_DIFFERS, HarnessError


class State(StrEnum):
    """What a finding means for the results that are got here."""

    OK = "ok"
    LOSES = "loses"
    """A route does not keep something, exactly as is documented: no fault of this machine."""
    WARNING = "warning"
    """Results hold, or most do, but something may spoil one."""
    NOT_TRIED = "not-tried"
    """What the check rests on is missing or broken."""
    DIFFERS = "differs"
    """A route gave a result that nothing documents, on a machine that is in order as far as is known."""
    BROKEN = "broken"
    """Results that rest on it say nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    id: str
    """`group/subject`, such as `shell/pwsh`."""
    state: State
    found: str
    why: str = ""
    """Why what was found spoils results; empty where it does not."""
    mend: str = ""
    """The command that mends it, or what to do where no command does."""


def exit_code(findings: Iterable[Finding]) -> int:
    """Return the exit code of the command: broken wins over different, and losing routes are in order."""
    states = {finding.state for finding in findings}
    if State.BROKEN in states:
        return HarnessError.exit_code
    return SOMETHING_DIFFERS if State.DIFFERS in states else ALL_AS_DOCUMENTED
