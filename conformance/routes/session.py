"""Session routes: one process that is given the bodies of many steps, and replaced when one of them ends it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from conformance.errors import HarnessError
from conformance.model import MARKER_SESSION, SESSION, Case, Deadline, Expectation, Route, State, Step, UnfinishedLine
from conformance.observation import StepObservation
from conformance.process import Launch, Markers, Session, SwappedStreams, Talk
from conformance.routes.compiled import compiled_host
from conformance.routes.program import program_launch
from conformance.routes.texts import EXTENSIONS, RouteTexts
from conformance.runners import Place, Runner, Stage
from conformance.template import Placeholder, render


class SessionExecutor:
    """Performs steps in a session, which is started for the first of them and whenever the last one has ended it."""

    def __init__(self, route: Route, runner: Runner, place: Place, stack: ExitStack) -> None:
        """`stack` holds what the session needs as long as it lives."""
        self._route = route
        self._runner = runner
        self._place = place
        self._stack = stack
        self._session: Session | None = None

    system = None

    def begin(self, case: Case) -> None:
        """Nothing is to be prepared."""

    @property
    def reusable(self) -> bool:
        """Whether other cases may be performed as well: each body starts as new, and the session is still there."""
        return self._route.state is State.FRESH and self._session is not None and self._session.serves

    def perform(self, step: Step, dialect: str, expectation: Expectation, deadline: Deadline) -> StepObservation:
        """Have the session perform the step's body and return what happened.

        Raises HarnessError where the session cannot be started.
        """
        session = self._serving(deadline)
        with self._place.stage() as stage:
            launch = self._launch(session, step, expectation, deadline, stage)
            body = self._place.body(step.bodies[dialect], dialect, stage)
            completed = session.perform(launch, self._talk(body, stage, launch))
            return completed.observation(self._place.witnessed(stage))

    def _serving(self, deadline: Deadline) -> Session:
        if self._session is None or not self._session.serves:
            self._stack.close()
            stage = self._stack.enter_context(self._place.stage())
            texts = _SessionTexts(self._route, self._runner, stage, EXTENSIONS[self._route.dialects[0]])
            launch = program_launch(self._route, texts, stage, deadline)
            try:
                self._session = self._stack.enter_context(self._place.session(launch))
            except OSError as error:
                raise HarnessError(
                    f"the session's program {launch.argv[0]} could not be started: {error.strerror}. Correct its argv."
                ) from error
        return self._session

    def _launch(
        self, session: Session, step: Step, expectation: Expectation, deadline: Deadline, stage: Stage
    ) -> Launch:
        swapped = self._route.kind == SESSION
        return Launch(
            argv=session.launch.argv,
            environment={**stage.environment, **self._route.environment} if swapped else session.launch.environment,
            directory=stage.working_directory if swapped else session.launch.directory,
            stdin=step.stdin,
            stdout=expectation.stdout,
            stderr=expectation.stderr,
            deadline=deadline.after_start or deadline.total,
            linger=deadline.linger,
            started_file=stage.witness_file if deadline.after_start else None,
            start_allowance=deadline.total,
        )

    def _talk(self, body: str, stage: Stage, launch: Launch) -> Talk:
        if self._route.kind == MARKER_SESSION:
            return self._markers(body)
        (stage.folder / "body").write_bytes(body.encode())
        variables = "".join(f"{name}={value}\0" for name, value in launch.environment.items())
        (stage.folder / "environment").write_bytes(variables.encode(errors="surrogateescape"))
        return SwappedStreams(stage.folder)

    def _markers(self, body: str) -> Markers:
        dialogue, nonce = self._route.dialogue, secrets.token_hex(8)
        assert dialogue is not None, "the catalogue asks for one"

        def value(placeholder: Placeholder) -> str:
            return body if placeholder.name == "body" else nonce

        return Markers(
            request=render(dialogue.request, value).encode(),
            begin=render(dialogue.begin, value).encode(),
            end=re.compile(render(dialogue.end, value).encode()),
            by_lines=dialogue.unfinished_line is UnfinishedLine.LOST,
        )


class _SessionTexts(RouteTexts):
    """Renders the texts of a session, which may name an assembly."""

    def value(self, placeholder: Placeholder) -> str:
        """Return what stands for `placeholder`."""
        if placeholder.name == "compiled":
            source = self._route.files[placeholder.argument or ""]
            pwsh = self._runner.shell(self._route.shells[0])
            return str(compiled_host(source, pwsh, self._stage.environment))
        return super().value(placeholder)


@contextmanager
def open_session(route: Route, runner: Runner, place: Place) -> Iterator[SessionExecutor]:
    """Return an executor for a session route, whose session ends with it."""
    with ExitStack() as stack:
        yield SessionExecutor(route, runner, place, stack)
