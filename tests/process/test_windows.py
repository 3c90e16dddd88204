"""What can be said of launching on Windows without one: layouts, command lines, errors, and the threads' worst case."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from conformance.model import Seconds
from conformance.payload import EMPTY
from conformance.process import threaded
from conformance.process.job_object import BasicLimits, ExtendedLimits, JobObject, process_id_list
from conformance.process.launch import TOKEN_VARIABLE, Cancellation, Launch
from conformance.process.threaded import run_in_job
from conformance.process.windows import (
    CONSOLE_HOST,
    WindowsJob,
    command_line,
    failed_to_start,
    found_program,
    windows_environment,
)
from conformance.status import Exited, FailedToStart
from conformance.witness import Witness

posix = pytest.mark.skipif(sys.platform == "win32", reason="runs /bin/sh")
wide = pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the layouts are those of 64 bits")

# The structures: sizes and offsets as the mingw-w64 headers (winnt.h) have them for x86-64.


@wide
@pytest.mark.parametrize(
    ("structure", "size", "offsets"),
    [
        (BasicLimits, 64, (0, 8, 16, 24, 32, 40, 48, 56, 60)),
        (ExtendedLimits, 144, (0, 64, 112, 120, 128, 136)),
        (type(process_id_list(1)), 16, (0, 4, 8)),
        (type(process_id_list(32)), 264, (0, 4, 8)),
    ],
)
def test_structures_have_the_layout_of_windows(
    structure: type[ctypes.Structure], size: int, offsets: tuple[int, ...]
) -> None:
    assert ctypes.sizeof(structure) == size
    assert tuple(getattr(structure, field[0]).offset for field in structure._fields_) == offsets


# The job object, on a stand-in for Windows.


class FakeKernel32:
    """A Windows with one job; `refused` names the functions that fail."""

    JOB, PROCESS = 0x1_0000_0004, 0x1_0000_0008
    """Handles that do not fit 32 bits."""

    def __init__(self, pids: tuple[int, ...] = (), refused: tuple[str, ...] = ()) -> None:
        self.running = pids
        self.refused = refused
        self.calls: list[tuple[Any, ...]] = []
        self.open_handles: list[int] = []

    def _opened(self, name: str, handle: int) -> int | None:
        if name in self.refused:
            return None
        self.open_handles.append(handle)
        return handle

    def _done(self, name: str, *arguments: object) -> int:
        self.calls.append((name, *arguments))
        return int(name not in self.refused)

    def CreateJobObjectW(self, security: None, name: None) -> int | None:  # noqa: N802 - the names are those of Windows
        return self._opened("CreateJobObjectW", self.JOB)

    def OpenProcess(self, access: int, inherit: int, pid: int) -> int | None:  # noqa: N802
        return self._opened("OpenProcess", self.PROCESS)

    def CloseHandle(self, handle: int) -> int:  # noqa: N802
        self.open_handles.remove(handle)
        return 1

    def SetInformationJobObject(self, job: int, kind: int, data: Any, size: int) -> int:  # noqa: N802
        return self._done("SetInformationJobObject", job, kind, data._obj.basic.limit_flags, size)

    def AssignProcessToJobObject(self, job: int, process: int) -> int:  # noqa: N802
        return self._done("AssignProcessToJobObject", job, process)

    def TerminateJobObject(self, job: int, code: int) -> int:  # noqa: N802
        return self._done("TerminateJobObject", job)

    def QueryInformationJobObject(self, job: int, kind: int, data: Any, size: int, _: None) -> int:  # noqa: N802
        found, room = data._obj, (size - 8) // ctypes.sizeof(ctypes.c_size_t)
        found.assigned = len(self.running)
        if len(self.running) > room:
            return 0
        found.listed = len(self.running)
        for index, pid in enumerate(self.running):
            found.pids[index] = pid
        return self._done("QueryInformationJobObject", job, kind)


def test_a_job_kills_on_close_and_gives_all_handles_back() -> None:
    kernel32 = FakeKernel32()
    with closing(JobObject(kernel32)) as job:
        job.assign(4242)
        assert kernel32.open_handles == [kernel32.JOB]
        job.terminate()
    assert kernel32.open_handles == []
    assert kernel32.calls == [
        ("SetInformationJobObject", kernel32.JOB, 9, 0x2000, ctypes.sizeof(ExtendedLimits)),
        ("AssignProcessToJobObject", kernel32.JOB, kernel32.PROCESS),
        ("TerminateJobObject", kernel32.JOB),
    ]


@pytest.mark.parametrize("count", [0, 1, 32, 33, 500])
def test_a_job_lists_all_its_processes_however_many(count: int) -> None:
    pids = tuple(range(1000, 1000 + count))
    assert JobObject(FakeKernel32(pids)).pids() == list(pids)


@pytest.mark.parametrize("function", ["CreateJobObjectW", "SetInformationJobObject"])
def test_a_job_that_cannot_be_made_is_an_error_and_holds_nothing(function: str) -> None:
    kernel32 = FakeKernel32(refused=(function,))
    with pytest.raises(OSError, match="refused"):
        JobObject(kernel32)
    assert kernel32.open_handles == []


@pytest.mark.parametrize("function", ["OpenProcess", "AssignProcessToJobObject"])
def test_a_process_that_cannot_be_taken_in_is_an_error(function: str) -> None:
    kernel32 = FakeKernel32(refused=(function,))
    job = JobObject(kernel32)
    with pytest.raises(OSError, match="refused"):
        job.assign(4242)
    assert kernel32.open_handles == [kernel32.JOB]


@posix
def test_others_are_all_but_the_process_itself_and_the_hosts_of_consoles(tmp_path: Path) -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    host = tmp_path / CONSOLE_HOST
    shutil.copy(sleep, host)
    processes = [subprocess.Popen([program, "3600"]) for program in (sleep, sleep, host)]
    try:
        ended = subprocess.Popen([sleep, "0"])
        ended.wait()
        job = WindowsJob(JobObject(FakeKernel32((*(process.pid for process in processes), ended.pid))))
        assert [other.pid for other in job.others(processes[0])] == [processes[1].pid]
    finally:
        for process in processes:
            process.kill()
            process.wait()


# Command lines, names and errors.


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["pwsh.exe", "-Command", 'Write-Output "a b"'], 'pwsh.exe -Command "Write-Output \\"a b\\""'),
        (
            [r"C:\Windows\System32\cmd.exe", "/d", "/s", "/c", 'echo "a b"& exit 7'],
            r'C:\Windows\System32\cmd.exe /d /s /c "echo "a b"& exit 7"',
        ),
        (["CMD", "/Q", "/C", r"C:\a\body.cmd"], r'CMD /Q /C "C:\a\body.cmd"'),
        ([r"C:\with blanks\cmd.exe", "/c", "exit", "7"], r'"C:\with blanks\cmd.exe" /c "exit 7"'),
        (["cmd.exe", "/k", 'a "b"'], 'cmd.exe /k "a \\"b\\""'),
        (["bash.exe", "/c", 'a "b"'], 'bash.exe /c "a \\"b\\""'),
    ],
)
def test_cmd_gets_its_command_as_it_stands_and_all_others_get_words(argv: list[str], line: str) -> None:
    assert command_line(argv) == line


def test_a_variable_has_one_name_whatever_its_case_and_the_last_value_wins() -> None:
    assert windows_environment({"PATH": "a", "TEMP": "t", "Path": "b"}) == {"PATH": "b", "TEMP": "t"}


@posix
def test_a_program_is_looked_for_on_the_hooks_path(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert found_program("tool", {"PATH": str(tmp_path)}) == str(program)
    assert found_program("tool", {"PATH": "/nonexistent"}) == "tool"


def windows_error(number: int, error: int, text: str) -> OSError:
    """Return what `CreateProcess` raises there: `winerror`, and the errno that Python makes of it."""
    made = OSError(error, text)
    made.winerror = number  # type: ignore[attr-defined, unused-ignore]
    return made


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (
            windows_error(206, errno.ENOENT, "The filename or extension is too long"),
            FailedToStart(errno.E2BIG, "[WinError 206] The filename or extension is too long"),
            "failed_to_start(E2BIG: [WinError 206] The filename or extension is too long)",
        ),
        (
            windows_error(2, errno.ENOENT, "The system cannot find the file specified"),
            FailedToStart(errno.ENOENT, "[WinError 2] The system cannot find the file specified"),
            "failed_to_start(ENOENT: [WinError 2] The system cannot find the file specified)",
        ),
        (
            OSError(errno.EMFILE, "Too many"),
            FailedToStart(errno.EMFILE, "Too many"),
            "failed_to_start(EMFILE: Too many)",
        ),
        (OSError("odd"), FailedToStart(0, "odd"), "failed_to_start(0: odd)"),
    ],
)
def test_a_failure_to_start_keeps_the_number_of_windows(error: OSError, status: FailedToStart, text: str) -> None:
    assert failed_to_start(error) == status
    assert str(failed_to_start(error)) == text


# The threads, where the job does not end the pipes, and what a process returns.


class LeaderJob:
    """A job that holds the first process alone: what that starts is outside of it, as after DuplicateHandle."""

    def __init__(self, returncode: int | None) -> None:
        self._returncode = returncode

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            launch.argv,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=launch.directory,
            env=dict(launch.environment),
            bufsize=0,
        )
        if self._returncode is not None:
            process.wait()
            process.returncode = self._returncode
        return process

    def others(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
        return []

    def kill(self) -> None:
        """Nothing is left of it."""


def leader_launch(folder: Path, body: str) -> Launch:
    environment = {"PATH": os.environ["PATH"], TOKEN_VARIABLE: uuid.uuid4().hex}
    seconds = Seconds(120.0)
    return Launch(("/bin/sh", "-c", body), environment, folder, EMPTY, EMPTY, EMPTY, seconds, seconds)


@posix
def test_a_pipe_that_somebody_outside_holds_open_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threaded, "DRAIN_SECONDS", 0.01)
    launch = leader_launch(tmp_path, "mkfifo go; (read -r _ <go; echo late) & exit 7")
    with closing(Cancellation()) as cancellation:
        job = LeaderJob(None)
        completed = run_in_job(
            replace(launch, linger=Seconds(0.01)), cancellation, lambda: entered(job), failed_to_start
        )
    assert completed.status == Exited(7)
    left_behind = [thread for thread in threading.enumerate() if isinstance(thread, threaded._Reader)]
    assert len(left_behind) == 2
    (tmp_path / "go").write_text("\n")
    for thread in left_behind:
        thread.join(120)
        assert not thread.is_alive(), "it ends when the pipe does"


@posix
def test_what_somebody_outside_writes_in_time_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threaded, "DRAIN_SECONDS", 0.0)
    launch = leader_launch(tmp_path, "mkfifo go; (read -r _ <go; echo late) & exit 7")

    class Job(LeaderJob):
        def others(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
            if (tmp_path / "go").exists():  # the process has ended; now the other one may go on
                (tmp_path / "go").write_text("\n")
                (tmp_path / "go").unlink()
            return []

    with closing(Cancellation()) as cancellation:
        completed = run_in_job(launch, cancellation, lambda: entered(Job(None)), failed_to_start)
    assert (completed.status, completed.stdout.tail) == (Exited(7), b"late\n")


@posix
@pytest.mark.parametrize("code", [0, 7, 255, 256, 259, 300, 0xC0000005, 0xFFFFFFFF])
def test_every_unsigned_32_bit_code_is_kept(code: int, tmp_path: Path) -> None:
    launch = leader_launch(tmp_path, "exit 0")
    with closing(Cancellation()) as cancellation:
        completed = run_in_job(launch, cancellation, lambda: entered(LeaderJob(code)), failed_to_start)
    assert completed.status == Exited(code)


@contextmanager
def entered(job: LeaderJob) -> Iterator[LeaderJob]:
    yield job


@pytest.mark.parametrize(
    ("code", "given"),
    [("0", 0), ("255", 255), ("2147483647", 2**31 - 1), ("3221225477", -1073741819), ("4294967295", -1)],
)
def test_the_witness_exits_with_all_32_bits(
    code: str, given: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exits: list[int] = []
    monkeypatch.setattr(os, "_exit", exits.append)
    Witness(str(tmp_path / "record")).perform(["exit", code])
    assert exits == [given], "os._exit takes a signed C int"
