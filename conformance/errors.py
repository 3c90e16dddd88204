"""Every way in which the `conformance` command ends, and the exit code that each class of error owns.

| code | meaning |
|---|---|
| 0 | all results are as documented |
| 1 | something differs (`SOMETHING_DIFFERS`; not an exception: the run itself went well) |
| 2 | usage, or a broken file of the user's: `UsageError`, `CatalogError` |
| 3 | the harness, a route or a required shell is broken: `HarnessError`, `ShellError` |
| 4 | no case was selected: `NothingSelectedError` |
| 130 | interrupted by SIGINT or SIGTERM: `InterruptedRunError` |

130 wins over 3, and 3 over 1. A message says what was expected and what to do next; it is printed without a traceback.
"""

from __future__ import annotations

from typing import ClassVar

ALL_AS_DOCUMENTED = 0
SOMETHING_DIFFERS = 1


class ConformanceError(Exception):
    """A fatal error with a message for the user and an exit code of its own."""

    exit_code: ClassVar[int]


class UsageError(ConformanceError):
    """The command line asks for something that does not exist or makes no sense."""

    exit_code = 2


class CatalogError(UsageError):
    """A fixture, matrix or route file is broken; the message starts with `file:line`."""


class HarnessError(ConformanceError):
    """The harness or a route is broken, so that what was observed says nothing about a shell."""

    exit_code = 3


class ShellError(HarnessError):
    """A shell is missing, or is not the shell that it was said to be."""


class RouteBrokenError(HarnessError):
    """A program that the route keeps running broke, and has to be started anew."""


class RouteSilentError(RouteBrokenError):
    """It broke by giving no answer in time."""


class NothingSelectedError(ConformanceError):
    """The selection matched no case. A run of nothing must not look like a pass."""

    exit_code = 4


class InterruptedRunError(ConformanceError):
    """SIGINT or SIGTERM ended the run; what was measured until then is in the report."""

    exit_code = 130


class InexpressibleError(Exception):
    """The route has no way to deliver a fixture. Not fatal: that one case is skipped, with this reason."""


class UnavailableError(Exception):
    """What the route drives is not there. Not fatal: its cases are unavailable, with this reason."""


def code_of(*, broken: bool, differs: bool) -> int:
    """Return the exit code of what came to its end: broken wins over different."""
    if broken:
        return HarnessError.exit_code
    return SOMETHING_DIFFERS if differs else ALL_AS_DOCUMENTED
