"""`conformance adapter check`: what is wrong with an adapter is named, and what its system loses is not its fault."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from adapter_world import ASKED, HEAD
from conftest import call_cli, run_cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the adapters run bodies of POSIX shells")

PARTS = (
    "hello", "codes", "output", "large-output", "binary-output", "stderr", "env", "cwd", "stdin", "signalled",
    "timed-out", "session", "end",
)  # fmt: skip


def check(program: Path, *options: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Check the adapter `program`, and return the exit code and the findings by id."""
    finished = call_cli("adapter", "check", "--json", *options, sys.executable, "-B", program)
    whole: dict[str, Any] = json.loads(finished.out)
    assert whole["exit_code"] == finished.code
    return finished.code, {finding["id"]: finding for finding in whole["findings"]}


def check_program(text: str, folder: Path, *options: str) -> tuple[int, dict[str, dict[str, str]]]:
    (folder / "adapter.py").write_text(HEAD + text)
    return check(folder / "adapter.py", *options)


def states(findings: dict[str, dict[str, str]]) -> dict[str, str]:
    return {id_: finding["state"] for id_, finding in findings.items() if finding["state"] != "ok"}


def test_one_that_keeps_to_the_protocol() -> None:
    code, findings = check(ASKED / "keeps-to-it.py")
    assert (code, states(findings), tuple(findings)) == (0, {}, PARTS)


def test_noise_is_no_fault() -> None:
    assert check(ASKED / "makes-noise.py")[0] == 0


BROKEN = {
    "speaks-another-version": ("hello", "its hello has 2 for 'protocol'"),
    "claims-nonsense": ("hello", "its hello has the unknown key 'capabilities.telepathy'"),
    "dies": ("codes", "it ended: exited(1); it said last: out of memory"),
    "answers-garbage": ("codes", "its reply is no JSON"),
    "answers-a-list": ("codes", "its reply is no JSON object"),
    "forgets-the-status": ("codes", "its reply lacks the key 'status'"),
    "derives-the-status": ("codes", "its reply has "),
    "sends-text": ("codes", "has \"first line\\n\" for 'stdout'"),
    "mistakes-the-request": ("codes", "it answered request 'another'"),
    "answers-twice": ("codes", "it answered twice"),
    "talks-unasked": ("codes", "it wrote a line that was not asked for: 'done'"),
    "tells-an-unnamed-status": ("codes", "it tells the status 'signalled', which its hello does not name"),
    "sends-stderr-it-merges": ("codes", "it sends stderr, which its hello calls merged"),
    "decides-unasked": ("codes", "it sends a decision, which its hello does not announce"),
    "fails": ("codes", "it says that it failed: the socket is closed: start the daemon"),
}


@pytest.mark.parametrize("miniature", BROKEN)
def test_one_that_breaks_the_protocol_is_told_how(miniature: str) -> None:
    part, told = BROKEN[miniature]
    code, findings = check(ASKED / f"{miniature}.py")
    assert code == 1
    assert findings[part]["state"] == "broken"
    assert told in findings[part]["found"]
    assert findings[part]["mend"]


def test_one_that_breaks_again_and_again_is_given_up() -> None:
    _, findings = check(ASKED / "dies.py")
    assert [finding["state"] for finding in findings.values()] == ["ok"] + ["broken"] * 4 + ["not-tried"] * 8


@pytest.mark.parametrize("miniature", ["says-nothing", "hangs", "reads-nothing"])
def test_one_that_never_answers_is_told_at_its_deadline(miniature: str) -> None:
    code, findings = check(ASKED / f"{miniature}.py", "--timeout-scale", "0.1")
    broken = findings["hello" if miniature == "says-nothing" else "codes"]
    assert (code, broken["state"]) == (1, "broken")
    assert "it has not answered within" in broken["found"]
    assert {finding["state"] for finding in findings.values() if finding is not broken} <= {"ok", "not-tried"}


LIES = {
    "stdin": "Adapter.reply = lambda self, request, reply=Adapter.reply: reply(self, {**request, 'stdin': ''})",
    "stderr": """
def merged(self, request, reply=Adapter.reply):
    body = f"exec 2>&1; {request['body']}"
    return reply(self, {**request, "body": body})
Adapter.reply = merged""",
    "env": "Adapter.reply = lambda self, r, reply=Adapter.reply: reply(self, {**r, 'env': dict(os.environ)})",
    "codes": """
def derived(self, request, reply=Adapter.reply):
    told = reply(self, request)
    code = told["status"].get("code")
    return {**told, "status": {"kind": "signalled", "number": code - 128}} if code == 137 else told
Adapter.reply = derived""",
    "decision": "CAPABILITIES['decision'] = True",
    "cwd": "Adapter.reply = lambda self, request, reply=Adapter.reply: reply(self, {**request, 'cwd': '/'})",
    "session": "CAPABILITIES['session'] = 'kept'",
    "end": "Adapter.serve = lambda self, serve=Adapter.serve: (serve(self), time.sleep(3600))",
}


@pytest.mark.parametrize("claim", LIES)
def test_a_claim_that_does_not_hold_is_wrong(claim: str, tmp_path: Path) -> None:
    code, findings = check_program(f"{LIES[claim]}\nAdapter().serve()", tmp_path, "--timeout-scale", "0.2")
    assert (code, states(findings)) == (1, {claim: "broken"})
    assert findings[claim]["mend"]


LOSSES = {
    "codes": "Adapter.loses = lambda self, reply: {**reply, 'status': {'kind': 'exited', 'code': 1}}",
    "output": "Adapter.loses = lambda self, reply: {**reply, 'stdout': ''}",
}


@pytest.mark.parametrize("part", LOSSES)
def test_what_the_system_loses_is_no_fault_of_the_adapter(part: str, tmp_path: Path) -> None:
    losing = "Adapter.reply = lambda self, request, reply=Adapter.reply: self.loses(reply(self, request))"
    program = f"{LOSSES[part]}\n{losing}\nAdapter(capabilities={{'output': 'bytes', 'stderr': 'separate'}}).serve()"
    code, findings = check_program(program, tmp_path)
    assert findings[part]["state"] == "loses"
    assert findings["hello"]["state"] == "ok"
    if part == "codes":
        assert (code, states(findings)) == (0, {"codes": "loses", "env": "warning", "cwd": "warning"})
        assert findings["codes"]["found"].startswith("`exit 0` was told as exited(1); `exit 7` was told as exited(1)")


def test_what_works_and_is_not_claimed_is_a_hint(tmp_path: Path) -> None:
    code, findings = check_program("Adapter(capabilities={}).serve()", tmp_path)
    assert (code, states(findings)) == (
        1,
        {"binary-output": "warning", "stderr": "broken", "env": "warning", "cwd": "warning"},
    )
    assert findings["env"]["mend"] == "Say env = true, or its cases are skipped"


def test_variables_of_the_adapter_are_none_of_the_bodys(tmp_path: Path) -> None:
    environment = "{**os.environ, **r['env']}"
    inheriting = f"Adapter.reply = lambda self, r, reply=Adapter.reply: reply(self, {{**r, 'env': {environment}}})"
    code, findings = check_program(f"{inheriting}\nAdapter().serve()", tmp_path)
    assert (code, states(findings)) == (1, {"env": "broken"})
    assert findings["env"]["found"] == "a body gets variables of the adapter's own as well"


def test_one_whose_system_is_not_there_is_broken_for_a_run() -> None:
    finished = call_cli("adapter", "check", sys.executable, "-B", ASKED / "is-unavailable.py")
    assert (finished.code, finished.out) == (3, "")
    assert finished.err == (
        "conformance: miniature is not there, as its adapter says: install it with `apt install miniature`\n"
    )


def test_a_program_that_cannot_be_started_is_one_sentence() -> None:
    finished = call_cli("adapter", "check", "./no-such-program")
    assert (finished.code, finished.out) == (3, "")
    assert finished.err == (
        "conformance: ./no-such-program cannot be started: No such file or directory. Correct the command.\n"
    )


def test_the_program_is_named_from_where_the_user_is(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + "Adapter().serve()")
    finished = run_cli("adapter", "check", "--dialect", "sh", "--", sys.executable, "mine.py", cwd=tmp_path)
    assert (finished.code, finished.err) == (0, "")
    assert finished.out.startswith("ok        hello: miniature 1, with stdin bytes, ")
    assert finished.out.endswith("\nThis adapter keeps to the protocol.\n")
