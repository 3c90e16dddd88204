"""Where launching is not implemented yet, the command says so; it does not break, and nothing passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import command_environment

PRETEND_WINDOWS = """
import ctypes, platform, psutil, selectors, shutil, signal, subprocess, sys, tempfile, uuid
import click, jsonschema, packaging.specifiers, rich.progress, rich.table
import os
sys.platform = "win32"
for name in ("sched_getaffinity", "pidfd_open", "set_blocking", "waitid", "killpg", "getsid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_sigmask", "SIGHUP", "SIGPIPE"):
    if hasattr(signal, name):
        delattr(signal, name)
from conformance.cli import main
main(sys.argv[1:])
"""


def run_pretending(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a Python that takes this machine for Windows and lacks what Windows lacks."""
    command = [sys.executable, "-c", PRETEND_WINDOWS, *arguments]
    return subprocess.run(
        command, env=command_environment(), cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def test_nothing_is_run_and_nothing_passes(tmp_path: Path) -> None:
    completed = run_pretending("run", "-k", "exit-codes/exit-7/", folder=tmp_path)
    assert completed.returncode == 3
    assert "launching on Windows is not implemented yet" in completed.stdout
    assert " pass " not in completed.stdout
    assert "Traceback" not in completed.stderr


def test_try_says_so_as_well(tmp_path: Path) -> None:
    completed = run_pretending("try", "--", "bash", "-c", "{{body}}", folder=tmp_path)
    assert (completed.returncode, completed.stdout) == (3, "")
    assert completed.stderr == "conformance: launching on Windows is not implemented yet\n"


def test_the_catalogue_can_be_read(tmp_path: Path) -> None:
    completed = run_pretending("list", "-k", "exit-codes/exit-7/sh-command", folder=tmp_path)
    assert (completed.returncode, completed.stdout) == (0, "exit-codes/exit-7/sh-command\n")
