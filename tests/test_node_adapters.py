"""What the adapters in Node.js have in common, and how they read what their systems say, without any package."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance.model import Seconds
from conformance.payload import Literal
from conformance.process import Answer
from conformance.routes.capabilities import Capabilities
from conformance.routes.messages import AdapterFailureError, Hello, Request, read_hello, read_reply
from conformance.status import Exited, NotReported

ADAPTERS = Path(__file__).parents[1] / "adapters"
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

RESET = "\nThe persistent bash shell was reset; the next bash call starts from the workspace with a fresh directory."
TIMED_OUT = "Your command timed out after 6 seconds or experienced an OOM error. Below is partial output:\n"


def run_module(text: str, folder: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    module = folder / "module.mjs"
    module.write_text(text, encoding="utf-8")
    return subprocess.run([str(NODE), str(module)], input=given, capture_output=True, check=True)


def conversation(perform: str, bodies: list[str], folder: Path) -> tuple[Hello, list[Answer | str], bytes]:
    """Return the hello, the answers or failures for `bodies`, and the messages of an adapter that does `perform`."""
    requests = [
        Request(str(number), "1", "sh", body, Literal(b"\0\xff"), "/", {}, Seconds(1))
        for number, body in enumerate(bodies)
    ]
    module = f"""
import {{ exited, notReported, serve }} from {json.dumps((ADAPTERS / "protocol.mjs").as_uri())}
console.log('printed at the start')
const capabilities = {{ stdin: 'bytes', output: 'bytes', stderr: 'separate' }}
await serve({{ name: 'it', version: '1.0', capabilities }}, {perform})
"""
    completed = run_module(module, folder, b"".join(request.line() for request in requests))
    greeting, *replies = completed.stdout.splitlines(keepends=True)
    hello = read_hello(greeting)
    assert isinstance(hello, Hello)
    return hello, [told(*pair, hello.capabilities) for pair in zip(replies, requests, strict=True)], completed.stderr


def told(reply: bytes, request: Request, capabilities: Capabilities) -> Answer | str:
    try:
        return read_reply(reply, request, capabilities)
    except AdapterFailureError as error:
        return str(error)


def test_bytes_go_both_ways_and_a_text_is_sent_as_utf_8(tmp_path: Path) -> None:
    perform = "({ body, stdin }) => ({ status: exited(-1), stdout: stdin, stderr: body })"
    separators = "\u2028 \u2029 \x85 \x0b é"
    hello, (answer,), _ = conversation(perform, [separators], tmp_path)
    assert (hello.name, hello.version) == ("it", "1.0")
    assert isinstance(answer, Answer)
    assert (answer.status, answer.stdout, answer.stderr) == (Exited(0xFFFFFFFF), b"\0\xff", separators.encode())


def test_what_a_package_prints_is_no_part_of_the_protocol(tmp_path: Path) -> None:
    perform = "() => { process.stdout.write('noise\\n'); console.log('more'); return { status: exited(7) } }"
    _, answers, messages = conversation(perform, ["one", "two"], tmp_path)
    assert [answer.status for answer in answers if isinstance(answer, Answer)] == [Exited(7), Exited(7)]
    assert messages.split(b"\n")[:3] == [b"printed at the start", b"noise", b"more"]


@pytest.mark.parametrize(
    "failing",
    [
        "throw new Error('broken')",
        "Promise.reject(new Error('broken')); return new Promise(() => {})",
        "setImmediate(() => { throw new Error('broken') }); return new Promise(() => {})",
    ],
    ids=["thrown", "lost in a promise", "thrown in a callback"],
)
def test_an_error_is_told_in_its_own_reply_and_the_adapter_goes_on(failing: str, tmp_path: Path) -> None:
    perform = f"({{ body }}) => {{ if (body === 'fail') {{ {failing} }} return {{ status: notReported(body) }} }}"
    _, answers, _ = conversation(perform, ["before", "fail", "after"], tmp_path)
    assert answers[1] == "Error: broken"
    assert [answer.status for answer in answers if isinstance(answer, Answer)] == [
        NotReported("before"),
        NotReported("after"),
    ]


@pytest.mark.parametrize(
    ("text", "status", "stdout"),
    [
        ("", {"kind": "exited", "code": 0}, ""),
        ("deny\n", {"kind": "exited", "code": 0}, "deny\n"),
        ("[exit code: 7]", {"kind": "exited", "code": 7}, ""),
        ("deny\n[exit code: 255]", {"kind": "exited", "code": 255}, "deny"),
        ("deny [exit code: 7]", {"kind": "exited", "code": 0}, "deny [exit code: 7]"),
        ("[exit code: 7]\ndeny", {"kind": "exited", "code": 0}, "[exit code: 7]\ndeny"),
        ("[shell exited: code 7]", {"kind": "exited", "code": 0}, "[shell exited: code 7]"),
        ("exit\n[shell exited: code 7]" + RESET, {"kind": "exited", "code": 7}, "exit"),
        ("[shell killed by signal: SIGKILL]" + RESET, {"kind": "signalled", "number": 9}, ""),
        (TIMED_OUT + "par\ntial" + RESET, {"kind": "timed_out"}, "par\ntial"),
    ],
)
def test_the_status_that_a_persistent_tool_tells_in_its_text(
    text: str, status: dict[str, Any], stdout: str, tmp_path: Path
) -> None:
    module = f"""
import {{ outcomeOf }} from {json.dumps((ADAPTERS / "dsh-answers.mjs").as_uri())}
process.stderr.write(JSON.stringify(outcomeOf({json.dumps(text)})))
"""
    assert json.loads(run_module(module, tmp_path).stderr) == {"status": status, "stdout": stdout}


def test_a_shell_that_is_gone_without_a_word_has_no_status(tmp_path: Path) -> None:
    module = f"""
import {{ outcomeOf }} from {json.dumps((ADAPTERS / "dsh-answers.mjs").as_uri())}
process.stderr.write(JSON.stringify(outcomeOf({json.dumps("[shell exited]" + RESET)})))
"""
    assert json.loads(run_module(module, tmp_path).stderr)["status"]["kind"] == "not_reported"
