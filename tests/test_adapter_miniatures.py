"""Proof that the harness can fail adapters: tiny ones that are always wrong in one way, each caught by name.

They are the programs in `tests/miniatures/adapters`; each says in its first line what it does wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from session_catalog import URL, fixture, session_catalog, step

from conformance.campaign import local_runner
from conformance.engine import open_engine
from conformance.observation import Result, ResultKind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bodies are written for POSIX shells")

MINIATURES = Path(__file__).parent / "miniatures" / "adapters"
PROGRAMS = sorted(path.stem for path in MINIATURES.glob("*.py") if path.stem != "asked")

FIXTURES = (
    fixture("a-denial", step("{{native:2}}", 2)),
    fixture("b-allowance", step("{{mark}}\necho ok", 0, "ok\n")),
    fixture("c-input", step("{{witness}} read exit 7", 7, stdin="a decision\n")) + 'received = "all"\n',
    fixture("d-output", step("{{witness}} write 65537 exit 42", 42, None)),
)
STARTED = [text.replace('"unprovable: the test decides what the body is"', '"yes"') for text in FIXTURES]

FAIL_OPEN = "the failure is reported as success, so a hook that denies lets the tool run"
FAIL_CLOSED = "the success is reported as a failure, so a hook that allows is taken for a broken or a denying one"
NEVER_STARTED = "the hook never started, so its exit code says nothing of it"
OTHER_CODE = "the caller sees another code than the hook's own"
NO_INPUT = "the hook did not get the standard input that it was sent"

FAILED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "keeps-to-it": {},
    "makes-noise": {},
    "always-passed": {
        "a-denial": [FAIL_OPEN, NEVER_STARTED],
        "b-allowance": [NEVER_STARTED, "stdout is lost as a whole"],
        "c-input": [FAIL_OPEN, NEVER_STARTED, NO_INPUT],
        "d-output": [FAIL_OPEN, NEVER_STARTED],
    },
    "drops-stdin": {"c-input": [NO_INPUT]},
    "loses-the-final-newline": {"b-allowance": ["stdout lost its final newline"]},
    "keeps-the-last-answer": {
        "a-denial": [FAIL_OPEN],
        "b-allowance": ["stdout is lost as a whole"],
        "c-input": [FAIL_OPEN],
        "d-output": [FAIL_OPEN],
    },
    "leaves-a-process": {
        "a-denial": [OTHER_CODE],
        "b-allowance": [FAIL_CLOSED, "stdout is lost as a whole"],
        "c-input": [NO_INPUT],
        "d-output": [OTHER_CODE],
    },
}
"""What each miniature that keeps to the protocol is caught at; every fixture that is not named passes.

What fails is run again by a new one, so of an answer that comes too late the first is seen each time.
"""

BROKEN = {
    "says-nothing": "it has not answered within ",
    "speaks-another-version": "its hello has 2 for 'protocol', but the number 1, which is this version of the protocol",
    "claims-nonsense": "its hello has the unknown key 'capabilities.telepathy'",
    "dies": "it ended: exited(1); it said last: out of memory",
    "hangs": "it has not answered within ",
    "reads-nothing": "it has not answered within ",
    "answers-garbage": "its reply is no JSON: 'Exit code: 7 ✅'",
    "answers-a-list": "its reply is no JSON object",
    "forgets-the-status": "its reply lacks the key 'status'",
    "derives-the-status": "its reply has ",
    "sends-text": "its reply has \"first line\\n\" for 'stdout', but bytes in base64 is expected",
    "mistakes-the-request": "it answered request 'another', but '1' was asked",
    "answers-twice": "it answered twice: ",
    "talks-unasked": "it wrote a line that was not asked for: 'done'",
    "writes-without-end": "it wrote more than 67108864 bytes without an end",
    "tells-an-unnamed-status": "it tells the status 'signalled', which its hello does not name",
    "sends-stderr-it-merges": "it sends stderr, which its hello calls merged",
    "decides-unasked": "it sends a decision, which its hello does not announce",
}
"""What is said of each miniature that does not keep to the protocol."""

SILENT = ("says-nothing", "hangs", "reads-nothing")


def route(miniature: str) -> str:
    program = json.dumps(["{{python}}", "-B", str(MINIATURES / f"{miniature}.py")])
    return f'[[route]]\nid = "{miniature}"\nkind = "adapter"\ndialects = ["sh"]\nargv = {program}\nsource = "{URL}"\n'


def results_of(
    miniature: str, folder: Path, fixtures: Sequence[str] = STARTED, more: str = "", time_scale: float = 1.0
) -> dict[str, Result]:
    """Run `fixtures` on the route of `miniature`, of which the matrix says `more`."""
    catalog = session_catalog(folder, route(miniature) + more, *fixtures)
    with ExitStack() as stack:
        runner, _ = stack.enter_context(local_runner())
        engine = stack.enter_context(open_engine(catalog, runner, time_scale))
        return {case.fixture.id.removeprefix("t/"): engine.execute(case) for case in catalog.cases()}


def scale(miniature: str) -> float:
    """Let one that never answers have little time, and all others enough for a slow machine."""
    return 0.01 if miniature in SILENT else 1.0


def test_every_miniature_is_put_to_the_test() -> None:
    assert set(PROGRAMS) == {*FAILED, *BROKEN, "ends-in-its-third-answer", "fails", "is-unavailable"}
    for name in PROGRAMS:
        assert (MINIATURES / f"{name}.py").read_text().startswith("# ")


@pytest.mark.parametrize("miniature", FAILED)
def test_what_it_loses_is_caught_by_name(miniature: str, tmp_path: Path) -> None:
    results = results_of(miniature, tmp_path)
    found = {
        name: [discrepancy.meaning for discrepancy in result.discrepancies]
        for name, result in results.items()
        if result.kind is not ResultKind.PASS
    }
    assert found == FAILED[miniature]
    assert all(result.kind in (ResultKind.PASS, ResultKind.FAIL) for result in results.values())


@pytest.mark.parametrize("miniature", BROKEN)
def test_what_is_no_answer_is_an_error_with_its_reason(miniature: str, tmp_path: Path) -> None:
    result = results_of(miniature, tmp_path, STARTED[:1], time_scale=scale(miniature))["a-denial"]
    assert result.kind is ResultKind.ERROR
    assert result.reason.startswith(f"the adapter is broken: {BROKEN[miniature]}")
    assert result.status is None


@pytest.mark.parametrize("miniature", BROKEN)
def test_an_error_never_satisfies_a_deviation(miniature: str, tmp_path: Path) -> None:
    documented = '\n[[deviation]]\nroutes = ["*"]\nfixtures = ["*"]\nreason = "r"\nurl = "https://example.org/"\n'
    for pattern in ("not_reported = true", 'exit = 0\nobserved.started = "no"', 'stdout = "anything"'):
        result = results_of(
            miniature, tmp_path, STARTED[:1], f"{documented}observed.{pattern}\n", time_scale=scale(miniature)
        )
        assert result["a-denial"].kind is ResultKind.ERROR


def test_one_that_breaks_is_started_anew_for_the_next_case_but_not_for_ever(tmp_path: Path) -> None:
    results = results_of(
        "ends-in-its-third-answer", tmp_path, [fixture(f"n{n}", step("{{native:7}}", 7)) for n in range(9)]
    )
    assert [result.kind for result in results.values()] == [ResultKind.PASS, ResultKind.PASS, ResultKind.ERROR] * 3
    assert "it ended in the middle of a line, '{\"id\": ': exited(7)" in results["n2"].reason
    broken = list(results_of("dies", tmp_path, [fixture(f"n{n}", step("{{native:7}}", 7)) for n in range(9)]).values())
    once, given_up = {result.reason for result in broken[:4]}, {result.reason for result in broken[4:]}
    assert once == {"the adapter is broken: it ended: exited(1); it said last: out of memory"}
    assert given_up == {f"broke 4 times and is not started again: {next(iter(once))}"}
    assert {result.kind for result in broken} == {ResultKind.ERROR}


def test_one_that_says_that_it_failed_is_asked_again(tmp_path: Path) -> None:
    results = results_of("fails", tmp_path, [fixture(f"n{n}", step("{{native:7}}", 7)) for n in range(9)])
    assert {(result.kind, result.reason) for result in results.values()} == {
        (
            ResultKind.ERROR,
            "miniature could not be driven, as its adapter says: the socket is closed: start the daemon",
        )
    }


def test_one_whose_system_is_not_there_is_unavailable(tmp_path: Path) -> None:
    results = results_of("is-unavailable", tmp_path)
    assert {result.kind for result in results.values()} == {ResultKind.UNAVAILABLE}
    assert results["a-denial"].reason == (
        "miniature is not there, as its adapter says: install it with `apt install miniature`"
    )


def test_what_a_body_left_behind_is_listed_and_killed(tmp_path: Path) -> None:
    result = results_of("leaves-a-process", tmp_path)["a-denial"]
    assert result.observation is not None
    (leftover,) = result.observation.steps[0].leftovers
    assert "sleep 3600" in leftover.command
    assert not Path(f"/proc/{leftover.pid}").exists()
