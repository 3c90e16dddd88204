"""Which cases share a session, and what is said of one that fails only where others have been."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from conftest import run_cli, valid_report
from session_catalog import (
    FRESH,
    LEAKING,
    Execute,
    engines_in,
    fixture,
    printed,
    session_route,
    step,
    write_matrix,
)

from conformance.observation import Result, ResultKind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX sessions")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Execute]]:
    """Open an engine on routes and fixtures, and execute cases of it by their ids."""
    with engines_in(tmp_path) as opened:
        yield opened


TELLS = (fixture("a", step("echo $$", 0, None)), fixture("b", step("echo $$", 0, None), step("echo $$", 0, None)))


def pids(result: Result) -> set[int]:
    return {int(text) for text in printed(result)}


def test_cases_share_a_session_that_gives_each_body_a_new_start(opened: Callable[..., Execute]) -> None:
    run = opened(session_route(FRESH, state="fresh"), *TELLS)
    first, second = pids(run("t/a/r")), pids(run("t/b/r"))
    assert first == second
    assert psutil.pid_exists(*first), "it waits for the next"


def test_a_case_that_is_skipped_ends_no_session(opened: Callable[..., Execute]) -> None:
    closed = fixture("c", step("exit 7", 7)).replace("[[fixture.step]]\n", "").replace("fixture.step.", "fixture.")
    closed = closed.replace("body.sh", 'wiring = { stderr = "closed" }\nbody.sh')
    run = opened(session_route(FRESH, state="fresh"), *TELLS, closed)
    first = pids(run("t/a/r"))
    assert run("t/c/r").kind is ResultKind.SKIPPED
    assert pids(run("t/a/r")) == first


def test_cases_share_no_session_that_keeps_state(opened: Callable[..., Execute]) -> None:
    run = opened(session_route(FRESH), *TELLS)
    (first,), (second,) = pids(run("t/a/r")), pids(run("t/b/r"))
    assert first != second
    assert not psutil.pid_exists(first)
    assert not psutil.pid_exists(second)


def test_routes_share_no_session(opened: Callable[..., Execute]) -> None:
    routes = session_route(FRESH, name="r", state="fresh") + session_route(FRESH, name="s", state="fresh")
    run = opened(routes, *TELLS)
    first, other, again = pids(run("t/a/r")), pids(run("t/a/s")), pids(run("t/a/r"))
    assert first == again != other


def test_a_session_that_died_between_cases_is_replaced(opened: Callable[..., Execute]) -> None:
    run = opened(session_route(FRESH, state="fresh"), fixture("a", step("exit 7", 7)), *TELLS[1:])
    (pid,) = pids(run("t/b/r"))
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    result = run("t/a/r")
    assert result.kind is ResultKind.PASS, result.reason
    assert not psutil.pid_exists(pid)


SETS, READS = fixture("sets", step("X=dirty")), fixture("reads", step('echo "${X-clean}"', 0, "clean\n"))


def test_a_case_that_fails_only_after_others_is_contaminated_by_them(opened: Callable[..., Execute]) -> None:
    run = opened(session_route(LEAKING, state="fresh"), SETS, READS)
    assert run("t/sets/r").kind is ResultKind.PASS
    result = run("t/reads/r")
    assert result.kind is ResultKind.FAIL
    assert result.reason.startswith("contaminated by t/sets/r: in a new session it comes out as it is documented")
    assert "stdout: expected 6 bytes" in result.reason


def test_after_a_contaminated_case_the_next_has_a_new_session(opened: Callable[..., Execute]) -> None:
    """Or all that follow would be run twice, and be told of the wrong one."""
    run = opened(session_route(LEAKING, state="fresh"), SETS, READS)
    assert [run(f"t/{name}/r").kind for name in ("sets", "reads", "reads")] == ["pass", "fail", "pass"]


def test_a_case_between_the_two_is_not_blamed_alone(opened: Callable[..., Execute]) -> None:
    run = opened(session_route(LEAKING, state="fresh"), SETS, READS, fixture("idle", step(":")))
    for name in ("sets", "idle"):
        assert run(f"t/{name}/r").kind is ResultKind.PASS
    assert run("t/reads/r").reason.startswith("contaminated by t/idle/r or one before it: ")


def test_a_case_that_fails_in_a_new_session_as_well_fails_by_itself(opened: Callable[..., Execute]) -> None:
    run = opened(session_route(FRESH, state="fresh"), *TELLS, fixture("wrong", step("exit 3", 7)))
    run("t/a/r")
    result = run("t/wrong/r")
    assert result.kind is ResultKind.FAIL
    assert result.reason.startswith("expected exited(7), came exited(3)")


def test_a_case_in_one_place_is_no_leftover_of_another(opened: Callable[..., Execute]) -> None:
    """The session stays in the folder of its last body, which is lent to the next case."""
    stays = session_route(LEAKING, name="stays", state="fresh")
    run = opened(stays + session_route(FRESH, name="other", state="fresh"), *TELLS)
    first, other, again = run("t/a/stays"), run("t/a/other"), run("t/a/stays")
    assert pids(first) == pids(again) != pids(other)
    for result in (first, other, again):
        assert result.observation is not None
        assert [observed.leftovers for observed in result.observation.steps] == [()]


# Whole runs.

CASES = 5
COUNTS_STARTS = "echo $$ >>{starts}\n" + FRESH


def write_run(folder: Path) -> Path:
    """Write a matrix whose sessions tell of their start in a file; return that file."""
    starts = folder / "starts"
    routes = session_route(COUNTS_STARTS.format(starts=starts), name="fresh", state="fresh")
    routes += session_route(COUNTS_STARTS.format(starts=starts), name="kept")
    write_matrix(folder / "matrix.toml", routes, ["exit-codes/exit-[01237]", "sessions/code-of-the-last-body"])
    return starts


def assert_started(starts: Path, workers: int) -> None:
    """Show that each case on the kept route had a session, and each worker one for the other; and that all are gone."""
    pids = [int(line) for line in starts.read_text().split()]
    assert CASES + 1 <= len(pids) <= CASES + workers
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


def test_workers_of_a_run_have_sessions_of_their_own_and_leave_none(tmp_path: Path) -> None:
    starts = write_run(tmp_path)
    finished = run_cli("run", "matrix.toml", "-j", "3", "--report", "r.jsonl", cwd=tmp_path)
    assert finished.code == 0, finished
    assert len(valid_report(tmp_path / "r.jsonl").results) == 2 * CASES
    assert_started(starts, workers=3)


@pytest.mark.parametrize(("options", "workers"), [([], 1), (["-n2"], 2)])
def test_a_pytest_process_has_one_session_for_many_items_and_leaves_none(
    options: list[str], workers: int, pytester: pytest.Pytester
) -> None:
    starts = write_run(pytester.path)
    pytester.makeini("[pytest]\nconformance_matrices = matrix.toml\n")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=2 * CASES)
    assert_started(starts, workers)
