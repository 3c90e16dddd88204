"""Busy processes: there while they are wanted, gone afterwards, and gone with the process that wanted them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from conftest import ROOT, command_environment

from conformance.errors import HarnessError
from conformance.load import busy_processes


def test_they_are_there_within_and_gone_afterwards() -> None:
    before = set(psutil.Process().children())
    with busy_processes(2):
        busy = [process for process in psutil.Process().children() if process not in before]
        assert len(busy) == 2
    assert not [process for process in busy if process.is_running()]


def test_they_are_gone_after_an_error() -> None:
    before = set(psutil.Process().children())
    busy: list[psutil.Process] = []

    def fail() -> None:
        with busy_processes(1):
            busy.extend(process for process in psutil.Process().children() if process not in before)
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert len(busy) == 1
    assert not busy[0].is_running()


PARENT = """
import psutil, sys
from conformance.load import busy_processes
with busy_processes(1):
    print(psutil.Process().children()[0].pid, flush=True)
    sys.stdin.read()
"""


def test_they_end_with_a_process_that_is_killed() -> None:
    command = [sys.executable, "-c", PARENT]
    environment = command_environment()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT) as parent:
        assert parent.stdout is not None
        busy = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        parent.wait()
        _, left = psutil.wait_procs([busy], timeout=60)
    for process in left:
        process.kill()
    assert left == []


@pytest.mark.parametrize("program", ["/nonexistent/python", "/bin/true"])
@pytest.mark.skipif(not Path("/bin/true").exists(), reason="needs a program that ends at once")
def test_a_process_that_cannot_be_busy_is_one_sentence(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(HarnessError, match=r"busy process .*Close other programs\.$"), busy_processes(1):
        pass
