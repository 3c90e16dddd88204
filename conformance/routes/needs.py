"""What a route starts by name, and where it is."""

from __future__ import annotations

from conformance.model import Route
from conformance.runners import Runner


def look_up_needs(route: Route, runner: Runner) -> None:
    """Look up every shell, program and system that `route` names.

    Raises MissingShellError or MissingSystemError where one is not there, HarnessError where it is another thing.
    """
    for name in route.shells:
        runner.shell(name)
    for name in route.programs:
        runner.program(name)
    for name in route.systems:
        runner.system(name)
