"""Programs that are asked in lines: what each of them may do, on POSIX and in a job as on Windows."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from session_job import session_job

from conformance.errors import RouteBrokenError
from conformance.model import Seconds
from conformance.payload import EMPTY, Literal, Payload
from conformance.process import Answer, Conversation, Question
from conformance.process.conversation import LineConversation
from conformance.process.held_in_job import HeldInJob
from conformance.process.launch import TOKEN_VARIABLE, Cancellation, CancelledError, Launch
from conformance.status import Exited

if sys.platform == "win32":
    pytest.skip("POSIX processes", allow_module_level=True)
else:
    from conformance.process.held import open_conversation
    from conformance.process.parent import prepared_for_children

Way = Callable[[Launch, Cancellation], AbstractContextManager[Conversation]]
LONG = Seconds(120.0)
LARGE = b"x" * 3_000_000
"""Far more than all pipes and buffers between two programs hold."""


@contextmanager
def open_in_job(launch: Launch, cancellation: Cancellation) -> Iterator[Conversation]:
    with session_job() as job, closing(LineConversation(HeldInJob(launch, job), cancellation)) as conversation:
        yield conversation


WAYS: dict[str, Way] = {"process": open_conversation, "job": open_in_job}


class World:
    """Opens conversations with programs of `/bin/sh` in a folder of the test's own."""

    def __init__(self, folder: Path, cancellation: Cancellation, way: Way) -> None:
        self.folder = folder
        self.cancellation = cancellation
        self._way = way

    def launch(self, script: str, stdout: Payload | None = None) -> Launch:
        return Launch(
            argv=("/bin/sh", "-c", script),
            environment={"PATH": os.environ["PATH"], TOKEN_VARIABLE: uuid.uuid4().hex},
            directory=self.folder,
            stdin=EMPTY,
            stdout=stdout,
            stderr=None,
            deadline=LONG,
            linger=Seconds(0.0),
        )

    def talk(self, script: str) -> AbstractContextManager[Conversation]:
        return self._way(self.launch(script), self.cancellation)


@pytest.fixture(params=WAYS)
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    children = {child.pid for child in psutil.Process().children()}
    with closing(Cancellation()) as cancellation, prepared_for_children():
        yield World(tmp_path, cancellation, WAYS[request.param])
        left = [child for child in psutil.Process().children() if child.pid not in children]
        assert left == [], "no process and no zombie may be left"


def echoed(line: bytes) -> Answer:
    """Take a line for an answer with all of it as output; one that begins with `no` is none."""
    if line.startswith(b"no"):
        raise ValueError(f"it said {line.decode()}")
    return Answer(Exited(7), line, b"", None)


def question(text: bytes = b"asked", grace: float = 0.0) -> Question:
    return Question(text + b"\n", echoed, Seconds(grace))


def test_each_question_has_its_answer_however_large(world: World) -> None:
    with world.talk("echo hello; exec cat") as conversation:
        assert conversation.first_line(LONG, bytes.decode) == "hello"
        for text in (b"a", LARGE, b"c"):
            completed = conversation.perform(world.launch("", stdout=Literal(text)), question(text))
            assert (completed.status, completed.stdout.difference) == (Exited(7), None)
        assert conversation.serves


def test_lines_may_come_in_pieces_and_end_as_on_windows(world: World) -> None:
    with world.talk("printf 'hel'; printf 'lo\\r\\n'; exec cat") as conversation:
        assert conversation.first_line(LONG, bytes.decode) == "hello"


def test_noise_on_standard_error_fills_nothing_up(world: World) -> None:
    answering = "while read -r line; do echo noise >&2; echo a; done"
    with world.talk(f"head -c 3000000 /dev/zero >&2; echo hello; {answering}") as conversation:
        assert conversation.first_line(LONG, bytes.decode) == "hello"
        for _ in range(3):
            assert conversation.perform(world.launch(""), question()).stdout.head == b"a"


BROKEN = {
    "ended": ("echo out of memory >&2; exit 3", "it ended: exited(3); it said last: out of memory"),
    "ended in a line": ("printf half; exit 3", "it ended in the middle of a line, 'half': exited(3)"),
    "closed its output": ("exec >&-; exec sleep 3600", "it closed its standard output"),
    "no answer": ("echo nonsense; exec cat", "it said nonsense"),
    "twice": ("printf 'asked\\nasked\\n'; exec cat", "it answered twice: 'asked'"),
    "unasked": ("printf 'asked\\nmore\\n'; exec cat", "it wrote a line that was not asked for: 'more'"),
    "without end": ("exec tr '\\0' x </dev/zero", "it wrote more than 67108864 bytes without an end"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_answer_breaks_the_conversation(broken: str, world: World) -> None:
    script, told = BROKEN[broken]
    with world.talk(f"read -r line; {script}") as conversation:
        with pytest.raises(RouteBrokenError) as caught:
            conversation.perform(world.launch(""), question())
        assert not conversation.serves
    assert str(caught.value).startswith(f"the adapter is broken: {told}")


def test_no_answer_in_time_breaks_it_whether_it_reads_or_not(world: World) -> None:
    for script in ("exec sleep 3600", "while read -r line; do :; done"):
        with world.talk(script) as conversation:
            hurried = replace(world.launch(""), deadline=Seconds(0.01))
            with pytest.raises(RouteBrokenError, match=r"it has not answered within 0\.02 seconds"):
                conversation.perform(hurried, question(LARGE, grace=0.01))
            assert not conversation.serves


def test_a_line_that_came_before_it_was_asked_is_no_answer(world: World) -> None:
    with world.talk("printf 'hello\\nmore\\n'; exec cat") as conversation:
        conversation.first_line(LONG, bytes.decode)
        with pytest.raises(RouteBrokenError, match="it wrote a line that was not asked for: 'more'"):
            conversation.perform(world.launch(""), question())


def test_what_a_body_left_is_known_by_its_token_and_killed(world: World) -> None:
    body = world.launch("")
    leaving = "sleep 3600 >/dev/null 2>&1 & sleep 3600 >/dev/null 2>&1 &"
    script = f"sleep 3600 & read -r line; {TOKEN_VARIABLE}={body.token} sh -c '{leaving}'; echo a; exec cat"
    with world.talk(script) as conversation:
        completed = conversation.perform(body, question())
        assert len(completed.leftovers) == 2
        assert not any(psutil.pid_exists(leftover.pid) and alive(leftover.pid) for leftover in completed.leftovers)
        assert conversation.serves


@pytest.mark.parametrize("world", ["process"], indirect=True)
def test_what_the_program_itself_has_killed_is_collected(world: World) -> None:
    begun = "setsid sh -c 'sleep 3600 & echo $$; wait' >pid & until [ -s pid ]; do :; done"
    killing = f"{begun}; kill -KILL -$(cat pid); wait"
    with world.talk(f"read -r line; {killing}; echo a; exec cat") as conversation:
        assert conversation.perform(world.launch(""), question()).status == Exited(7)


def alive(pid: int) -> bool:
    return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


def test_a_cancelled_run_does_not_wait_for_an_answer(world: World) -> None:
    with world.talk("exec sleep 3600") as conversation:
        world.cancellation.throw()
        with pytest.raises(CancelledError):
            conversation.perform(world.launch(""), question())


def test_a_program_that_ends_with_its_input_is_let_end(world: World) -> None:
    with world.talk(f"echo hello; cat; echo bye >{world.folder}/farewell") as conversation:
        conversation.first_line(LONG, bytes.decode)
    assert (world.folder / "farewell").read_text() == "bye\n"
