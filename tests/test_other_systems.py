"""The command in a Python that takes this machine for Windows: what it does there can be seen but for Windows itself.

The stand-in lacks what Windows lacks, and has its job object: a group of processes known by their parents. A program
gets its words as a list, since one of POSIX has no rules for splitting a line.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import command_environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the real one is at hand")

PRETEND_WINDOWS = """
import ctypes, platform, psutil, selectors, shutil, signal, subprocess, sys, tempfile, types, uuid
import click, jsonschema, packaging.specifiers, platformdirs, rich.progress, rich.table
import os
sys.platform = "win32"
for name in ("sched_getaffinity", "pidfd_open", "set_blocking", "waitid", "killpg", "getsid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_sigmask", "SIGHUP", "SIGPIPE"):
    if hasattr(signal, name):
        delattr(signal, name)

def which(program, path=None):  # that of Python asks sys.platform, and would look for a .exe
    folders = [""] if "/" in program else (path or os.environ["PATH"]).split(os.pathsep)
    return next((path for path in (os.path.join(folder, program) for folder in folders) if os.path.isfile(path)), None)

CREATE_SUSPENDED = 0x4

class Popen(subprocess.Popen):
    def __init__(self, arguments, *, creationflags=0, **options):
        super().__init__(arguments, **options)
        if creationflags & CREATE_SUSPENDED:
            suspended.add(self.pid)

def members(job):
    found = {}
    for pid in jobs[job]:
        try:
            leader = psutil.Process(pid)
            found.update((process.pid, process) for process in [leader, *leader.children(recursive=True)])
        except psutil.NoSuchProcess:
            pass
    return [process for process in found.values() if process.status() != psutil.STATUS_ZOMBIE]

def create(security, name):
    jobs.append([])
    return len(jobs) - 1

def assign(job, process):
    assert process in suspended, "it could have started others before the job held it"
    jobs[job].append(process)
    return 1

def query(job, kind, data, size, returned):
    pids = [process.pid for process in members(job)]
    data._obj.assigned = data._obj.listed = len(pids)
    data._obj.pids[: len(pids)] = pids
    return 1

def terminate(job, code):
    for process in members(job):
        process.kill()
    return 1

suspended = set()
jobs = [[]]  # no job has the handle 0
kernel32 = types.SimpleNamespace(
    CreateJobObjectW=create, AssignProcessToJobObject=assign, QueryInformationJobObject=query,
    TerminateJobObject=terminate, SetInformationJobObject=lambda *_: 1, OpenProcess=lambda access, inherit, pid: pid,
    CloseHandle=lambda handle: 1, SetErrorMode=lambda mode: 0, GetShortPathNameW=lambda path, buffer, size: 0,
)
ctypes.WinDLL = lambda name, use_last_error: kernel32
subprocess.Popen, shutil.which = Popen, which
from conformance.process import windows
windows.command_line = list
from conformance.cli import main
main(sys.argv[1:])
"""


def run_pretending(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a Python that takes this machine for Windows and lacks what Windows lacks."""
    command = [sys.executable, "-c", PRETEND_WINDOWS, *arguments]
    return subprocess.run(
        command,
        env=command_environment({"XDG_CACHE_HOME": str(folder / "cache"), **environment}),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def report_of(folder: Path, *arguments: str, **environment: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Run `conformance run ARGUMENTS` and return the header of its report, and its results by id."""
    completed = run_pretending("run", *arguments, "--report", "report.jsonl", folder=folder, **environment)
    assert (completed.returncode, completed.stderr.count("Traceback")) == (0, 0), completed.stdout + completed.stderr
    header, *lines = (json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines())
    return header, {line["id"]: line for line in lines if line["kind"] == "result"}


STATUSES = {
    "exit-codes/exit-7": {"kind": "exited", "code": 7},
    "native-codes/native-255": {"kind": "exited", "code": 255},
    "bytes/both-streams-1m": {"kind": "exited", "code": 7},
    "bytes/echo-1m": {"kind": "exited", "code": 7},
    "bytes/stdin-1m-half-read": {"kind": "exited", "code": 7},
    "bytes/stdin-1m-unread": {"kind": "exited", "code": 2},
    "processes/background-child-holds-stdout": {"kind": "exited", "code": 7},
    "processes/hang": {"kind": "timed_out"},
}
ROUTES = ("--route", "bash-command", "--route", "sh-command")


def test_what_runs_passes_and_is_provisional(tmp_path: Path) -> None:
    selection = [part for fixture in STATUSES for part in ("--fixture", fixture)]
    bash = shutil.which("bash")
    assert bash is not None
    shutil.copy(bash, tmp_path / "sh")  # as Git for Windows has it: a bash, and no link to one
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    header, results = report_of(tmp_path, "full", *selection, *ROUTES, PATH=path)
    assert header["runs"][0]["environment"].startswith("windows-")
    assert len(results) == 2 * len(STATUSES)
    for line in results.values():
        assert (line["result"], line["provisional"]) == ("pass", True), line["reason"]
        assert line["status"] == STATUSES[line["fixture"]]
        assert line["environment"].split("/")[1].startswith("bash-")


def test_what_asks_for_a_signal_is_skipped(tmp_path: Path) -> None:
    fixtures = ("native-codes/killed-by-kill", "processes/hang-ignoring-term")
    selection = [part for fixture in fixtures for part in ("--fixture", fixture)]
    _, results = report_of(tmp_path, "full", *selection, *ROUTES)
    assert {line["result"] for line in results.values()} == {"skipped"}
    assert {line["reason"] for line in results.values()} == {
        "Windows has no signals, so no program can be ended by one there, or ignore it"
    }


def test_a_launcher_is_tried_with_what_it_speaks(tmp_path: Path) -> None:
    completed = run_pretending("try", "--fixture", "exit-codes/exit-7", "--", "sh", "-c", "{{body}}", folder=tmp_path)
    assert (completed.returncode, completed.stderr.count("Traceback")) == (0, 0), completed.stderr
    assert "(bodies written in " in completed.stdout


@pytest.mark.parametrize("name", ["nosuchprogram-zz", "/nonexistent/shell"])
def test_a_launcher_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    completed = run_pretending("try", "--dialect", "sh", "--", name, "{{body}}", folder=tmp_path)
    assert completed.returncode == 3
    assert "failed_to_start(ENOENT" in completed.stdout


def test_output_into_a_pipe_is_utf_8_whatever_the_code_page(tmp_path: Path) -> None:
    completed = run_pretending("show", "text/unicode-comment", folder=tmp_path, PYTHONIOENCODING="cp1252")
    assert completed.returncode == 0, completed.stderr
    assert "\N{CHECK MARK} \N{LEFT DOUBLE QUOTATION MARK}refuse" in completed.stdout


def test_sessions_are_unavailable_and_their_shell_is_not_missed(tmp_path: Path) -> None:
    _, results = report_of(tmp_path, "-k", "exit-codes/exit-7/bash-*")
    session = results["exit-codes/exit-7/bash-session"]
    assert (session["result"], results["exit-codes/exit-7/bash-file"]["result"]) == ("unavailable", "pass")
    assert session["reason"].startswith("a session swaps the POSIX descriptors")


def test_a_report_has_plain_line_ends_and_nothing_private(tmp_path: Path) -> None:
    home = tmp_path / "home of Jane"
    (home / "bin").mkdir(parents=True)
    path = os.pathsep.join([str(home / "bin"), os.environ["PATH"]])
    completed = run_pretending("run", "-k", "exit-7/bash-", "--json", folder=tmp_path, HOME=str(home), PATH=path)
    assert completed.returncode == 0, completed.stderr
    header, *_ = (json.loads(line) for line in completed.stdout.splitlines())
    assert header["runs"][0]["child_environment"]["USERPROFILE"] == "{{place}}/home"
    assert header["runs"][0]["child_environment"]["PATH"].split(os.pathsep)[0] == "~/bin"
    assert "Jane" not in completed.stdout
