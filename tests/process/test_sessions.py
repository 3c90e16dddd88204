"""Sessions that swap their streams: what flows, how bodies end, what is left of them, and what a broken one says.

The bodies run in two of them: the one of bash that is shipped, and one of sh that gives each body a subshell.
As in `test_posix`, no test waits for a time.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from session_world import (
    AT_ONCE,
    FOREVER,
    MEBIBYTE,
    SH_SESSION,
    World,
    descriptors,
    opened_world,
)

from conformance.payload import Literal, Payload, Stream
from conformance.process import CancelledError, Completed, Session
from conformance.status import Exited, NotReported, Signalled, TimedOut

if sys.platform == "win32":
    pytest.skip("POSIX processes", allow_module_level=True)
else:
    from conformance.process.session import PosixSession

assert sys.platform != "win32"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper")

STDIN = Stream("stdin", MEBIBYTE)
ERR = Literal(b"err")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened_world(tmp_path) as world:
        yield world


@pytest.fixture(params=["bash", "sh"])
def session(world: World, request: pytest.FixtureRequest) -> Iterator[Session]:
    with world.shipped() if request.param == "bash" else world.sh(SH_SESSION) as session:
        yield session


def assert_delivered(completed: Completed, code: int) -> None:
    assert completed.status == Exited(code)
    assert completed.stdout.difference is None, completed.stdout
    assert completed.stderr.difference is None, completed.stderr
    assert completed.leftovers == ()


def assert_goes_on(world: World, session: Session, stderr: Payload | None = ERR) -> None:
    """Show that `session` still performs bodies, and that nothing of the last one comes out of the next."""
    launch = world.launch(stdin=Literal(b"in"), stdout=Literal(b"in"), stderr=stderr)
    completed = world.perform(session, "cat; printf err >&2; (exit 42)", launch)
    assert_delivered(completed, 42)
    assert completed.stdin.sent == 2


# Bodies in a row, and their bytes.


def test_bodies_in_a_row_have_one_process_and_each_its_own_status(world: World, session: Session) -> None:
    for code in (0, 7, 0, 2, 255, 1, 137):
        out = Literal(f"{code}\n".encode())
        completed = world.perform(
            session, f"echo {code}; echo {code} >&2; (exit {code})", world.launch(stdout=out, stderr=out)
        )
        assert_delivered(completed, code)
        assert session.serves


def test_a_body_has_its_own_directory_and_environment(world: World) -> None:
    with world.shipped() as session:
        for value in ("one", "two words\nand a line", ""):
            launch = world.launch()
            expected = Literal(f"{launch.directory}[{value}]".encode())
            launch = replace(launch, environment={**launch.environment, "MINE": value}, stdout=expected)
            assert_delivered(world.perform(session, 'printf "%s[%s]" "$PWD" "$MINE"; (exit 7)', launch), 7)


def test_a_mebibyte_goes_in_and_comes_out_on_both_streams_while_it_is_written(world: World, session: Session) -> None:
    for _ in range(2):
        launch = world.launch(stdin=STDIN, stdout=STDIN, stderr=STDIN)
        completed = world.perform(session, "tee /dev/fd/2; (exit 7)", launch)
        assert_delivered(completed, 7)
        assert (completed.stdin.sent, completed.stdin.broken_pipe) == (MEBIBYTE, False)


@pytest.mark.parametrize("first", ["", ">&2"])
def test_one_stream_is_filled_before_the_other(first: str, world: World, session: Session) -> None:
    nul = Literal(bytes(MEBIBYTE))
    second = "" if first else ">&2"
    body = f"head -c {MEBIBYTE} /dev/zero {first}; head -c {MEBIBYTE} /dev/zero {second}"
    assert_delivered(world.perform(session, body, world.launch(stdin=STDIN, stdout=nul, stderr=nul)), 0)
    assert_goes_on(world, session)


def test_empty_input_ends_at_once(world: World, session: Session) -> None:
    completed = world.perform(session, "cat; (exit 7)")
    assert_delivered(completed, 7)
    assert (completed.stdin.sent, completed.stdin.broken_pipe) == (0, False)


@pytest.mark.parametrize(
    ("body", "taken"), [("(exit 2)", 0), ("exec <&-; (exit 2)", 0), ("head -c 100000; (exit 2)", 100_000)]
)
def test_input_that_is_not_read_to_its_end_is_recorded_and_reaches_no_other(
    body: str, taken: int, world: World, session: Session
) -> None:
    completed = world.perform(session, body, world.launch(stdin=STDIN, stdout=Literal(STDIN.slice(0, taken))))
    assert_delivered(completed, 2)
    assert completed.stdin.broken_pipe
    assert taken <= completed.stdin.sent < MEBIBYTE
    assert_goes_on(world, session)


def test_a_body_that_waits_for_the_end_of_input_gets_it_after_the_last_byte(world: World, session: Session) -> None:
    stdin = Literal(b"one\ntwo")
    assert_delivered(world.perform(session, "cat; (exit 7)", world.launch(stdin=stdin, stdout=stdin)), 7)


def test_a_stream_that_the_body_closes_ends_alone(world: World, session: Session) -> None:
    launch = world.launch(stdout=Literal(b"early\n"), stderr=Literal(b"late\n"))
    assert_delivered(world.perform(session, "(echo early; exec >&-; echo late >&2)", launch), 0)
    assert_goes_on(world, session)


@linux_only
def test_no_descriptor_is_lost_and_no_process_is_left(world: World) -> None:
    with world.shipped() as session:
        world.perform(session, "(exit 0)")
        before = descriptors()
        for number in range(200):
            assert world.perform(session, f"(exit {number})").status == Exited(number)
        assert descriptors() == before
    assert len(descriptors()) < len(before)


@linux_only
def test_a_session_that_ends_gives_all_its_descriptors_back(world: World) -> None:
    before = descriptors()
    for body in ("exit 7", "kill -KILL $$", "(exit 0)"):
        with world.shipped() as session:
            world.perform(session, body)
    with world.sh("exit 3") as session:
        world.perform(session, "(exit 0)")
    with pytest.raises(FileNotFoundError), world.open("/nonexistent/shell"):
        pass
    assert descriptors() == before


# What bodies leave running.


def test_what_a_child_writes_after_the_body_is_kept_within_its_time(world: World, session: Session) -> None:
    body = f"mkfifo end; sh -c 'read -r _ <{world.folder}/end; echo late' & true"
    os.mkfifo(world.folder / "end")
    told = world.folder / "end"

    class Telling(threading.Thread):
        def run(self) -> None:
            told.write_text("now\n")

    thread = Telling(daemon=True)
    thread.start()
    assert_delivered(world.perform(session, f"{body}; (exit 7)", world.launch(stdout=Literal(b"late\n"))), 7)
    thread.join()
    assert_goes_on(world, session)


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(("", streams), id=f"{name}") for name, streams in
        (("with its streams", ""), ("without", "</dev/null >/dev/null 2>&1"))
    ] + [
        pytest.param((leave, streams), marks=linux_only, id=f"{leave} {streams}")
        for leave in ("setsid", "env -i setsid") for streams in ("", "</dev/null >/dev/null 2>&1")
    ],
)  # fmt: skip
def test_a_child_that_outlives_the_body_is_listed_and_killed_and_the_session_goes_on(
    leave: tuple[str, str], world: World, session: Session
) -> None:
    how, streams = leave
    pid = world.folder / "child"
    body = f"{how} sleep {FOREVER} {streams} & echo $! >{pid}; (exit 7)"
    completed = world.perform(session, body, world.launch(linger=AT_ONCE))
    assert completed.status == Exited(7)
    assert [leftover.pid for leftover in completed.leftovers] == [world.pid("child")]
    with suppress(psutil.NoSuchProcess):  # it is the shell's child, which collects it when it comes to that
        assert psutil.Process(world.pid("child")).status() == psutil.STATUS_ZOMBIE
    assert_goes_on(world, session, stderr=None)  # bash says there that its job was killed


@linux_only
@pytest.mark.parametrize("leave", ["", "setsid", "env -i", "env -i setsid"])
def test_an_orphan_is_found_wherever_it_went(leave: str, world: World, session: Session) -> None:
    child, ready = world.folder / "child", world.folder / "ready"
    body = (
        f"mkfifo {ready}; ({leave} /bin/sh -c 'echo $$ >{child}; echo >{ready}; exec sleep {FOREVER}' &);"
        f" read -r _ <{ready}; (exit 7)"
    )
    completed = world.perform(session, body, world.launch(linger=AT_ONCE))
    assert completed.status == Exited(7)
    assert [leftover.pid for leftover in completed.leftovers] == [world.pid("child")]
    assert not psutil.pid_exists(world.pid("child"))
    assert_goes_on(world, session)


@linux_only
def test_orphans_that_ended_by_themselves_are_collected(world: World, session: Session) -> None:
    end = world.folder / "end"
    assert world.perform(session, f"mkfifo {end}; (sh -c 'read -r _ <{end}' &); (exit 7) 9>{end}").status == Exited(7)
    assert_goes_on(world, session)


@linux_only
def test_one_session_is_no_leftover_of_another_that_works_where_it_did(world: World) -> None:
    """A session may stay in the directory of its last body, and a body of another may be given that very directory."""
    with world.shipped() as first, world.sh(SH_SESSION) as second:
        launch = world.launch()
        assert_delivered(world.perform(first, "(exit 7)", launch), 7)
        assert_delivered(
            world.perform(second, "(exit 7)", replace(world.launch(linger=AT_ONCE), directory=launch.directory)), 7
        )
        assert_goes_on(world, first)


# Deadlines.


@linux_only
@pytest.mark.parametrize("leave", ["", "setsid", "env -i setsid"])
def test_the_deadline_counts_from_the_first_mark_and_ends_all(leave: str, world: World, session: Session) -> None:
    child, ready, started = (world.folder / name for name in ("child", "ready", "started"))
    body = (
        f"mkfifo {ready}; ({leave} /bin/sh -c 'echo $$ >{child}; echo >{ready}; exec sleep {FOREVER}' &);"
        f" read -r _ <{ready}; echo before; : >{started}; sleep {FOREVER}; exit 7"
    )
    completed = world.perform(session, body, world.launch(stdout=Literal(b"before\n"), started=started))
    assert completed.status == TimedOut()
    assert completed.stdout.difference is None
    assert world.pid("child") in {leftover.pid for leftover in completed.leftovers}
    assert not psutil.pid_exists(world.pid("child"))
    assert not session.serves


def test_a_session_that_never_begins_the_body_is_no_body_that_hangs(world: World) -> None:
    with world.sh(f"sleep {FOREVER}") as session:
        completed = world.perform(session, "exit 7", world.launch(deadline=AT_ONCE))
        assert completed.status == NotReported("the session had not begun the body at the deadline")
        assert not session.serves


# How a session ends, or breaks.


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("exit 7", Exited(7)),
        ("exit 0", Exited(0)),
        ("exec sh -c 'exit 42'", Exited(42)),
        ("ulimit -c 0; kill -KILL $$; exit 5", Signalled(signal.SIGKILL)),
        ("ulimit -c 0; kill -SEGV $$; exit 5", Signalled(signal.SIGSEGV)),
    ],
)
def test_a_body_that_ends_the_session_has_its_status(body: str, status: object, world: World) -> None:
    with world.shipped() as session:
        launch = world.launch(stdin=STDIN, stdout=Literal(b"out"), stderr=Literal(b"err"))
        completed = world.perform(session, f"printf out; printf err >&2; {body}", launch)
        assert completed.status == status
        assert completed.stdin.broken_pipe
        assert completed.stdout.difference is None
        assert completed.stderr.difference is None
        assert not session.serves


def test_what_a_body_that_ends_the_session_leaves_running_is_killed(world: World) -> None:
    child = world.folder / "child"
    with world.shipped() as session:
        completed = world.perform(session, f"sleep {FOREVER} & echo $! >{child}; exit 7", world.launch(linger=AT_ONCE))
        assert completed.status == Exited(7)
        assert [leftover.pid for leftover in completed.leftovers] == [world.pid("child")]
        assert not psutil.pid_exists(world.pid("child"))


OPENS = 'exec 5<"$folder/stdin" 6>"$folder/stdout" 7>"$folder/stderr"; echo "$id opened" >&4'
ENDS = 'exec 5<&- 6>&- 7>&-; echo "$id exited 7" >&4'
NO_ANSWER = "which is no answer to this body"


def broken(answer: str) -> str:
    """Return a session that does `answer` for each request."""
    return f"exec 3<&0 4>&1 </dev/null >/dev/null\nwhile read -r id folder directory <&3; do\n{answer}\ndone\n"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("exit 3", "the session ended, exited(3), before it began the body"),
        ("kill -KILL $$", "the session ended, signalled(9 SIGKILL), before it began the body"),
        (
            "echo 'no such thing: gauge' >&2; exit 3",
            "the session ended, exited(3), before it began the body; it said: no such thing: gauge",
        ),
        ("printf '%s op' $id >&4; exit 3", "the session ended, exited(3), before it began the body"),
        ("echo other opened >&4", f"the session answered 'other opened', {NO_ANSWER}"),
        ("echo $id exited 0 >&4", f"the session answered '{{id}} exited 0', {NO_ANSWER}"),
        ("echo >&4", f"the session answered '', {NO_ANSWER}"),
        ("printf '\\377\\n' >&4", f"the session answered '\ufffd', {NO_ANSWER}"),
        ("printf '%s opened\\r\\n' $id >&4", f"the session answered '{{id}} opened\\r', {NO_ANSWER}"),
        (f"{OPENS}; echo $id opened >&4", f"the session answered '{{id}} opened', {NO_ANSWER}"),
        (f"{OPENS}; echo other exited 7 >&4", f"the session answered 'other exited 7', {NO_ANSWER}"),
        (f"{OPENS}; echo $id exited seven >&4", f"the session answered '{{id}} exited seven', {NO_ANSWER}"),
        (f"{OPENS}; echo $id exited -1 >&4", f"the session answered '{{id}} exited -1', {NO_ANSWER}"),
        (f"{OPENS}; echo $id exited 7 7 >&4", f"the session answered '{{id}} exited 7 7', {NO_ANSWER}"),
        (f"{OPENS}; echo $id exited 256 >&4", f"the session answered '{{id}} exited 256', {NO_ANSWER}"),
        (f"{OPENS}; echo $id exited 4294967296 >&4", f"the session answered '{{id}} exited 4294967296', {NO_ANSWER}"),
        (f"{OPENS}; echo $id exited \u0667 >&4", f"the session answered '{{id}} exited \u0667', {NO_ANSWER}"),
    ],
)
def test_a_session_that_breaks_its_word_is_told_and_is_given_nothing_more(
    answer: str, reason: str, world: World
) -> None:
    with world.sh(broken(answer)) as session:
        launch = world.launch()
        talk = world.talk("exit 7", launch)
        completed = session.perform(launch, talk)
        assert completed.status == NotReported(reason.replace("{id}", talk.identity))
        assert completed.leftovers == ()
        assert not session.serves


@pytest.mark.parametrize("when", ["", f"{OPENS}; "])
def test_an_answer_without_end_is_cut(when: str, world: World) -> None:
    with world.sh(broken(f"{when}while :; do printf %01000d 0 >&4; done")) as session:
        completed = world.perform(session, "exit 7")
        assert completed.status == NotReported(f"the session answered {'0' * 80!r}, {NO_ANSWER}")


def test_half_an_answer_and_an_end_are_the_end_of_the_body(world: World) -> None:
    with world.sh(broken(f"{OPENS}; printf '%s exi' $id >&4; exit 42")) as session:
        assert world.perform(session, "exit 7").status == Exited(42)
        assert not session.serves


@pytest.mark.parametrize("end", ["exit 3", "kill -KILL $$"])
def test_an_answer_and_an_end_at_the_same_time_are_the_answer(end: str, world: World) -> None:
    for _ in range(20):  # whichever of them is seen first
        with world.sh(broken(f"{OPENS}; {ENDS}; {end}")) as session:
            assert world.perform(session, "exit 7").status == Exited(7)


def test_a_session_that_answers_twice_is_found_out_at_the_next_body(world: World) -> None:
    with world.sh(broken(f"{OPENS}; {ENDS}; echo $id exited 7 >&4")) as session:
        launch = world.launch()
        first = world.talk("exit 7", launch)
        assert session.perform(launch, first).status == Exited(7)
        completed = world.perform(session, "exit 0")
        assert completed.status == NotReported(f"the session answered '{first.identity} exited 7', {NO_ANSWER}")
        assert not session.serves


def test_a_session_without_a_channel_is_given_up_at_the_deadline(world: World) -> None:
    with world.sh(f"exec >&-; exec sleep {FOREVER}") as session:
        completed = world.perform(session, "exit 7", world.launch(deadline=AT_ONCE))
        assert completed.status == NotReported("the session had not begun the body at the deadline")
    started = world.folder / "started"
    with world.sh(broken(f"{OPENS}; exec 4>&-; : >{started}; exec sleep {FOREVER}")) as session:
        assert world.perform(session, "exit 7", world.launch(started=started)).status == TimedOut()


def test_a_channel_that_closes_and_a_process_that_goes_on_are_a_body_that_replaced_the_session(world: World) -> None:
    with world.shipped() as session:
        launch = world.launch(stdout=Literal(b"new\n"))
        assert world.perform(session, "exec sh -c 'echo new; exit 42'", launch).status == Exited(42)


def test_a_session_that_has_ended_meanwhile_says_so(world: World) -> None:
    with world.sh("read -r _; exit 3") as session:
        assert session.serves
        completed = world.perform(session, "exit 7")
        assert completed.status == NotReported("the session ended, exited(3), before it began the body")


def test_a_session_may_say_much_about_itself(world: World) -> None:
    """More than its pipe holds, over many bodies: nobody needs it, and it must not stand in its way."""
    with world.sh(broken(f"{OPENS}; head -c 30000 /dev/zero >&2; {ENDS}")) as session:
        for _ in range(5):
            assert world.perform(session, "exit 7").status == Exited(7)


def test_the_last_words_of_a_session_may_come_before_it_is_asked(world: World) -> None:
    with world.sh("echo 'no such thing: gauge' >&2; read -r _; exit 3") as session:
        while not (said := session_message(session)):
            pass
        assert said == "no such thing: gauge"
        completed = world.perform(session, "exit 7")
        assert completed.status == NotReported(
            "the session ended, exited(3), before it began the body; it said: no such thing: gauge"
        )


def session_message(session: Session) -> str:
    assert isinstance(session, PosixSession)
    return session._process.message()


# Cancelling.


def throwing_when_told(world: World) -> threading.Thread:
    """Throw the cancellation when somebody has opened and closed the fifo `tell`."""
    os.mkfifo(world.folder / "tell")

    def wait_and_throw() -> None:
        (world.folder / "tell").read_bytes()
        world.cancellation.throw()

    thread = threading.Thread(target=wait_and_throw, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("when", ["", f"{OPENS}; "], ids=["asked", "opened"])
def test_cancelling_ends_a_session_that_does_not_answer(when: str, world: World) -> None:
    thread = throwing_when_told(world)
    shell, tell = world.folder / "shell", world.folder / "tell"
    with world.sh(broken(f"echo $$ >{shell}; {when}: >{tell}; exec sleep {FOREVER}")) as session:
        with pytest.raises(CancelledError):
            world.perform(session, "exit 7")
        assert not psutil.pid_exists(world.pid("shell"))
        assert not session.serves
    thread.join()


def test_cancelling_ends_a_body_and_its_tree(world: World, session: Session) -> None:
    thread = throwing_when_told(world)
    child, tell = world.folder / "child", world.folder / "tell"
    body = f"(sh -c 'echo $$ >{child}; : >{tell}; exec sleep {FOREVER}' &); sleep {FOREVER}"
    with pytest.raises(CancelledError):
        world.perform(session, body)
    thread.join()
    assert not psutil.pid_exists(world.pid("child"))
    assert not session.serves


def test_cancelling_ends_the_wait_for_what_the_body_left(world: World, session: Session) -> None:
    thread = throwing_when_told(world)
    child, tell, end = (world.folder / name for name in ("child", "tell", "end"))
    body = (
        f"mkfifo {end}; sh -c 'exec 9<{end}; echo $$ >{child}; cat <&9; : >{tell}; exec sleep {FOREVER}' &"
        f" exec 8>{end}; (exit 7); exit 7"
    )
    with pytest.raises(CancelledError):
        world.perform(session, body)
    thread.join()
    assert not psutil.pid_exists(world.pid("child"))


def test_what_is_cancelled_already_begins_nothing(world: World, session: Session) -> None:
    world.cancellation.throw()
    with pytest.raises(CancelledError):
        world.perform(session, f"exec sleep {FOREVER}")
    assert not session.serves


def test_a_session_that_says_it_was_the_last_body_gets_no_other(world: World) -> None:
    with world.sh(SH_SESSION.replace("exited $status", "exited $status last")) as session:
        completed = world.perform(session, "exit 7")
        assert completed.status == Exited(7)
        assert not session.serves


def test_a_session_that_breaks_while_a_body_runs_says_so_and_its_code_is_not_the_bodys(world: World) -> None:
    with world.sh(SH_SESSION.replace("status=$?", "echo 'the replies are gone' >&2; exit 70")) as session:
        # The input comes when the session is known to have begun, so what it says then is about this body.
        completed = world.perform(session, "cat; exit 7", world.launch(stdin=Literal(b"begun"), stdout=None))
        assert completed.status == NotReported("the session broke, exited(70), and said: the replies are gone")
