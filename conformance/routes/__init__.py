"""Routes: how a body is launched. `open_executor` picks the implementation of a route's kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from conformance.model import ADAPTER, MARKER_SESSION, ONE_SHOT, SESSION, Case, Deadline, Expectation, Route, Step
from conformance.observation import StepObservation, System
from conformance.routes.adapter import open_adapter
from conformance.routes.one_shot import open_one_shot
from conformance.routes.session import open_session
from conformance.runners import Place, Runner


class Executor(Protocol):
    """Performs the steps of one case."""

    @property
    def reusable(self) -> bool:
        """Whether it can perform the steps of other cases as well, as if it were new."""

    @property
    def system(self) -> System | None:
        """What is driven, where the route is an adapter's and that has said it."""

    def begin(self, case: Case) -> None:
        """Let the next steps be those of `case`."""

    def perform(self, step: Step, dialect: str, expectation: Expectation, deadline: Deadline) -> StepObservation:
        """Run the step's body in `dialect` and return what happened.

        Streams are compared with `expectation` as they come; the whole tree is killed at `deadline`.
        Raises InexpressibleError where the route cannot deliver the body at all, UnavailableError where what it drives
        is not there, HarnessError where it is broken, CancelledError when the run is cancelled.
        """


RouteKind = Callable[[Route, Runner, Place], AbstractContextManager[Executor]]

KINDS: Mapping[str, RouteKind] = {
    ONE_SHOT: open_one_shot,
    SESSION: open_session,
    MARKER_SESSION: open_session,
    ADAPTER: open_adapter,
}


def open_executor(route: Route, runner: Runner, place: Place) -> AbstractContextManager[Executor]:
    """Return an executor for `route` at `place`."""
    return KINDS[route.kind](route, runner, place)
