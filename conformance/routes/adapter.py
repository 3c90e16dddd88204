"""Adapter routes: a program of the user's that drives some system, and is asked for one body after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from conformance.errors import HarnessError, InexpressibleError, RouteBrokenError, UnavailableError
from conformance.model import Case, Deadline, Expectation, Route, Seconds, Step
from conformance.observation import StepObservation, System
from conformance.process import Conversation, Launch, Question
from conformance.routes.capabilities import check_expressible
from conformance.routes.messages import Absence, AdapterFailureError, Hello, Request, read_hello, read_reply
from conformance.routes.program import program_launch
from conformance.routes.texts import EXTENSIONS, RouteTexts
from conformance.runners import Place, Runner, Stage

START_SHARE = 12
"""A body that hangs on purpose has this part of the whole deadline to start in, since nobody tells when it has."""
GRACE_SHARE = 4
"""Beyond a body's deadline, the adapter has this part of the whole deadline for its answer."""


class AdapterExecutor:
    """Asks one adapter, which is started for the first case and serves until it breaks."""

    def __init__(self, route: Route, runner: Runner, place: Place, stack: ExitStack) -> None:
        """`stack` holds the adapter as long as it lives."""
        self._route = route
        self._runner = runner
        self._place = place
        self._stack = stack
        self._conversation: Conversation | None = None
        self._hello: Hello | None = None
        self._requests = itertools.count(1)
        self._sessions = itertools.count(1)
        self._session = "0"
        self._several_steps = False

    @property
    def reusable(self) -> bool:
        """Whether it can be asked for the bodies of other cases as well, in a session of their own."""
        return self._conversation is not None and self._conversation.serves

    @property
    def system(self) -> System | None:
        """What the adapter says that it drives."""
        hello = self._hello
        return None if hello is None else System(hello.name, hello.version, hello.capabilities.basis)

    def begin(self, case: Case) -> None:
        """Let the next steps, which are those of `case`, go to a session of their own."""
        self._session = str(next(self._sessions))
        self._several_steps = case.fixture.needs_session

    def perform(self, step: Step, dialect: str, expectation: Expectation, deadline: Deadline) -> StepObservation:
        """Have the adapter run the step's body and return what it says of it.

        Raises InexpressibleError where its system lacks what the step needs, UnavailableError where there is no such
        system, RouteBrokenError where it does not keep to the protocol, HarnessError where it says that it failed.
        """
        conversation, hello = self._started(deadline)
        if self._several_steps and hello.capabilities.session == "none":
            raise InexpressibleError("the system gives each body a process of its own, so none meets what another left")
        check_expressible(hello.capabilities, step, expectation)
        with self._place.stage() as stage:
            launch = self._launch(conversation, hello, step, expectation, deadline, stage)
            body = self._place.body(step.bodies[dialect], dialect, stage)
            try:
                completed = conversation.perform(launch, self._question(hello, launch, body, dialect, deadline))
            except AdapterFailureError as error:
                raise HarnessError(f"{hello.name} could not be driven, as its adapter says: {error}") from error
            return completed.observation(self._place.witnessed(stage))

    def _started(self, deadline: Deadline) -> tuple[Conversation, Hello]:
        if self._conversation is None or self._hello is None:
            stage = self._stack.enter_context(self._place.stage())
            texts = RouteTexts(self._route, self._runner, stage, EXTENSIONS[self._route.dialects[0]])
            launch = program_launch(self._route, texts, stage, deadline)
            try:
                self._conversation = self._stack.enter_context(self._place.conversation(launch))
            except OSError as error:
                raise RouteBrokenError(
                    f"the adapter {launch.argv[0]} could not be started: {error.strerror}. Correct its argv."
                ) from error
            self._hello = self._greeted(self._conversation, deadline)
        return self._conversation, self._hello

    def _greeted(self, conversation: Conversation, deadline: Deadline) -> Hello:
        hello = conversation.first_line(deadline.total, read_hello)
        if isinstance(hello, Absence):
            raise UnavailableError(f"{hello.name} is not there, as its adapter says: {hello.reason}")
        return hello

    def _launch(
        self,
        conversation: Conversation,
        hello: Hello,
        step: Step,
        expectation: Expectation,
        deadline: Deadline,
        stage: Stage,
    ) -> Launch:
        open_ended = hello.capabilities.merges and expectation.stderr is None
        own = deadline.after_start
        return Launch(
            argv=conversation.launch.argv,
            environment={**stage.environment, **self._route.environment},
            directory=stage.working_directory,
            stdin=step.stdin,
            stdout=None if open_ended else expectation.stdout,
            stderr=expectation.stderr,
            deadline=Seconds(own + deadline.total / START_SHARE) if own is not None else deadline.total,
            linger=deadline.linger,
        )

    def _question(self, hello: Hello, launch: Launch, body: str, dialect: str, deadline: Deadline) -> Question:
        request = Request(
            id=str(next(self._requests)),
            session=self._session,
            dialect=dialect,
            body=body,
            stdin=launch.stdin,
            cwd=str(launch.directory),
            env=dict(launch.environment),
            timeout=launch.deadline,
        )
        read = partial(read_reply, request=request, capabilities=hello.capabilities)
        return Question(request.line(), read, Seconds(deadline.total / GRACE_SHARE))


@contextmanager
def open_adapter(route: Route, runner: Runner, place: Place) -> Iterator[AdapterExecutor]:
    """Return an executor for an adapter route, whose program ends with it."""
    with ExitStack() as stack:
        yield AdapterExecutor(route, runner, place, stack)
