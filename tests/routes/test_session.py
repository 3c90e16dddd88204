"""Session routes are data as well: what a session is started with, what each body finds, and what cannot be said."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from session_catalog import FRESH, URL, execute, fixture, printed, session_catalog, session_route, step

from conformance.campaign import local_runner
from conformance.catalog import load_catalog
from conformance.engine import open_engine
from conformance.observation import Result, ResultKind
from conformance.runners import Availability
from conformance.runners.local import LocalRunner
from conformance.runners.local_windows import NO_SESSIONS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX sessions")

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Execute one fixture on one route of its own, both given as TOML."""

    def run(route: str, *fixtures: str) -> Result:
        catalog = session_catalog(tmp_path, route, *fixtures)
        with local_runner() as (runner, _), open_engine(catalog, runner, 1.0) as engine:
            return engine.execute(catalog.cases()[0])

    return run


def shipped(more: str = "") -> str:
    """Return the route bash-session, with other keys."""
    (route,) = [route for route in load_catalog(["core"]).routes if route.id == "bash-session"]
    text = route.files["session"]
    return session_route(text, more=more).replace("{{sh}}", "{{bash}}")


def test_the_steps_of_a_case_have_one_process(run: Run) -> None:
    result = run(session_route(FRESH), fixture("one", step("echo $$"), step("echo $$; exit 7", 7)))
    first, second = printed(result)
    assert first == second != ""
    assert "Step 1 of 2: stdout" in result.reason


def test_a_body_finds_what_it_would_find_in_a_process_of_its_own(run: Run) -> None:
    """The variables are those of a one-shot route, and the route's own."""
    body = "env"
    alone = '[[route]]\nid = "r"\nkind = "one-shot"\ndialects = ["sh"]\nargv = ["{{bash}}", "-c", "{{body}}"]\n'
    alone += f'source = "{URL}"\nenv = {{ MINE = "a b", TERM = "dumb" }}'
    one_shot = f'[[fixture]]\nid = "one"\nsummary = "s"\nsource = "{URL}"\nstarted = "unprovable: it is a test"\n'
    one_shot += f'body.sh = "{body}"\n[[fixture.expect]]\nexit = 0\nreason = "r"\n'
    by_session = variables(run(shipped('env = { MINE = "a b", TERM = "dumb" }'), fixture("one", step(body))))
    by_itself = variables(run(alone, one_shot))
    own = {"CONFORMANCE_CASE", "TMPDIR", "PWD", "HOME", "_", "SHLVL", "OLDPWD"}
    assert {name: value for name, value in by_session.items() if name not in own} == {
        name: value for name, value in by_itself.items() if name not in own
    }
    assert by_session["MINE"] == "a b"
    assert by_session["PWD"].rpartition("/")[0] == by_session["TMPDIR"].rpartition("/")[0], "both are its own"


def variables(result: Result) -> dict[str, str]:
    assert result.observation is not None
    (observed,) = result.observation.steps
    assert observed.stdout.length <= len(observed.stdout.head), "all of it is kept"
    return dict(line.split("=", 1) for line in observed.stdout.head.decode().splitlines())


def test_each_body_works_in_an_empty_folder_of_its_own(run: Run) -> None:
    body = 'pwd; ls -A . "$TMPDIR" | wc -w; touch left "$TMPDIR/left"'
    result = run(shipped(), fixture("one", step(body), step(body)))
    (first, count), (second, again) = (text.split() for text in printed(result))
    assert first != second
    assert count == again, "nothing of the first is left"


def test_files_may_name_others_and_stay_as_long_as_the_session(run: Run) -> None:
    program = "hook='{{file:hook}}'\nset -- \"$0\"\n" + FRESH
    body = step('sh "$hook"; exit 7', 7, "from a file\n")
    result = run(session_route(program, more='files.hook = "echo from a file"'), fixture("one", body, body))
    assert result.kind is ResultKind.PASS, result.reason


def test_a_body_is_handed_over_byte_for_byte(run: Run) -> None:
    program = FRESH.replace('. "$folder/body"', 'cat "$folder/body"; exit 7')
    for body in ("one\r\ntwo\n\n", "é\ufeff \\ ' \" $x `y`", "#" * 200_000, "no line end"):
        result = run(session_route(program), fixture("one", step(body, 7, body)))
        assert result.kind is ResultKind.PASS, result.reason


def test_a_session_is_started_anew_for_the_step_after_one_that_ended_it(run: Run) -> None:
    program = FRESH.replace("(cd", "cd").replace('body")', 'body"')
    steps = [step("echo $$; exit 7"), step("echo $$"), step("echo $$; kill -9 $$"), step("echo $$")]
    pids = printed(run(session_route(program), fixture("one", *steps)))
    assert pids[0] != pids[1] == pids[2] != pids[3]


def test_a_body_may_be_performed_many_times(run: Run) -> None:
    result = run(session_route(FRESH), fixture("one", step("exit 7", 7, times=100)))
    assert result.kind is ResultKind.PASS, result.reason
    assert result.observation is not None
    assert result.observation.steps[0].repetition == 100


def test_the_first_time_that_differs_is_told(run: Run, tmp_path: Path) -> None:
    body = f"echo x >>{tmp_path}/count; test $(wc -l <{tmp_path}/count) != 3; exit $?"
    result = run(session_route(FRESH), fixture("one", step(body, times=10)))
    assert result.kind is ResultKind.FAIL
    assert result.reason.startswith("Step 1 of 1, time 3 of 10: expected exited(0), came exited(1)")
    assert (tmp_path / "count").read_text().count("x") == 3


MARKER = f"""
[[route]]
id = "r"
kind = "marker-session"
dialects = ["sh"]
argv = ["{{{{sh}}}}"]
dialogue.request = "{{{{body}}}}\\necho {{{{nonce}}}}:$?\\n"
dialogue.end = "{{{{nonce}}}}:(?P<code>[0-9]+)\\n"
source = "{URL}"
"""


def test_a_marker_session_is_data(run: Run) -> None:
    steps = [step("printf 'a\\n\\nb'; (exit 7)", 7, "a\n\nb"), step("echo c", 0, "c\n")]
    result = run(MARKER, fixture("one", *steps))
    assert result.kind is ResultKind.PASS, result.reason


@pytest.mark.parametrize(
    ("route", "more", "reason"),
    [
        (MARKER, 'stdin = "for the hook"', "the route hands over the body on standard input"),
        (MARKER, 'wiring = { stdin = "closed" }', "the route hands over the body on standard input"),
        (MARKER, 'wiring = { stdout = "closed" }', "the streams of a session are pipes"),
        (session_route(FRESH), 'wiring = { stdin = "closed" }', "the streams of a session are pipes"),
        (session_route(FRESH), 'wiring = { stderr = "full" }', "the streams of a session are pipes"),
    ],
)
def test_what_cannot_be_said_is_skipped(route: str, more: str, reason: str, run: Run) -> None:
    text = f'[[fixture]]\nid = "one"\nsummary = "s"\nsource = "{URL}"\nbody.sh = "{{{{mark}}}}"\n{more}\n'
    result = run(route, text + '[[fixture.expect]]\nexit = 0\nreason = "r"\n')
    assert result.kind is ResultKind.SKIPPED
    assert result.reason.startswith(reason)


def test_a_program_that_cannot_be_started_is_an_error(run: Run) -> None:
    route = session_route(FRESH).replace("{{sh}}", "/nonexistent/shell")
    result = run(route, fixture("one", step("exit 7", 7)))
    assert (result.kind, result.reason) == (
        ResultKind.ERROR,
        "the session's program /nonexistent/shell could not be started: No such file or directory. Correct its argv.",
    )


def test_where_there_are_no_sessions_they_are_unavailable_and_the_rest_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalRunner, "sessions", lambda self: Availability(available=False, reason=NO_SESSIONS))
    catalog = load_catalog(["core"])
    with local_runner() as (runner, _), open_engine(catalog, runner, 1.0) as engine:
        results = [execute(engine, catalog, f"exit-codes/exit-7/{name}") for name in ("bash-session", "bash-command")]
    assert [result.kind for result in results] == [ResultKind.UNAVAILABLE, ResultKind.PASS]
    assert results[0].reason == NO_SESSIONS
    assert "Windows" in NO_SESSIONS


def test_a_session_ends_with_its_engine(run: Run) -> None:
    (pid,) = printed(run(session_route(FRESH, state="fresh"), fixture("one", step("echo $$"))))
    assert not psutil.pid_exists(int(pid))
