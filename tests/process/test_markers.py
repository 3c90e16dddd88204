"""Shells that read code and print markers: how answers are cut out of a stream, and what is lost on the way."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_world import AT_ONCE, FOREVER, MEBIBYTE, World, bash, descriptors, markers, opened_world

from conformance.observation import CapturedStream, StdinRecord
from conformance.payload import Literal
from conformance.process import CancelledError, Completed, Markers, Session
from conformance.process.capture import Capture
from conformance.status import Exited, ExitStatus, NotReported, Signalled, TimedOut

if sys.platform == "win32":
    pytest.skip("POSIX processes", allow_module_level=True)
else:
    from conformance.process.markers import HELD_BYTES, _Answer
    from conformance.process.server import Server

assert sys.platform != "win32"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper")

NONCE = "5f3a"


# An answer in pieces.


def answer(
    pieces: Sequence[bytes], talk: Markers, ended: ExitStatus | None = None
) -> tuple[ExitStatus | None, CapturedStream, bytes]:
    """Return the status and the output that `pieces` of stdout tell, and what is left for the next answer."""
    watch = SimpleNamespace(status=lambda: ended, poll_seconds=1.0, descriptors=())
    session = SimpleNamespace(unread=pieces[0], exit=watch)
    output = Capture(None)
    found = _Answer(cast(Server, session), talk, output)
    for piece in pieces[1:]:
        found.feed(piece)
    status = found.status()
    session.unread = b""
    found.finish()
    return status, output.finish(), session.unread


def cut(whole: bytes, places: Sequence[int]) -> list[bytes]:
    places = sorted({place % (len(whole) + 1) for place in places})
    return [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]


STREAM = b"nobody's\n" + b"5f3a-begin\n" + b"one\ntwo, 5f3a 5f3a:x\nthree" + b"5f3a:42\n" + b"later\n5f3a:7\n"
TALKS = [markers("b", NONCE, begin=begin, by_lines=by_lines) for begin in (False, True) for by_lines in (False, True)]


@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize("place", range(len(STREAM) + 1))
def test_a_marker_may_be_cut_anywhere(place: int, talk: Markers) -> None:
    status, output, rest = answer(cut(STREAM, [place]), talk)
    before = STREAM.partition(b"5f3a-begin\n")[2] if talk.begin else STREAM
    kept = before.partition(b"three")[0] if talk.by_lines else before.partition(b"5f3a:42")[0]
    assert (status, rest) == (Exited(42), b"later\n5f3a:7\n")
    assert output.head == kept


FILLERS = (b"x" * 1500, b"x\n" * 700, b"5f3a:", b"\n", b"5f3a-begin\n", b"5f3a:7\n", b"5f3", b"y" * HELD_BYTES)


@given(
    parts=st.lists(st.sampled_from(FILLERS), max_size=8),
    places=st.lists(st.integers(0, 10_000), max_size=20),
    talk=st.sampled_from(TALKS),
    ended=st.sampled_from([None, Exited(3)]),
)
def test_pieces_say_what_the_whole_says(
    parts: list[bytes], places: list[int], talk: Markers, ended: ExitStatus | None
) -> None:
    whole = b"".join(parts)
    status, output, rest = answer([whole], talk, ended)
    in_pieces = answer(cut(whole, places), talk, ended)
    assert (in_pieces[0], in_pieces[1].sha256, in_pieces[1].length, in_pieces[2]) == (
        status, output.sha256, output.length, rest,
    )  # fmt: skip


def test_what_comes_before_the_beginning_is_nobodys_even_if_it_never_comes() -> None:
    talk = markers("b", NONCE, begin=True)
    assert answer([b"x" * 5000, b"5f3a:7\n"], talk, Exited(3))[1].length == 0


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (b"", Exited(0)),
        (b"0", Exited(0)),
        (b"007", Exited(7)),
        (b"4294967295", Exited(4294967295)),
        (b"4294967296", NotReported("the shell printed '4294967296' for the exit code")),
        (b"9" * 5000, NotReported(f"the shell printed {'9' * 80!r} for the exit code")),
        (b"-1", NotReported("the shell printed '-1' for the exit code")),
        (b"True", NotReported("the shell printed 'True' for the exit code")),
        (b"\xff", NotReported("the shell printed '\ufffd' for the exit code")),
    ],
)
def test_a_code_that_is_none_is_told(code: bytes, status: ExitStatus) -> None:
    talk = Markers(b"", b"", re.compile(rb"END(?P<code>[^\n]*)\n"), by_lines=False)
    assert answer([b"out", b"END" + code + b"\nrest"], talk)[::2] == (status, b"rest")


@pytest.mark.parametrize("talk", TALKS)
def test_a_long_line_in_small_pieces_is_searched_once(talk: Markers) -> None:
    """Were all that is held searched or copied for each piece, this would take minutes."""
    pieces = [talk.begin, *[b"x" * 256] * (10 * MEBIBYTE // 256), b"\n", b"5f3a:7\n"]
    status, output, rest = answer(pieces, talk)
    assert (status, output.length, rest) == (Exited(7), 10 * MEBIBYTE + 1, b"")


# Real shells.


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened_world(tmp_path) as world:
        yield world


@pytest.fixture
def session(world: World) -> Iterator[Session]:
    with world.open("/bin/sh") as session:
        yield session


class Asked:
    """Asks one shell for bodies, each with a marker of its own."""

    def __init__(self, world: World, session: Session) -> None:
        self._world = world
        self._session = session
        self._number = 0

    def __call__(
        self, body: str, out: bytes = b"", err: bytes = b"", *, by_lines: bool = False, linger: float = 120.0,
        started: Path | None = None,
    ) -> Completed:  # fmt: skip
        self._number += 1
        launch = self._world.launch(stdout=Literal(out), stderr=Literal(err), linger=linger, started=started)
        return self._session.perform(launch, markers(body, f"{NONCE}-{self._number}", by_lines=by_lines))


@pytest.fixture
def ask(world: World, session: Session) -> Asked:
    return Asked(world, session)


def assert_delivered(completed: Completed, status: ExitStatus) -> None:
    assert completed.status == status
    assert completed.stdout.difference is None, completed.stdout
    assert completed.stderr.difference is None, completed.stderr


def test_bodies_in_a_row_have_one_process_and_each_its_own_answer(ask: Asked, session: Session) -> None:
    for code in (0, 7, 0, 255):
        out = f"{code}\n".encode()
        assert_delivered(ask(f"echo {code}; echo {code} >&2; (exit {code})", out, out), Exited(code))
        assert session.serves


def test_what_is_sent_is_the_request_and_nothing_of_it_is_input_of_the_body(ask: Asked) -> None:
    assert ask("(exit 7)").stdin == StdinRecord(0, broken_pipe=False)


def test_a_line_without_an_end_is_kept_or_lost(ask: Asked) -> None:
    for by_lines, kept in ((False, b"one\ntwo"), (True, b"one\n")):
        assert_delivered(ask("printf 'one\\ntwo'; (exit 7)", kept, by_lines=by_lines), Exited(7))
        assert_delivered(ask("echo three", b"three\n", by_lines=by_lines), Exited(0))


def test_a_body_that_reads_its_input_takes_the_marker_with_it(world: World) -> None:
    started = world.folder / "started"
    with world.open(bash(), "--norc") as session:  # which reads no more of its input than the line that it performs
        body = f'read -r line; echo "$line"; : >{started}; sleep {FOREVER}'
        completed = Asked(world, session)(body, f'echo "{NONCE}-1:$?"\n'.encode(), started=started)
        assert_delivered(completed, TimedOut())
        assert not session.serves


def test_ten_mebibytes_without_a_line_end(ask: Asked) -> None:
    for by_lines, kept in ((False, bytes(10 * MEBIBYTE)), (True, b"")):
        assert_delivered(ask(f"head -c {10 * MEBIBYTE} /dev/zero; (exit 7)", kept, by_lines=by_lines), Exited(7))


def test_a_mebibyte_on_stderr_is_taken_while_stdout_comes(ask: Asked) -> None:
    nul = bytes(MEBIBYTE)
    body = f"head -c {MEBIBYTE} /dev/zero; head -c {MEBIBYTE} /dev/zero >&2; (exit 7)"
    assert_delivered(ask(body, nul, nul), Exited(7))


def test_what_a_body_left_running_writes_comes_in_the_answer_to_a_later_one(ask: Asked, world: World) -> None:
    end = world.folder / "end"
    assert_delivered(ask(f"mkfifo {end}; (read -r _ <{end}; echo late) & (exit 7)"), Exited(7))
    assert_delivered(ask(f"echo >{end}; wait", b"late\n"), Exited(0))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("echo out; exit 7", Exited(7)),
        ("echo out; exec sh -c 'exit 42'", Exited(42)),
        ("echo out; ulimit -c 0; kill -KILL $$", Signalled(9)),
    ],
)
def test_a_shell_that_ends_instead_has_its_own_status(
    body: str, status: ExitStatus, ask: Asked, session: Session
) -> None:
    assert_delivered(ask(body, b"out\n"), status)
    assert not session.serves


def test_a_shell_that_ends_with_its_answer_has_given_it(world: World) -> None:
    with world.sh(f"echo out; echo {NONCE}:7; exit 3") as session:
        while session.serves:  # so that its end is seen before its answer
            pass
        completed = session.perform(world.launch(stdout=Literal(b"out\n")), markers("true", NONCE))
        assert_delivered(completed, Exited(7))
        assert not session.serves


def test_what_a_shell_that_ends_leaves_running_is_listed_and_killed(ask: Asked, world: World) -> None:
    child = world.folder / "child"
    completed = ask(f"sleep {FOREVER} & echo $! >{child}; exit 7", linger=AT_ONCE)
    assert completed.status == Exited(7)
    assert [leftover.pid for leftover in completed.leftovers] == [world.pid("child")]
    assert not psutil.pid_exists(world.pid("child"))


@linux_only
@pytest.mark.parametrize("leave", ["", "setsid", "env -i", "env -i setsid"])
def test_what_a_body_left_running_ends_with_the_session(leave: str, world: World) -> None:
    child = world.folder / "child"
    with world.open("/bin/sh") as session:
        body = f"({leave} sleep {FOREVER} </dev/null >/dev/null 2>&1 & echo $! >{child}); (exit 7)"
        completed = Asked(world, session)(body)
        assert_delivered(completed, Exited(7))
        assert completed.leftovers == ()
        assert psutil.pid_exists(world.pid("child"))
    assert not psutil.pid_exists(world.pid("child"))


def test_the_deadline_ends_the_shell_and_what_runs_in_it(ask: Asked, session: Session, world: World) -> None:
    child, started = world.folder / "child", world.folder / "started"
    completed = ask(
        f"echo before; sleep {FOREVER} & echo $! >{child}; : >{started}; wait", b"before\n", started=started
    )
    assert_delivered(completed, TimedOut())
    assert not psutil.pid_exists(world.pid("child"))
    assert not session.serves


def test_cancelling_ends_the_shell(ask: Asked, session: Session, world: World) -> None:
    world.cancellation.throw()
    with pytest.raises(CancelledError):
        ask(f"exec sleep {FOREVER}")
    assert not session.serves


@linux_only
def test_no_descriptor_is_lost(world: World) -> None:
    before = descriptors()
    with world.open("/bin/sh") as session:
        ask = Asked(world, session)
        ask("(exit 0)")
        open_now = descriptors()
        for _ in range(100):
            ask("echo x; (exit 7)", b"x\n")
        assert descriptors() == open_now
        ask("exit 7")
    assert descriptors() == before
