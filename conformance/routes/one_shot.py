"""One-shot routes: a fresh process for every body. They are pure data: argv, files and environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.errors import InexpressibleError
from conformance.model import Deadline, Expectation, Route, Step
from conformance.observation import StepObservation
from conformance.payload import Literal, Payload
from conformance.process import Launch
from conformance.runners import Place, Runner, Stage
from conformance.template import Placeholder, render

EXTENSIONS = {"sh": ".sh", "bash": ".sh", "pwsh": ".ps1", "powershell5": ".ps1", "cmd": ".cmd"}


class OneShot:
    """Starts the route's argv for each step."""

    def __init__(self, route: Route, runner: Runner, place: Place) -> None:
        self._route = route
        self._runner = runner
        self._place = place

    def perform(self, step: Step, dialect: str, expectation: Expectation, deadline: Deadline) -> StepObservation:
        """Run the step's body in a process of its own and return what happened."""
        reason = why_inexpressible(self._route, step)
        if reason is not None:
            raise InexpressibleError(reason)
        with self._place.stage() as stage:
            launch = self._launch(step, dialect, expectation, deadline, stage)
            completed = self._place.run(launch)
            return StepObservation(
                status=completed.status,
                stdout=completed.stdout,
                stderr=completed.stderr,
                stdin=completed.stdin,
                witness=self._place.witnessed(stage),
                leftovers=completed.leftovers,
                seconds=completed.seconds,
            )

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


class _LaunchTexts:
    """Renders a route's texts for one launch, writing the files that they name."""

    def __init__(self, route: Route, runner: Runner, stage: Stage, body: str, extension: str) -> None:
        self._route = route
        self._runner = runner
        self._stage = stage
        self._body = body
        self._extension = extension

    def rendered(self, text: str) -> str:
        return render(text, self._value)

    def _value(self, placeholder: Placeholder) -> str:
        if placeholder.name == "body":
            return self._body
        if placeholder.name == "body_file":
            return self._write("body", self._body)
        if placeholder.name == "file":
            name = placeholder.argument or ""
            return self._write(name, self.rendered(self._route.files[name]))
        return str(self._runner.shell(placeholder.name).path)

    def _write(self, name: str, text: str) -> str:
        path = self._stage.folder / f"{name}{self._extension}"
        path.write_bytes(text.encode())
        return str(path)


def why_inexpressible(route: Route, step: Step) -> str | None:
    """Return why `route` cannot hand over what `step` needs, whatever the place; None where it can."""
    if route.stdin is not None and (step.stdin.length or "stdin" in step.wiring):
        return "the route hands over the body on standard input, so the hook has none of its own"
    return None


@contextmanager
def open_one_shot(route: Route, runner: Runner, place: Place) -> Iterator[OneShot]:
    """Return an executor for a one-shot route."""
    yield OneShot(route, runner, place)
