"""The adapters of the launch libraries, driven by hand where nothing has to be installed for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.model import Seconds
from conformance.payload import Literal
from conformance.process import Answer
from conformance.routes.messages import Absence, AdapterFailureError, Hello, Request, read_hello, read_reply
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bodies are written for POSIX shells")

ADAPTERS = Path(__file__).parents[1] / "adapters"
SHELL = shutil.which("sh") or "/bin/sh"
PYTHON = [sys.executable, str(ADAPTERS / "launchers.py")]
NODE = [shutil.which("node") or "node", str(ADAPTERS / "launchers.mjs")]
NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

PYTHON_MODES = ("python-run", "python-shell", "python-text", "python-communicate", "python-asyncio")
NODE_MODES = ("node-spawn", "node-spawn-shell", "node-spawn-sync", "node-exec")
MODES = [
    *(pytest.param([*PYTHON, mode, SHELL], id=mode) for mode in PYTHON_MODES),
    *(pytest.param([*NODE, mode, SHELL], id=mode, marks=NEEDS_NODE) for mode in NODE_MODES),
]
ONE_OF_EACH = [
    pytest.param([*PYTHON, "python-run", SHELL], id="python"),
    pytest.param([*NODE, "node-spawn", SHELL], id="node", marks=NEEDS_NODE),
]


class Adapter:
    """A running adapter, whose lines are held to the schema."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self._replies, self._requests = process.stdout, process.stdin
        self._directory = directory
        hello = read_hello(self._replies.readline())
        assert isinstance(hello, Hello)
        self.hello = hello

    def ask(self, body: str, *, stdin: bytes = b"", seconds: float = 60, cwd: Path | None = None) -> Answer:
        environment = {"PATH": os.environ["PATH"], "ONLY": "this"}
        request = Request(
            "1", "1", "sh", body, Literal(stdin), str(cwd or self._directory), environment, Seconds(seconds)
        )
        self._requests.write(request.line())
        self._requests.flush()
        return read_reply(self._replies.readline(), request, self.hello.capabilities)


@contextmanager
def started(argv: list[str], directory: Path) -> Iterator[Adapter]:
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield Adapter(process, directory)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize("argv", MODES)
def test_what_the_library_is_given_reaches_the_body_and_what_comes_of_it_is_told(
    argv: list[str], tmp_path: Path
) -> None:
    with started(argv, tmp_path) as adapter:
        told = adapter.ask('cat; echo "$ONLY,${HOME-unset}" >&2; pwd; exit 7', stdin=b"a\nb")
        assert (told.status, told.stderr) == (Exited(7), b"this,unset\n")
        assert told.stdout == f"a\nb{tmp_path.resolve()}\n".encode()
        assert adapter.ask("kill -9 $$").status == Signalled(9)
        assert adapter.ask("exec sleep 60", seconds=0.2).status == TimedOut()
        assert adapter.ask("exit 2").status == Exited(2)


@pytest.mark.parametrize("argv", ONE_OF_EACH)
def test_a_shell_that_cannot_be_started_is_told_as_that(argv: list[str], tmp_path: Path) -> None:
    with started(argv, tmp_path) as adapter:
        refused = adapter.ask("exit 7", cwd=tmp_path / "missing").status
        assert isinstance(refused, FailedToStart)
        assert refused.errno == 2
        assert adapter.ask("exit 7").status == Exited(7)


STATUSES_OF_LOSSES: list[tuple[str, str, type[ExitStatus], bytes]] = [
    ("python-text", r"printf '\377'", NotReported, b""),
    ("python-text", r"printf 'a\r\nb\r'", Exited, b"a\nb\n"),
    ("node-exec", r"printf '\377'", Exited, "\ufffd".encode()),
]


@pytest.mark.parametrize(("mode", "body", "kind", "stdout"), STATUSES_OF_LOSSES)
def test_what_a_library_loses_is_not_made_up_for(
    mode: str, body: str, kind: type[ExitStatus], stdout: bytes, tmp_path: Path
) -> None:
    if mode in NODE_MODES and shutil.which("node") is None:
        pytest.skip("node is not installed")
    with started([*(NODE if mode in NODE_MODES else PYTHON), mode, SHELL], tmp_path) as adapter:
        told = adapter.ask(body)
        assert isinstance(told.status, kind)
        assert told.stdout == stdout


@NEEDS_NODE
@pytest.mark.parametrize("mode", ["node-exec", "node-spawn-sync"])
def test_a_hook_that_is_killed_for_its_output_has_no_code(mode: str, tmp_path: Path) -> None:
    with started([*NODE, mode, SHELL], tmp_path) as adapter:
        told = adapter.ask("printf '%02000000d' 0; exit 7")
        assert isinstance(told.status, NotReported)
        assert 0 < len(told.stdout) < 2_000_000


def test_pexpect_is_missed_in_a_sentence(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", MISSED.format(adapters=str(ADAPTERS))]
    finished = subprocess.run(argv, capture_output=True, check=True, cwd=tmp_path)
    hello = read_hello(finished.stdout.removesuffix(b"\n"))
    assert isinstance(hello, Absence)
    assert "pip install pexpect" in hello.reason


MISSED = """
import sys
sys.path.insert(0, {adapters!r})
sys.modules["pexpect"] = None
import launchers
launchers.main("pexpect", "/bin/sh")
"""


def test_an_adapter_that_fails_says_so_and_goes_on(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", FAILING.format(adapters=str(ADAPTERS))]
    with started(argv, tmp_path) as adapter:
        with pytest.raises(AdapterFailureError, match="RuntimeError: the daemon is gone"):
            adapter.ask("fail")
        assert adapter.ask("print").status == Exited(7)


FAILING = """
import sys
sys.path.insert(0, {adapters!r})
import protocol

def perform(request):
    if request.body == "fail":
        raise RuntimeError("the daemon is gone")
    print("a library prints", flush=True)
    return protocol.Outcome(protocol.exited(7))

protocol.serve("x", "1", {{"stderr": "separate"}}, perform)
"""
