"""The route that a command line behind `--` describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.catalog.routes import route_from_argv
from conformance.dialects import DIALECTS, detect_dialects
from conformance.errors import UsageError
from conformance.model import Origin, Route

HERE = Origin("command line", 1)


def launcher_route(
    command: Sequence[str], route_id: str, dialect: str | None, judged_by: str, time_scale: float
) -> Route:
    """Return the route for the launcher `command`; without a `dialect`, those that it takes are found out by trying.

    Raises UsageError where the hook's text would never reach the launcher, HarnessError where no body runs in it.
    """
    if not any("{{body" in word for word in command):
        raise UsageError(
            "no {{body}} and no {{body_file}} in the command line, so the hook's text never reaches the launcher. "
            "Put one of them where the launcher takes it, for example: "
            f"conformance {route_id} -- bash -c '{{{{body}}}}'"
        )
    route = route_from_argv(tuple(command), route_id, tuple(DIALECTS), judged_by, HERE)
    return replace(route, dialects=(dialect,) if dialect else detect_dialects(route, time_scale))
