"""A place that also writes down what is launched at it, for a command that has to tell all of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.model import Seconds
from conformance.observation import WitnessRecord
from conformance.process import Completed, Conversation, Launch, Session, Talk
from conformance.runners import Place, Stage
from conformance.runners.conversation import WrappedConversation

WATCH_SECONDS = 0.001


@dataclass(frozen=True)
class Note:
    """A line of the witness record, and when it was first seen there, in seconds after the launch."""

    seconds: Seconds
    line: str


@dataclass(frozen=True)
class LaunchRecord:
    """A launch as it really was, and how it went."""

    launch: Launch
    body: str
    """The body with its templates rendered."""
    files: tuple[tuple[Path, bytes], ...]
    """What the route had written beside the body when it was launched, and the file of the body itself."""
    notes: tuple[Note, ...]
    completed: Completed
    cleared: Seconds
    """Seconds after the launch at which all pipes were closed and nothing of the tree ran any more."""


class RecordingPlace:
    """Does all that `place` does. Attributes: `records` has one of each launch, in their order."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stage: Stage | None = None
        self._body = ""
        self.records: list[LaunchRecord] = []

    @contextmanager
    def stage(self) -> Iterator[Stage]:
        """Prepare what one case has to itself, and clear it away afterwards."""
        with self._place.stage() as self._stage:
            yield self._stage

    def body(self, text: str, dialect: str, stage: Stage) -> str:
        """Return the body `text` with its templates rendered."""
        self._body = self._place.body(text, dialect, stage)
        return self._body

    def wired(self, argv: tuple[str, ...], wiring: Mapping[str, str]) -> tuple[str, ...]:
        """Return the command that runs `argv` with the standard streams of `wiring` closed or full."""
        return self._place.wired(argv, wiring)

    def run(self, launch: Launch) -> Completed:
        """Run a process to its end, and add it to `records`."""
        return self.record(launch, partial(self._place.run, launch))

    @contextmanager
    def session(self, launch: Launch) -> Iterator[Session]:
        """Hold a session, each of whose bodies is added to `records`."""
        with self._place.session(launch) as session:
            yield _RecordedSession(session, self)

    @contextmanager
    def conversation(self, launch: Launch) -> Iterator[Conversation]:
        """Talk with a program, each of whose bodies is added to `records`."""
        with self._place.conversation(launch) as conversation:
            yield WrappedConversation(
                conversation,
                lambda launch, question: self.record(launch, partial(conversation.perform, launch, question)),
            )

    def record(self, launch: Launch, perform: Callable[[], Completed]) -> Completed:
        """Add to `records` what `perform` does with `launch`, and return what came of it."""
        assert self._stage is not None
        files = tuple((path, path.read_bytes()) for path in sorted(self._stage.folder.iterdir()) if path.is_file())
        with _Watch(self._stage.witness_file) as watch:
            completed = perform()
        self.records.append(
            LaunchRecord(launch, self._body, files, tuple(watch.notes), completed, Seconds(round(watch.seconds, 6)))
        )
        return completed

    def witnessed(self, stage: Stage) -> WitnessRecord:
        """Read what the body's natives and witnesses wrote down."""
        return self._place.witnessed(stage)


class _RecordedSession:
    """A session each of whose bodies is recorded."""

    def __init__(self, session: Session, recorder: RecordingPlace) -> None:
        self._session = session
        self._recorder = recorder
        self.launch = session.launch

    @property
    def serves(self) -> bool:
        return self._session.serves

    def perform(self, launch: Launch, talk: Talk) -> Completed:
        return self._recorder.record(launch, partial(self._session.perform, launch, talk))


class _Watch:
    """Looks again and again at a file to which lines are appended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._started = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look_until_done, name="conformance-watch")
        self.notes: list[Note] = []
        self.seconds = 0.0

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._started
        self._done.set()
        self._thread.join()
        self._look()

    def _look_until_done(self) -> None:
        while not self._done.wait(WATCH_SECONDS):
            self._look()

    def _look(self) -> None:
        seconds = Seconds(round(time.monotonic() - self._started, 6))
        with suppress(OSError):  # nothing is there before the body begins
            whole, _, _ = self._path.read_bytes().rpartition(b"\n")
            lines = whole.decode("utf-8", "replace").split("\n") if whole else []
            self.notes += [Note(seconds, line) for line in lines[len(self.notes) :]]
