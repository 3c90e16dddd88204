"""The smoke test of the process layer: it passes here, and fails by name where the layer lies in one way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import pytest

from conformance.campaign import local_runner
from conformance.doctor.finding import State
from conformance.doctor.harness import CHECKS, Trial, harness_findings
from conformance.observation import Leftover, WitnessRecord
from conformance.payload import EMPTY
from conformance.process import Completed, Conversation, Launch, Session
from conformance.process.capture import Capture
from conformance.runners import Place, Stage
from conformance.status import Exited, FailedToStart, Signalled, TimedOut

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")


@dataclass(frozen=True)
class LyingPlace:
    """A place whose process layer is wrong in one way."""

    place: Place
    lie: Callable[[Completed], Completed]
    received_lie: Callable[[WitnessRecord], WitnessRecord] = lambda record: record

    def stage(self) -> AbstractContextManager[Stage]:
        return self.place.stage()

    def body(self, text: str, dialect: str, stage: Stage) -> str:
        return self.place.body(text, dialect, stage)

    def wired(self, argv: tuple[str, ...], wiring: Mapping[str, str]) -> tuple[str, ...]:
        return self.place.wired(argv, wiring)

    def run(self, launch: Launch) -> Completed:
        return self.lie(self.place.run(launch))

    def session(self, launch: Launch) -> AbstractContextManager[Session]:
        return self.place.session(launch)

    def conversation(self, launch: Launch) -> AbstractContextManager[Conversation]:
        return self.place.conversation(launch)

    def witnessed(self, stage: Stage) -> WitnessRecord:
        return self.received_lie(self.place.witnessed(stage))


@pytest.fixture
def place() -> Iterator[Place]:
    with local_runner() as (runner, _), runner.open() as opened:
        yield opened


def test_here_all_is_well(place: Place) -> None:
    findings = list(harness_findings(place, 1.0))
    assert {finding.id.removeprefix("harness/") for finding in findings} == set(CHECKS)
    assert [finding for finding in findings if finding.state is not State.OK] == []


def loses_codes(completed: Completed) -> Completed:
    return replace(completed, status=Exited(0))


def test_nothing_is_tried_with_a_layer_that_loses_codes(place: Place) -> None:
    first, *others = harness_findings(LyingPlace(place, loses_codes), 1.0)
    assert (first.id, first.state) == ("harness/exit-codes", State.BROKEN)
    assert first.found == "a program that exits 7 was seen as exited(0) (and 2 more)"
    assert "no result from here counts" in first.why
    assert {finding.state for finding in others} == {State.NOT_TRIED}
    assert len(others) == len(CHECKS) - 1


def stream_of(data: bytes) -> Capture:
    capture = Capture(EMPTY)
    capture.feed(data)
    return capture


def drops_stdout(completed: Completed) -> Completed:
    return replace(completed, stdout=stream_of(b"").finish())


def drops_stderr(completed: Completed) -> Completed:
    return replace(completed, stderr=stream_of(b"").finish())


def adds_the_shells_128(completed: Completed) -> Completed:
    status = completed.status
    return replace(completed, status=Exited(128 + status.number) if isinstance(status, Signalled) else status)


def calls_a_hang_124(completed: Completed) -> Completed:
    return replace(completed, status=Exited(124) if isinstance(completed.status, TimedOut) else completed.status)


def forgets_leftovers(completed: Completed) -> Completed:
    return replace(completed, leftovers=())


def kills_nothing(completed: Completed) -> Completed:
    return replace(completed, leftovers=(Leftover(os.getpid(), "still there"),))


def refuses_to_start(completed: Completed) -> Completed:
    return replace(completed, status=FailedToStart(13, "Permission denied"))


def inherits_a_signal(completed: Completed) -> Completed:
    return replace(completed, stdout=stream_of(b"2").finish())


@pytest.mark.parametrize(
    ("lie", "check", "said"),
    [
        (drops_stdout, "bytes", "65537 bytes on standard output arrived as 0 bytes"),
        (drops_stderr, "bytes", "65537 bytes on standard error arrived as 0 bytes"),
        (adds_the_shells_128, "signal", "was seen as exited(137)"),
        (calls_a_hang_124, "hang", "a program that hangs was seen as exited(124)"),
        (forgets_leftovers, "hang", "what a program that hangs had started was not found"),
        (forgets_leftovers, "leftovers", "what a program that ended had started was not found"),
        (kills_nothing, "leftovers", "still runs, with the pid"),
        (refuses_to_start, "native", "was seen as failed_to_start(EACCES: Permission denied)"),
        (inherits_a_signal, "inherited-signals", "hooks inherit ignored or blocked signals: 2"),
    ],
)
def test_a_layer_that_lies_is_caught(
    lie: Callable[[Completed], Completed], check: str, said: str, place: Place
) -> None:
    problems = list(CHECKS[check].problems(Trial(LyingPlace(place, lie), 1.0)))
    assert any(said in problem for problem in problems), problems


def test_input_that_does_not_arrive_is_caught(place: Place) -> None:
    deaf = LyingPlace(place, lambda completed: completed, lambda record: replace(record, received=()))
    assert any("standard input" in problem for problem in CHECKS["bytes"].problems(Trial(deaf, 1.0)))


def test_a_program_that_leaves_no_mark_is_caught(place: Place) -> None:
    markless = LyingPlace(place, lambda completed: completed, lambda record: replace(record, marks=0))
    for check in ("exit-codes", "native"):
        assert any("left no mark" in problem for problem in CHECKS[check].problems(Trial(markless, 1.0)))
