"""Proof that the harness can fail sessions: tiny ones that are always wrong in one way, each caught by name.

They are the programs in `tests/miniatures/sessions`; each says in its first line what it does wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from session_catalog import URL, session_catalog

from conformance.campaign import local_runner
from conformance.engine import open_engine
from conformance.observation import Result, ResultKind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX sessions")

MINIATURES = Path(__file__).parent / "miniatures" / "sessions"
PROGRAMS = sorted(path.stem for path in MINIATURES.glob("*.py") if path.stem != "serving")

SEEN = 'seen = ["bash 5.2.15 linux", "dash 0.5.12 linux"]'
EXPECT = f'[[fixture.step.expect]]\nreason = "r"\n{SEEN}\n'


def fixture(name: str, *steps: str) -> str:
    head = f'[[fixture]]\nid = "{name}"\nsummary = "s"\nsource = "{URL}"\n'
    return head + "".join(f"[[fixture.step]]\n{step}\n" for step in steps)


def ends(body: str, code: int, *more: str, sent: str = "") -> str:
    """Return a step that exits `code`; `more` is expected of it, and `sent` on its input."""
    keys = "\n".join((f"exit = {code}", *more))
    return f"body.sh = {json.dumps(body)}\n{sent}\n{EXPECT}{keys}"


FIXTURES = (
    fixture("codes", ends("{{native:7}}", 7), ends("{{mark}}", 0), ends("{{native:42}}", 42), ends("{{native:2}}", 2)),
    fixture("same-twice", ends("{{native:7}}", 7), ends("{{native:7}}", 7)),
    fixture(
        "outputs",
        ends("{{mark}}\necho first", 0, 'stdout = "first\\n"'),
        ends("{{mark}}\necho second; exit 2", 2, 'stdout = "second\\n"'),
    ),
    fixture(
        "inputs",
        ends("{{mark}}\nhead -c 5 >/dev/null", 0, sent='stdin = "half and the rest"'),
        ends("{{witness}} read exit 7", 7, 'received = "all"', sent='stdin = "another"'),
    ),
    fixture(
        "broken-text",
        ends("{{native:7}}", 7),
        'body.sh = "{{mark}}\\nif"\n' + EXPECT + "exit = 2\nstderr = { any = true }",
    ),
)
NAMES = ("codes", "same-twice", "outputs", "inputs", "broken-text")

FAIL_OPEN = "the failure is reported as success, so a hook that denies lets the tool run"
FAIL_CLOSED = "the success is reported as a failure, so a hook that allows is taken for a broken or a denying one"
OTHER_CODE = "the caller sees another code than the hook's own"
UNTOLD = "nobody tells the caller how the hook ended, and one that takes that for success lets the tool run"
NO_INPUT = "the hook did not get the standard input that it was sent"
NEVER_STARTED = "the hook never started, so its exit code says nothing of it"
HUNG = "the route hung and was killed with its whole tree at its deadline"

Found = dict[str, list[tuple[str, str]]]
"""Fixture -> the subjects and meanings of what differs, step by step."""

CAUGHT: dict[str, Found] = {
    "faithful": {},
    "stale-code": {
        "codes": [
            ("status", FAIL_OPEN), ("status", FAIL_CLOSED), ("status", FAIL_OPEN), ("status", OTHER_CODE),
        ],
        "same-twice": [("status", FAIL_OPEN)],
        "outputs": [("status", FAIL_OPEN)],
        "inputs": [("status", FAIL_OPEN)],
        "broken-text": [("status", FAIL_OPEN), ("status", OTHER_CODE)],
    },
    "runs-the-last-body": {"broken-text": [("status", OTHER_CODE), ("started", NEVER_STARTED)]},
    "loses-final-newline": {
        "outputs": [("stdout", "stdout lost its final newline")] * 2,
    },
    "answers-another": {name: [("status", UNTOLD)] * (2 if name == "codes" else 1) for name in NAMES},
    "dies-on-the-third": {"codes": [("status", UNTOLD), ("started", NEVER_STARTED)]},
    "leaks-stdin": {"inputs": [("stdin", NO_INPUT)]},
    "mixes-outputs": {
        "outputs": [("stdout", "stdout is lost as a whole"), ("stdout", "stdout was changed on the way")],
    },
    "garbles": {name: [("status", UNTOLD)] * (4 if name == "codes" else 2) for name in NAMES},
}  # fmt: skip
"""What each miniature is caught at; every fixture that is not named passes."""


def route(miniature: str) -> str:
    program = json.dumps([sys.executable, "-B", "-S", str(MINIATURES / f"{miniature}.py")])
    return f'[[route]]\nid = "{miniature}"\nkind = "session"\ndialects = ["sh"]\nargv = {program}\nsource = "{URL}"\n'


def results_of(miniature: str, folder: Path, fixtures: Sequence[str], time_scale: float = 1.0) -> dict[str, Result]:
    """Run `fixtures` on the route of `miniature`."""
    catalog = session_catalog(folder, route(miniature), *fixtures)
    with ExitStack() as stack:
        runner, _ = stack.enter_context(local_runner())
        engine = stack.enter_context(open_engine(catalog, runner, time_scale))
        return {case.fixture.id.removeprefix("t/"): engine.execute(case) for case in catalog.cases()}


def found_in(results: dict[str, Result]) -> Found:
    return {
        name: [(found.subject, found.meaning) for found in result.discrepancies]
        for name, result in results.items()
        if result.kind is not ResultKind.PASS
    }


def test_every_miniature_is_put_to_the_test() -> None:
    assert set(PROGRAMS) == CAUGHT.keys() | {"never-opens", "never-ends"}
    for name in PROGRAMS:
        assert (MINIATURES / f"{name}.py").read_text().startswith("# ")


@pytest.mark.parametrize("miniature", CAUGHT)
def test_caught_by_name_and_by_what_it_means(miniature: str, tmp_path: Path) -> None:
    results = results_of(miniature, tmp_path, FIXTURES)
    assert found_in(results) == CAUGHT[miniature]
    for result in results.values():
        assert result.kind in (ResultKind.PASS, ResultKind.FAIL)
        assert all(found.statement in result.reason for found in result.discrepancies)


def test_the_reason_names_the_step_and_says_what_came(tmp_path: Path) -> None:
    result = results_of("stale-code", tmp_path, FIXTURES)["same-twice"]
    assert result.reason.startswith(f"Step 1 of 2: expected exited(7), came exited(0): {FAIL_OPEN}.\n")


def test_the_last_words_of_a_session_are_told(tmp_path: Path) -> None:
    result = results_of("dies-on-the-third", tmp_path, FIXTURES)["codes"]
    assert result.reason.startswith(
        "Step 3 of 4: expected exited(42), came not_reported(the session ended, exited(3), before it began the body; "
        f"it said: out of memory): {UNTOLD}.\n"
    )


def test_one_that_never_opens_is_told_at_the_deadline_and_for_each_body(tmp_path: Path) -> None:
    results = results_of("never-opens", tmp_path, FIXTURES[1:2], time_scale=0.001)
    assert found_in(results) == {"same-twice": [("status", UNTOLD), ("started", NEVER_STARTED)] * 2}
    assert "not_reported(the session had not begun the body at the deadline)" in results["same-twice"].reason


def test_one_that_never_ends_hangs(tmp_path: Path) -> None:
    hanging = FIXTURES[1].replace("\nsummary", "\ndeadline = 0.01\nsummary", 1)
    assert found_in(results_of("never-ends", tmp_path, [hanging])) == {"same-twice": [("status", HUNG)] * 2}
