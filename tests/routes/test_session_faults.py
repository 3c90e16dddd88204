"""What happens to a session from outside: every result is true, the rest of the run goes on, and nothing is left."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from conftest import Finished, run_cli, valid_report
from session_catalog import FRESH, execute, fixture, printed, session_catalog, session_route, step, write_matrix

from conformance.campaign import Plan, local_runner, perform
from conformance.engine import open_engine
from conformance.observation import Result, ResultKind
from conformance.paths import data_folder
from conformance.report.writer import ReportWriter
from conformance.status import NotReported, Signalled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX sessions")

Execute = Callable[[str], Result]
FOREVER = 3600
GOOD = fixture("good", step("echo $$; exit 7", 7, None))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Execute]]:
    """Open an engine on routes and fixtures, and execute cases of it by their ids; nothing may be left of it."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    children = {child.pid for child in psutil.Process().children()}
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr("tempfile.tempdir", str(temporary))

        def opened(routes: str, *fixtures: str) -> Execute:
            catalog = session_catalog(tmp_path, routes, *fixtures)
            runner, _ = stack.enter_context(local_runner())
            engine = stack.enter_context(open_engine(catalog, runner, 1.0))
            return lambda id_: execute(engine, catalog, id_)

        yield opened
        stack.close()
    assert list(temporary.iterdir()) == []
    assert [child for child in psutil.Process().children() if child.pid not in children] == []


@pytest.mark.parametrize("state", ["fresh", "kept"])
def test_a_session_that_is_killed_in_a_case_is_that_cases_end_only(
    state: str, opened: Callable[..., Execute], tmp_path: Path
) -> None:
    tell = tmp_path / "tell"
    os.mkfifo(tell)

    def kill() -> None:
        os.kill(int(tell.read_text()), signal.SIGKILL)

    victim = fixture("victim", step(f"echo $$ >{tell}; sleep {FOREVER}"), step("exit 7", 7))
    run = opened(session_route(FRESH, state=state), victim, GOOD)
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    result = run("t/victim/r")
    thread.join()
    assert result.kind is ResultKind.FAIL
    assert result.status == Signalled(signal.SIGKILL)
    assert result.reason.startswith("Step 1 of 2: expected exited(0), came signalled(9 SIGKILL): the process that")
    assert [found.subject for found in result.discrepancies] == ["status"], "the second step has a session of its own"
    assert run("t/good/r").kind is ResultKind.PASS


def test_a_session_that_dies_while_it_starts_is_told(opened: Callable[..., Execute]) -> None:
    run = opened(session_route("echo oops >&2\nkill -9 $$"), GOOD)
    result = run("t/good/r")
    assert result.kind is ResultKind.FAIL
    assert result.status == NotReported(
        "the session ended, signalled(9 SIGKILL), before it began the body; it said: oops"
    )


def no_room(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


NO_ROOM = (
    "the case's own files could not be written or read: No space left on device. Make room, or set TMPDIR."
)  # fmt: skip


@pytest.mark.parametrize("what", ["os.mkfifo", "pathlib.Path.write_bytes", "pathlib.Path.mkdir"])
@pytest.mark.parametrize("state", ["fresh", "kept"])
def test_a_disk_without_room_is_an_error_and_the_run_goes_on_when_there_is_some(
    state: str, what: str, opened: Callable[..., Execute], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(session_route(FRESH, state=state), GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(what, no_room)
        result = run("t/good/r")
    if (result.kind, what) != (ResultKind.PASS, "pathlib.Path.mkdir"):  # a folder that is there is lent again
        assert (result.kind, result.reason) == (ResultKind.ERROR, NO_ROOM)
    assert run("t/good/r").kind is ResultKind.PASS


def test_a_disk_that_is_full_for_one_case_loses_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = session_catalog(tmp_path, session_route(FRESH, state="fresh"), *(
        fixture(name, step("exit 7", 7), step("exit 2", 2)) for name in "abcde"
    ))  # fmt: skip
    real, made = os.mkfifo, iter(range(1000))

    def sometimes(path: Path, mode: int) -> None:
        return no_room() if next(made) == 9 else real(path, mode)  # in the second case

    monkeypatch.setattr(os, "mkfifo", sometimes)
    outcome = perform(
        Plan(catalog, catalog.cases(), 1, 1.0), ReportWriter(io.StringIO(), "in memory"), lambda line: None
    )
    assert sorted(result.kind for result in outcome.results) == ["error", "pass", "pass", "pass", "pass"]


@pytest.mark.parametrize("request_", [b"", b"id", b"id /folder", b"id /folder /"])
def test_a_request_that_breaks_off_gets_no_reply(request_: bytes) -> None:
    program = data_folder("matrices") / "bash-session.bash"
    server = subprocess.run(
        ["bash", "--noprofile", "--norc", str(program)], input=request_, capture_output=True, check=False
    )
    assert (server.returncode, server.stdout) == (0, b"")


def test_two_runs_at_once_leave_each_other_alone(tmp_path: Path) -> None:
    """Both of bodies that leave processes behind, which only their own run may kill."""
    routes = session_route(FRESH, name="fresh", state="fresh") + session_route(FRESH, name="kept")
    fixtures = ["exit-codes/exit-*", "processes/background-child-holds-stdout", "native-codes/native-*"]

    def run(name: str) -> Finished:
        folder = tmp_path / name
        (folder / "tmp").mkdir(parents=True)
        write_matrix(folder / "matrix.toml", routes, fixtures)
        options = ["-j", "2", "--report", "r.jsonl"]
        return run_cli("run", "matrix.toml", *options, env={"TMPDIR": str(folder / "tmp")}, cwd=folder)

    with ThreadPoolExecutor(2) as pool:
        finished = list(pool.map(run, ["one", "two"]))
    for name, run_ in zip(["one", "two"], finished, strict=True):
        report = valid_report(tmp_path / name / "r.jsonl")
        assert {line["result"] for line in report.results} == {"pass"}, run_.out
        assert (run_.code, report.complete) == (0, True)
        assert list((tmp_path / name / "tmp").iterdir()) == []
    commands = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert [command for command in commands if str(tmp_path) in command] == []


def test_what_one_case_leaves_running_is_gone_before_the_next(opened: Callable[..., Execute]) -> None:
    leaves = fixture("leaves", step(f"sleep {FOREVER} & echo $!; exit 7", 7, None), deadline=50)
    run = opened(session_route(FRESH, state="fresh"), leaves, GOOD)
    (pid,) = printed(run("t/leaves/r"))
    assert not psutil.pid_exists(int(pid))
    assert run("t/good/r").kind is ResultKind.PASS
