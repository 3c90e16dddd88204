"""An adapter under examination: started, asked, and started again after it has broken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.adapter_check.bodies import OWN, VARIABLE
from conformance.errors import HarnessError, RouteBrokenError, RouteSilentError
from conformance.model import Seconds
from conformance.observation import Leftover
from conformance.payload import EMPTY, Payload
from conformance.process import Answer, Conversation, Launch, Question
from conformance.routes.capabilities import Capabilities
from conformance.routes.messages import Absence, Hello, Request, read_hello, read_reply
from conformance.runners import Place, Stage
from conformance.status import ExitStatus

PATIENCE_SECONDS = 30.0
"""How long an adapter may take for its hello, a body or its end, in seconds at time scale 1."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the adapter said of a body, and what that was asked with."""

    status: ExitStatus
    stdout: bytes
    stderr: bytes
    decision: str | None
    leftovers: tuple[Leftover, ...]
    stage: Stage


class Subject:
    """The adapter that `command` starts, at a place.

    Attributes: `dialect`, in which it is asked; `breaks`, how often it broke; `silent`, whether by saying nothing.
    """

    def __init__(self, command: Sequence[str], dialect: str, place: Place, time_scale: float) -> None:
        self.dialect = dialect
        self.breaks = 0
        self.silent = False
        self._command = tuple(map(_found_from_here, command))
        self._place = place
        self._patience = Seconds(PATIENCE_SECONDS * time_scale)
        self._stack = ExitStack()
        self._conversation: Conversation | None = None
        self._capabilities = Capabilities()
        self._numbers = itertools.count(1)

    def close(self) -> None:
        """End the adapter, if it runs."""
        self._conversation = None
        self._stack.close()

    def hello(self) -> Hello | Absence:
        """Start the adapter and return its hello.

        Raises HarnessError where it cannot be started, RouteBrokenError where it says none.
        """
        self.close()
        stage = self._stack.enter_context(self._place.stage())
        try:
            conversation = self._stack.enter_context(self._place.conversation(self._launch(stage, EMPTY, OWN)))
        except OSError as error:
            raise HarnessError(
                f"{self._command[0]} cannot be started: {error.strerror}. Correct the command."
            ) from error
        with self._counting():
            hello = conversation.first_line(self._patience, read_hello)
        if isinstance(hello, Hello):
            self._conversation, self._capabilities = conversation, hello.capabilities
        return hello

    def ask(self, body: str, session: str, stdin: Payload = EMPTY, seconds: float | None = None) -> Told:
        """Have it run `body` in `session`; `seconds` are the time that it has.

        Raises RouteBrokenError where it gives no answer, AdapterFailureError where it says that it failed.
        """
        if self._conversation is None or not self._conversation.serves:
            self.hello()
        conversation = self._conversation
        if conversation is None:
            raise RouteBrokenError("it says now that its system is not there. Say so from the beginning, or not at all")
        answers: list[Answer] = []
        with self._place.stage() as stage:
            launch = self._launch(stage, stdin, VARIABLE, seconds)
            request = Request(
                id=str(next(self._numbers)),
                session=session,
                dialect=self.dialect,
                body=body,
                stdin=stdin,
                cwd=str(launch.directory),
                env=dict(launch.environment),
                timeout=launch.deadline,
            )

            def read(line: bytes) -> Answer:
                answers.append(read_reply(line, request, self._capabilities))
                return answers[0]

            with self._counting():
                completed = conversation.perform(launch, Question(request.line(), read, self._patience))
            answer = answers[0]
            return Told(answer.status, answer.stdout, answer.stderr, answer.decision, completed.leftovers, stage)

    def farewell(self) -> bool:
        """Tell it by the end of its input that there is nothing more, and return whether it ended by itself."""
        return self._conversation is None or self._conversation.farewell(self._patience)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        except RouteBrokenError as error:
            self.breaks += 1
            self.silent = isinstance(error, RouteSilentError)
            raise

    def _launch(self, stage: Stage, stdin: Payload, variable: str, seconds: float | None = None) -> Launch:
        return Launch(
            argv=self._command,
            environment={**stage.environment, variable: stage.folder.name},
            directory=stage.working_directory,
            stdin=stdin,
            stdout=None,
            stderr=None,
            deadline=Seconds(seconds) if seconds is not None else self._patience,
            linger=Seconds(0.0),
        )


def _found_from_here(word: str) -> str:
    """Return the path of a file that the user names from where they are; the adapter is started somewhere else."""
    return str(Path(word).absolute()) if Path(word).is_file() else word
