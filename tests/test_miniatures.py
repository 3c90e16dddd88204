"""Proof that the harness can fail: tiny launchers that are always wrong in one way, each caught by name.

The miniatures are the programs in `tests/miniatures`; each says in its first line what it does wrong.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest
from conftest import Finished, call_cli, valid_report

from conformance.campaign import Plan, perform
from conformance.catalog import load_catalog
from conformance.observation import Result, ResultKind
from conformance.report.reader import Report
from conformance.report.writer import ReportWriter
from conformance.status import FailedToStart, TimedOut

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the miniatures run /bin/sh")

MINIATURES = Path(__file__).parent / "miniatures"
INTERPRETERS = {".sh": ["/bin/sh"], ".py": [sys.executable, "-I", "-S"]}
FIXTURES = (
    "bytes/crlf-and-lone-cr",
    "bytes/deny-json-exit-2",
    "bytes/echo-64k",
    "bytes/stdin-5k-read",
    "exit-codes/exit-0",
    "exit-codes/exit-2",
    "native-codes/native-7",
)

FAIL_OPEN = "the failure is reported as success, so a hook that denies lets the tool run"
FAIL_CLOSED = "the success is reported as a failure, so a hook that allows is taken for a broken or a denying one"
COLLAPSED = "the code collapsed to 1, so a caller that blocks on 2 takes the hook for broken and carries on"
BECAME_2 = "the code became 2, which callers take for a verdict (block) that the hook did not give"
DIED = "the process that the caller waits for died of a signal, which says nothing of the hook"
HUNG = "the route hung and was killed with its whole tree at its deadline"
NEVER_STARTED = "the hook never started, so its exit code says nothing of it"
NO_INPUT = "the hook did not get the standard input that it was sent"
OTHER_STREAM = "holds exactly what belongs on the other stream"
LOST = "is lost as a whole"
NOT_THE_HOOKS = "has bytes at its end that the hook did not write"
ADDED_NEWLINE = "got a newline at its end that the hook did not write"

Caught = dict[str, dict[str, str]]
"""Fixture -> subject of a discrepancy -> what the discrepancy means."""


def each(fixtures: Sequence[str], **discrepancies: str) -> Caught:
    return {fixture: dict(discrepancies) for fixture in fixtures}


FAILURES = tuple(fixture for fixture in FIXTURES if fixture != "exit-codes/exit-0")
CAUGHT: dict[str, Caught] = {
    "faithful": {},
    "always-exits-0": each(FAILURES, status=FAIL_OPEN),
    "always-exits-1": {**each(FAILURES, status=COLLAPSED), "exit-codes/exit-0": {"status": FAIL_CLOSED}},
    "collapses-to-1": each(FAILURES, status=COLLAPSED),
    "crashes": each(FIXTURES, status=DIED),
    "swaps-streams": {
        "bytes/deny-json-exit-2": {"stdout": f"stdout {OTHER_STREAM}", "stderr": f"stderr {OTHER_STREAM}"},
        "bytes/echo-64k": {"stdout": f"stdout {LOST}", "stderr": f"stderr {OTHER_STREAM}"},
    },
    "merges-streams": each(
        ("bytes/crlf-and-lone-cr", "bytes/deny-json-exit-2"),
        stdout="stdout has the other stream appended to it",
        stderr=f"stderr {LOST}",
    ),
    "drops-last-byte": each(
        ("bytes/crlf-and-lone-cr", "bytes/deny-json-exit-2", "bytes/echo-64k"),
        stdout="stdout ends early, its last bytes are lost",
    ),
    "adds-newline": each(FIXTURES, stdout=f"stdout {ADDED_NEWLINE}"),
    "translates-crlf": each(("bytes/crlf-and-lone-cr",), stdout="stdout has LF where the hook wrote CR LF"),
    "loses-stdin": {
        "bytes/echo-64k": {"stdin": NO_INPUT, "stdout": f"stdout {LOST}"},
        "bytes/stdin-5k-read": {"stdin": NO_INPUT},
    },
    "ignores-body": {
        **each(("exit-codes/exit-0", "exit-codes/exit-2"), started=NEVER_STARTED),
        **each(
            ("bytes/crlf-and-lone-cr", "bytes/deny-json-exit-2"),
            started=NEVER_STARTED,
            stdout=f"stdout {LOST}",
            stderr=f"stderr {LOST}",
        ),
        "bytes/echo-64k": {"started": NEVER_STARTED, "stdin": NO_INPUT, "stdout": f"stdout {LOST}"},
        "bytes/stdin-5k-read": {"started": NEVER_STARTED, "stdin": NO_INPUT},
        "native-codes/native-7": {"status": BECAME_2, "started": NEVER_STARTED, "stderr": f"stderr {NOT_THE_HOOKS}"},
    },
}
"""What each miniature is caught at; every fixture that is not named passes."""


def route_file(folder: Path, miniature: str, argv: Sequence[str] = (), *, deviation: str = "") -> Path:
    """Write a route file for `miniature`, or for another program; `deviation` are the keys of one that documents it."""
    program = next(iter(MINIATURES.glob(f"{miniature}.*")), None)
    if program is not None:
        argv = (*INTERPRETERS[program.suffix], str(program), "{{body}}")
    text = (
        f'[[route]]\nid = "{miniature}"\nkind = "one-shot"\ndialects = ["sh"]\nargv = {json.dumps(list(argv))}\n'
        'source = "https://example.org/miniature"\n'
    )
    if deviation:
        text += (
            f'[[deviation]]\nroutes = ["{miniature}"]\nreason = "it is so"\nurl = "https://example.org/"\n{deviation}\n'
        )
    path = folder / f"{miniature}.toml"
    path.write_text(text)
    return path


def results_of(file: Path, fixtures: Sequence[str], time_scale: float = 1.0) -> list[Result]:
    """Run `fixtures` through the one route of `file`."""
    catalog = load_catalog(["full"], [file])
    cases = tuple(case for case in catalog.cases() if case.route.id == file.stem and case.fixture.id in fixtures)
    assert {case.fixture.id for case in cases} == set(fixtures)
    outcome = perform(Plan(catalog, cases, 2, time_scale), ReportWriter(io.StringIO(), "in memory"), lambda line: None)
    return sorted(outcome.results, key=lambda result: result.id)


def found_in(results: Sequence[Result]) -> Caught:
    return {
        result.id.rpartition("/")[0]: {found.subject: found.meaning for found in result.discrepancies}
        for result in results
        if result.kind is not ResultKind.PASS
    }


def test_every_miniature_is_put_to_the_test() -> None:
    elsewhere = {"hangs", "deadlocks", "leaves-a-process", "alternates"}
    programs = {path.stem for path in MINIATURES.iterdir() if path.suffix in INTERPRETERS}
    assert programs == CAUGHT.keys() | elsewhere


@pytest.mark.parametrize("miniature", CAUGHT)
def test_caught_by_name_and_by_what_it_means(miniature: str, tmp_path: Path) -> None:
    results = results_of(route_file(tmp_path, miniature), FIXTURES)
    assert found_in(results) == CAUGHT[miniature]
    for result in results:
        assert result.id.endswith(f"/{miniature}")
        assert result.kind in (ResultKind.PASS, ResultKind.FAIL)
        assert not result.provisional
        assert all(found.statement in result.reason for found in result.discrepancies)


def test_the_reason_shows_the_first_difference_in_both_hexdumps(tmp_path: Path) -> None:
    (result,) = results_of(route_file(tmp_path, "translates-crlf"), ["bytes/crlf-and-lone-cr"])
    first, *dumps = result.reason.splitlines()[:3]
    assert first == (
        "stdout: expected 10 bytes, came 8 bytes, the first difference is at byte offset 1: "
        "stdout has LF where the hook wrote CR LF."
    )
    assert dumps == [
        "  expected 00000000  61 0d 0a 62 0d 63 0d 0d 0a 0d                    |a..b.c....|",
        "  came     00000000  61 0a 62 0d 63 0d 0a 0d                          |a.b.c...|",
    ]


def test_a_deadlock_behind_a_full_pipe_is_caught_and_cleared_away(tmp_path: Path) -> None:
    file = route_file(tmp_path, "deadlocks")
    assert found_in(results_of(file, ["bytes/echo-64k"])) == {}, "what fits the pipe goes through"
    (result,) = results_of(file, ["bytes/echo-1m"], time_scale=0.02)
    assert result.kind is ResultKind.FAIL
    assert (result.discrepancies[0].subject, result.discrepancies[0].meaning) == ("status", HUNG)
    assert_killed(result)


def test_a_hang_is_caught_and_is_no_body_that_hangs(tmp_path: Path) -> None:
    results = results_of(route_file(tmp_path, "hangs"), ["exit-codes/exit-0", "processes/hang"], time_scale=0.01)
    assert found_in(results) == {
        "exit-codes/exit-0": {"status": HUNG, "started": NEVER_STARTED},
        "processes/hang": {"started": NEVER_STARTED},
    }
    for result in results:
        assert result.observation is not None
        assert result.observation.steps[0].status == TimedOut()


def test_a_process_left_behind_changes_no_verdict_and_is_listed_and_killed(tmp_path: Path) -> None:
    file = route_file(tmp_path, "leaves-a-process")
    passed, failed = results_of(file, ["exit-codes/exit-0", "native-codes/native-7"])
    assert found_in([passed, failed]) == {"native-codes/native-7": {"status": FAIL_OPEN}}
    for result in (passed, failed):
        assert result.observation is not None
        assert [leftover.command for leftover in result.observation.steps[0].leftovers] == ["sleep 3600"]
        assert_killed(result)


def assert_killed(result: Result) -> None:
    assert result.observation is not None
    for leftover in result.observation.steps[0].leftovers:
        assert not psutil.pid_exists(leftover.pid), leftover


def test_a_route_that_cannot_be_started_is_an_error_and_says_what_to_do(tmp_path: Path) -> None:
    (result,) = results_of(route_file(tmp_path, "missing", ["/nonexistent/shell", "{{body}}"]), ["exit-codes/exit-0"])
    assert result.kind is ResultKind.ERROR
    assert "failed_to_start(ENOENT" in result.reason
    assert "Correct its argv." in result.reason


def test_a_body_that_is_too_long_for_argv_is_a_failure_of_the_route(tmp_path: Path) -> None:
    file = route_file(tmp_path, "too-long", ["/bin/sh", "-c", "{{body}}", "x" * 3_000_000])
    (result,) = results_of(file, ["exit-codes/exit-2"])
    assert result.kind is ResultKind.FAIL
    assert result.observation is not None
    assert isinstance(result.observation.steps[0].status, FailedToStart)
    assert result.discrepancies[0].meaning == "the caller gets no exit code at all"


def test_a_body_that_is_too_long_for_argv_can_be_documented(tmp_path: Path) -> None:
    deviation = 'fixtures = ["exit-codes/exit-2"]\nobserved.failed_to_start = "E2BIG"\nobserved.started = "no"'
    file = route_file(tmp_path, "too-long", ["/bin/sh", "-c", "{{body}}", "x" * 3_000_000], deviation=deviation)
    (result,) = results_of(file, ["exit-codes/exit-2"])
    assert result.kind is ResultKind.DEVIATES, result.reason


# Expected failures, through the command line, whose exit code they decide.

EXIT_7 = "exit-codes/exit-7"
DENY = "bytes/deny-json-exit-2"
READ = "bytes/stdin-64k-plus-1-read"
DOCUMENTED_STATUS = f'fixtures = ["{EXIT_7}"]\nobserved.exit = 1'
SWAPPED = """\
fixtures = ["bytes/deny-json-exit-2"]
observed.stdout = { text = "not today" }
observed.stderr = { text = '{"decision":"deny","reason":"fixture"}' }"""
MERGED = f'fixtures = ["{DENY}"]\nobserved.stdout = "merged-with-stderr"'
FAILS_OPEN = 'fixtures = ["exit-codes/*"]\nexcept = ["exit-codes/exit-1"]\nobserved.exit = 0'


def run_file(file: Path, fixture: str) -> tuple[Finished, Report | None]:
    """Run `fixture` through the routes of `file` and return what the command said, and its report."""
    report = file.with_suffix(".jsonl")
    finished = call_cli("run", "--route", file, "--fixture", fixture, "--report", report)
    return finished, valid_report(report) if report.exists() else None


def only_result(report: Report | None) -> tuple[str, str]:
    assert report is not None
    (line,) = report.results
    return line["result"], line["reason"]


@pytest.mark.parametrize(
    ("miniature", "fixture", "deviation"),
    [
        ("always-exits-1", EXIT_7, DOCUMENTED_STATUS),
        ("always-exits-0", EXIT_7, FAILS_OPEN),
        ("crashes", EXIT_7, f'fixtures = ["{EXIT_7}"]\nobserved.signal = "SEGV"'),
        ("drops-last-byte", DENY, f'fixtures = ["{DENY}"]\nobserved.stdout = "head:37"'),
        ("translates-crlf", "bytes/crlf-and-lone-cr", 'fixtures = ["bytes/crlf*"]\nobserved.stdout = "crlf-to-lf"'),
        ("merges-streams", DENY, f'{MERGED}\nobserved.stderr = "empty"'),
        ("swaps-streams", DENY, SWAPPED),
        ("swaps-streams", DENY, SWAPPED.replace('{ text = "not today" }', '"begins:6e6f7420"')),
        ("swaps-streams", DENY, f'fixtures = ["{DENY}"]\nobserved.stdout = "anything"\nobserved.stderr = "anything"'),
        ("loses-stdin", READ, f'fixtures = ["{READ}"]\nobserved.received = "anything"'),
        ("ignores-body", EXIT_7, f'fixtures = ["{EXIT_7}"]\nobserved.started = "no"'),
    ],
)
def test_documented_exactly_it_deviates_and_the_run_is_good(
    miniature: str, fixture: str, deviation: str, tmp_path: Path
) -> None:
    finished, report = run_file(route_file(tmp_path, miniature, deviation=deviation), fixture)
    kind, reason = only_result(report)
    assert (finished.code, kind) == (0, "deviates"), reason
    assert "it is so; https://example.org/" in reason


@pytest.mark.parametrize(
    ("miniature", "fixture", "deviation"),
    [
        ("always-exits-1", EXIT_7, f'fixtures = ["{EXIT_7}"]\nobserved.exit = 3'),
        ("always-exits-1", EXIT_7, f'fixtures = ["{EXIT_7}"]\nobserved.stdout = {{ text = "x" }}'),
        ("always-exits-1", EXIT_7, f'{DOCUMENTED_STATUS}\nobserved.stderr = {{ text = "x" }}'),
        ("always-exits-1", EXIT_7, f'{DOCUMENTED_STATUS}\nobserved.started = "no"'),
        ("always-exits-1", READ, f'fixtures = ["{READ}"]\nobserved.exit = 1\nobserved.received = "anything"'),
        ("merges-streams", DENY, MERGED),
        ("drops-last-byte", DENY, f'fixtures = ["{DENY}"]\nobserved.stdout = "head:36"'),
        ("swaps-streams", DENY, SWAPPED.replace('{ text = "not today" }', '"begins:6e6f7421"')),
    ],
)
def test_documented_as_something_else_it_fails(miniature: str, fixture: str, deviation: str, tmp_path: Path) -> None:
    file = route_file(tmp_path, miniature, deviation=deviation)
    finished, report = run_file(file, fixture)
    kind, reason = only_result(report)
    assert (finished.code, kind) == (1, "fail"), reason
    line = file.read_text().split("\n").index("[[deviation]]") + 1
    assert f"This is not what the deviation documented at {file}:{line}" in reason


def test_a_deviation_that_no_longer_happens_is_fixed_and_fails_the_run(tmp_path: Path) -> None:
    finished, report = run_file(route_file(tmp_path, "faithful", deviation=DOCUMENTED_STATUS), EXIT_7)
    kind, reason = only_result(report)
    assert (finished.code, kind) == (1, "fixed")
    assert "no longer happens here" in reason
    assert reason in finished.out


@pytest.mark.parametrize(
    ("fixture", "complaint"),
    [
        ("exit-codes/exit-8", "'exit-codes/exit-8' matches no fixture"),
        ("exit-codes/host-should-exit-7", "the deviation matches no case"),  # it has no body in sh
    ],
)
def test_a_deviation_that_matches_nothing_is_a_broken_file(fixture: str, complaint: str, tmp_path: Path) -> None:
    file = route_file(tmp_path, "faithful", deviation=f'fixtures = ["{fixture}"]\nobserved.exit = 1')
    finished, report = run_file(file, EXIT_7)
    assert (finished.code, report) == (2, None)
    assert finished.err.startswith(f"conformance: {file}:")
    assert complaint in finished.err


def test_a_deviation_that_documents_the_contract_is_unused_and_fails_the_run(tmp_path: Path) -> None:
    file = route_file(tmp_path, "faithful", deviation=f'fixtures = ["{EXIT_7}"]\nobserved.exit = 7')
    finished, report = run_file(file, EXIT_7)
    assert (finished.code, only_result(report)[0]) == (1, "pass")
    assert "the deviation is unused" in finished.out


@pytest.mark.parametrize("observed", ["observed.exit = 1", 'observed.started = "no"', 'observed.stdout = "empty"'])
def test_an_error_never_satisfies_a_deviation(observed: str, tmp_path: Path) -> None:
    deviation = f'fixtures = ["{DENY}"]\n{observed}'
    file = route_file(tmp_path, "missing", ["/nonexistent/shell", "{{body}}"], deviation=deviation)
    finished, report = run_file(file, DENY)
    assert (finished.code, only_result(report)[0]) == (3, "error")
