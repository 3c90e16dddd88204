"""How the program that a route keeps running is started."""

from __future__ import annotations

from conformance.model import Deadline, Route
from conformance.payload import EMPTY
from conformance.process import Launch
from conformance.routes.texts import RouteTexts
from conformance.runners import Stage


def program_launch(route: Route, texts: RouteTexts, stage: Stage, deadline: Deadline) -> Launch:
    """Return the launch of the route's program on `stage`, where its `texts` are rendered."""
    return Launch(
        argv=tuple(texts.rendered(argument) for argument in route.argv),
        environment={**stage.environment, **route.environment},
        directory=stage.working_directory,
        stdin=EMPTY,
        stdout=None,
        stderr=None,
        deadline=deadline.total,
        linger=deadline.linger,
    )
