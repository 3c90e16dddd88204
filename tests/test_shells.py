"""Where the shells of Windows are looked for, and that they are missed by name elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from conformance.shells import MissingShellError, path_without_wsl, probe_shell, shell_of_git

posix = pytest.mark.skipif(sys.platform == "win32", reason="runs a script of sh as git")


def test_the_launchers_of_wsl_are_no_shells_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pathsep", ";")
    kept = [r"C:\Windows", r"C:\tools\System32-tools", r"C:\Program Files\Git\bin"]
    skipped = [r"C:\Windows\System32", "c:\\windows\\system32\\", r"C:\Users\x\AppData\Local\Microsoft\WindowsApps"]
    assert path_without_wsl(";".join([*skipped, *kept])) == ";".join(kept)


@posix
@pytest.mark.parametrize("folder", ["bin", "usr/bin"])
def test_a_shell_of_git_is_found_from_where_git_keeps_its_own_programs(folder: str, tmp_path: Path) -> None:
    (tmp_path / "cmd").mkdir()
    git = tmp_path / "cmd" / "git"
    git.write_text(f"#!/bin/sh\necho '{tmp_path}/mingw64/libexec/git-core'\n")
    git.chmod(0o755)
    bash = tmp_path / folder / "bash.exe"
    bash.parent.mkdir(parents=True)
    bash.touch()
    assert shell_of_git("bash", str(git.parent)) == str(bash)
    assert shell_of_git("zsh", str(git.parent)) is None


def test_a_shell_of_git_is_found_among_the_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bash = tmp_path / "Git" / "bin" / "bash.exe"
    bash.parent.mkdir(parents=True)
    bash.touch()
    monkeypatch.setenv("PROGRAMFILES", str(tmp_path))
    assert shell_of_git("bash", "/nonexistent") == str(bash)


@posix
@pytest.mark.parametrize("name", ["cmd", "powershell"])
def test_a_shell_of_windows_is_missing_elsewhere_and_says_so(name: str) -> None:
    with pytest.raises(MissingShellError, match="is a shell of Windows alone"):
        probe_shell(name, dict(os.environ))
