"""What bootstrap.py does on macOS and Windows alone, as far as another system can tell."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from bootstrap_world import bootstrap


@pytest.fixture(name="naps")
def naps_fixture(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Sleep without sleeping."""
    naps: list[float] = []
    monkeypatch.setattr(time, "sleep", naps.append)
    return naps


def test_windows_waits_for_the_lock_and_says_so_once(
    naps: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = []

    def locking(descriptor: int, mode: int, length: int) -> None:
        tries.append((mode, length))
        if len(tries) < 5:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(sys, "platform", "win32")
    with bootstrap.set_up_lock(tmp_path):
        assert tries == [(2, 1)] * 5
    assert capsys.readouterr().err.count("waiting for it") == 1
    assert len(naps) == 3  # it tried once more before it slept


def test_an_error_of_the_lock_itself_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locking(descriptor: int, mode: int, length: int) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(OSError, match="Invalid argument"), bootstrap.set_up_lock(tmp_path):
        pass


@pytest.mark.parametrize(("system", "tries"), [("win32", 3), ("linux", 1)])
def test_windows_is_patient_with_a_folder_that_is_being_scanned(
    system: str, tries: int, naps: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part").mkdir()
    real = Path.rename
    calls = []

    def rename(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) < 3:
            raise PermissionError(13, "Access is denied")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    monkeypatch.setattr(sys, "platform", system)
    if system == "win32":
        bootstrap.rename(tmp_path / "part", tmp_path / "whole")
    else:
        with pytest.raises(PermissionError):
            bootstrap.rename(tmp_path / "part", tmp_path / "whole")
    assert (len(calls), (tmp_path / "whole").exists()) == (tries, system == "win32")


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches"),
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(
    system: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert bootstrap.cache_base().as_posix() == expected


@pytest.mark.parametrize("code", [0, 7, 2**31 - 1, 2**31, 2**32 - 1])
def test_windows_passes_all_32_bits_of_an_exit_code_on(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr("subprocess.Popen", lambda command, env: SimpleNamespace(wait=lambda: code))
    returned = bootstrap.hand_over([sys.executable], {})
    assert -(2**31) <= returned < 2**31
    assert returned % 2**32 == code
