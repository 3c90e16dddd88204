"""What is said of a shell: which program it really is, and the command that gets one that works."""

from __future__ import annotations

import os
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from conformance.doctor.finding import Finding, State
from conformance.doctor.shells import programs_called, shell_finding
from conformance.process import Cancellation
from conformance.runners.local import LocalRunner

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the shells are scripts of /bin/sh")


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CONFORMANCE_PWSH", raising=False)
    monkeypatch.delenv("DOTNET_ROOT", raising=False)
    return tmp_path


def examined(name: str, *required: str) -> Finding:
    with closing(Cancellation()) as cancellation:
        return shell_finding(name, LocalRunner(cancellation), required, os.environ)


def test_a_missing_shell_is_broken_only_where_it_is_required(only_path: Path) -> None:
    assert examined("bash").state is State.WARNING
    required = examined("bash", "bash")
    assert (required.state, required.found) == (State.BROKEN, "bash is not on PATH: install it")
    assert "bash" in required.mend


def test_a_shell_that_is_another_one_by_its_real_name(only_path: Path) -> None:
    real = write_program(only_path / "real" / "ksh", 'exec /bin/sh "$@"')
    (only_path / "sh").symlink_to(real)
    finding = examined("sh", "sh")
    assert finding.state is State.OK
    assert finding.found.startswith("sh is ksh ")
    assert finding.found.endswith(f"{only_path / 'sh'}, from PATH, required by the core matrix")


def test_the_shim_of_a_tool_is_named_beside_the_real_program(only_path: Path) -> None:
    store = (
        only_path / ".store" / "powershell" / "7.9.9" / "powershell" / "7.9.9" / "tools" / "net99.0" / "any" / "unix"
    )
    real = write_program(store / "pwsh", "echo 7.9.9")
    shim = write_program(only_path / "pwsh", "exit 9")
    found = examined("pwsh").found
    assert found == f"pwsh 7.9.9, {real}, from PATH (the real program behind the .NET tool shim {shim})"
    shim.write_text("#!/bin/sh\necho 7.9.9\n")
    real.unlink()
    assert "real program behind" not in examined("pwsh").found


@pytest.mark.parametrize(
    ("says", "mend"),
    [
        ("Couldn't find a valid ICU package. Please install libicu", "libicu"),
        ("You must install .NET. DOTNET_ROOT is not set", "export DOTNET_ROOT="),
        ("who are you?", "CONFORMANCE_PWSH=|bootstrap.py --pwsh"),
    ],
)
def test_what_a_broken_pwsh_says_decides_what_mends_it(says: str, mend: str, only_path: Path) -> None:
    write_program(only_path / "pwsh", f'echo "{says}" >&2; exit 131')
    finding = examined("pwsh")
    assert finding.state is State.BROKEN
    assert says.split("'")[0] in finding.found
    assert re.search(mend, finding.mend)


def test_a_runtime_that_is_not_there(only_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOTNET_ROOT", str(only_path / "none"))
    write_program(only_path / "pwsh", "exit 131")
    assert examined("pwsh").mend.startswith("export DOTNET_ROOT=")


def test_programs_on_path_each_once(tmp_path: Path) -> None:
    first = write_program(tmp_path / "a" / "sh", "exit 1")
    second = write_program(tmp_path / "b" / "sh", "exit 2")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "sh").symlink_to(first)
    folders = [str(tmp_path / name) for name in ("none", "a", "c", "b")]
    assert programs_called("sh", os.pathsep.join(["", *folders])) == [first, second]
