"""One-shot routes: a fresh process for every body. They are pure data: argv, files and environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.errors import InexpressibleError
from conformance.model import Case, Deadline, Expectation, Route, Step
from conformance.observation import StepObservation
from conformance.payload import Literal, Payload
from conformance.process import Launch
from conformance.routes.texts import EXTENSIONS, RouteTexts
from conformance.runners import Place, Runner, Stage
from conformance.template import Placeholder


class OneShot:
    """Starts the route's argv for each step."""

    def __init__(self, route: Route, runner: Runner, place: Place) -> None:
        self._route = route
        self._runner = runner
        self._place = place

    def perform(self, step: Step, dialect: str, expectation: Expectation, deadline: Deadline) -> StepObservation:
        """Run the step's body in a process of its own and return what happened."""
        with self._place.stage() as stage:
            launch = self._launch(step, dialect, expectation, deadline, stage)
            completed = self._place.run(launch)
            return completed.observation(self._place.witnessed(stage))

    system = None

    def begin(self, case: Case) -> None:
        """Nothing is to be prepared."""

    @property
    def reusable(self) -> bool:
        """Never: another one costs nothing."""
        return False

    def _launch(self, step: Step, dialect: str, expectation: Expectation, deadline: Deadline, stage: Stage) -> Launch:
        body = self._place.body(step.bodies[dialect], dialect, stage)
        texts = _LaunchTexts(self._route, self._runner, stage, body, EXTENSIONS[dialect])
        argv = tuple(texts.rendered(argument) for argument in self._route.argv)
        if any("\0" in argument for argument in argv):
            raise InexpressibleError("the body holds a NUL, which no argument of a program can hold")
        if step.wiring:
            argv = self._place.wired(argv, step.wiring)
        return Launch(
            argv=argv,
            environment={**stage.environment, **self._route.environment},
            directory=stage.working_directory,
            stdin=self._stdin(step, texts),
            stdout=expectation.stdout,
            stderr=expectation.stderr,
            deadline=deadline.after_start or deadline.total,
            linger=deadline.linger,
            started_file=stage.witness_file if deadline.after_start else None,
            start_allowance=deadline.total,
        )

    def _stdin(self, step: Step, texts: _LaunchTexts) -> Payload:
        if self._route.stdin is None:
            return step.stdin
        return Literal(texts.rendered(self._route.stdin).encode())


class _LaunchTexts(RouteTexts):
    """Renders a route's texts for one launch, in which they may hold the body or name its file."""

    def __init__(self, route: Route, runner: Runner, stage: Stage, body: str, extension: str) -> None:
        super().__init__(route, runner, stage, extension)
        self._body = body

    def value(self, placeholder: Placeholder) -> str:
        if placeholder.name == "body":
            return self._body
        if placeholder.name == "body_file":
            return self.write("body", self._body)
        return super().value(placeholder)


@contextmanager
def open_one_shot(route: Route, runner: Runner, place: Place) -> Iterator[OneShot]:
    """Return an executor for a one-shot route."""
    yield OneShot(route, runner, place)
