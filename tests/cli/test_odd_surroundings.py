"""The command where something that is always there is missing: a stream, a folder, a home, an encoding."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMMAND, DEVIATION, MATRIX, Finished, call_cli, command_environment, valid_report

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="arranged by /bin/sh")

CONFORMANCE = shlex.join(COMMAND)
AS_DOCUMENTED = MATRIX + DEVIATION.format(code=0).replace("it always says 0", "il dit toujours « 0 » ça")


def sh(script: str, folder: Path, **changes: str | None) -> Finished:
    (folder / "matrix.toml").write_text(AS_DOCUMENTED, encoding="utf-8")
    completed = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env=command_environment(changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in completed.stdout + completed.stderr
    return Finished(completed.returncode, completed.stdout, completed.stderr)


def test_without_standard_error_a_run_is_whole(tmp_path: Path) -> None:
    finished = sh(f"{CONFORMANCE} run matrix.toml 2>&-", tmp_path)
    assert finished.code == 0
    assert "dev 7>0" in finished.out
    assert valid_report(tmp_path / "conformance-report.jsonl").complete


COMMANDS = ["run matrix.toml --json", "list cases matrix.toml", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_without_standard_output_a_command_ends_as_with_one(command: str, tmp_path: Path) -> None:
    no_pwsh = {"CONFORMANCE_PWSH": "/nonexistent/pwsh"}
    whole = sh(f"{CONFORMANCE} {command} >/dev/null", tmp_path, **no_pwsh)
    assert sh(f"{CONFORMANCE} {command} >&-", tmp_path, **no_pwsh) == whole


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_full_disk_a_command_says_so(command: str, tmp_path: Path) -> None:
    finished = sh(f"{CONFORMANCE} {command} >/dev/full", tmp_path, CONFORMANCE_PWSH="/nonexistent/pwsh")
    assert finished.code == 3
    assert "cannot be written: No space left on device" in finished.err


LEAVES_OUTPUT = """
import sys
from conformance import cli
cli._exit_code = lambda arguments: (sys.stdout.write("left over"), {code})[1]
cli.main([])
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(("code", "said"), [(0, 3), (1, 1), (130, 130)])
def test_output_that_is_left_over_and_cannot_be_written_takes_no_code_away(
    code: int, said: int, tmp_path: Path
) -> None:
    script = shlex.join([sys.executable, "-c", LEAVES_OUTPUT.format(code=code)])
    finished = sh(f"{script} >/dev/full", tmp_path)
    assert finished.code == said
    assert ("cannot be written: No space left on device" in finished.err) == (code == 0)


def test_what_the_encoding_lacks_is_escaped(tmp_path: Path) -> None:
    kept = AS_DOCUMENTED.replace("observed.exit = 0", "observed.exit = 3")
    script = f"printf %s {shlex.quote(kept)} >kept.toml; {CONFORMANCE} run kept.toml"
    finished = sh(script, tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert finished.code == 1
    assert "il dit toujours \\xab 0 \\xbb \\xe7a" in finished.out


def test_in_a_folder_that_was_removed(tmp_path: Path) -> None:
    finished = sh(f"mkdir gone; cd gone; rmdir ../gone; {CONFORMANCE} list cases {tmp_path}/matrix.toml", tmp_path)
    assert (finished.code, len(finished.out.splitlines())) == (0, 4)


def test_in_a_clone_that_is_named_as_the_distribution(tmp_path: Path) -> None:
    clone = tmp_path / "shell-exit-conformance"
    clone.mkdir()
    finished = sh(f"echo 'route = 1' >{clone}/bad.toml; {CONFORMANCE} run {clone}/bad.toml", tmp_path)
    assert finished.code == 2
    assert "shell-exit-conformance/bad.toml:1: " in finished.err


def test_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "matrix.toml").write_text(AS_DOCUMENTED, encoding="utf-8")
    monkeypatch.setattr(Path, "home", nobody_knows)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert len(call_cli("list", "cases", tmp_path / "matrix.toml").out.splitlines()) == 4
    assert "no-such.toml: " in call_cli("run", tmp_path / "no-such.toml").err
    finished = call_cli("run", tmp_path / "matrix.toml", "--report", tmp_path / "report.jsonl")
    assert finished.code == 0
    assert "this run is not remembered" in finished.err
    assert valid_report(tmp_path / "report.jsonl").complete


def nobody_knows() -> Path:
    """What `Path.home` does for a user whom the system does not know."""
    raise RuntimeError("Could not determine home directory.")
