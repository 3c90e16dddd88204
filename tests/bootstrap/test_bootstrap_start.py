"""bootstrap.py as a command: what it passes on, where it keeps its cache, which Python runs it."""

from __future__ import annotations

import ast
import os
import signal
from pathlib import Path

import pytest
from bootstrap_world import BOOTSTRAP, World, bootstrap, posix, world_fixture  # noqa: F401

# ---- what is passed on ----


@posix
def test_a_second_start_sets_nothing_up_and_says_nothing(world: World) -> None:
    first = world.start("run", "--a", "b c")
    assert first.stdout.startswith("conformance run --a b c\n")
    assert "setting up" in first.stderr
    steps = ("download", "venv", "ensurepip", "install", "install")
    assert world.events() == [f"python {step}" for step in steps]
    second = world.start("run")
    assert (second.returncode, second.stderr) == (0, "")
    assert world.events() == []


@posix
@pytest.mark.parametrize("verb", ["run", "test"])
@pytest.mark.parametrize("code", [0, 2, 3, 7, 255])
def test_exit_codes_pass_through(world: World, verb: str, code: int) -> None:
    assert world.start(verb, CODE=str(code)).returncode == code


@posix
def test_exec_runs_anything_with_the_environment_first_on_path(world: World) -> None:
    result = world.start("exec", "sh", "-c", "command -v python; cat; exit 42", stdin="payload")
    environment = next(world.cache.glob("env-*-*"))
    assert result.stdout == f"{environment}/bin/python\npayload"
    assert result.returncode == 42
    assert world.start("exec", "conformance", "list").stdout.startswith("conformance list\n")


@posix
@pytest.mark.parametrize("name", ["TERM", "KILL", "PIPE"])
def test_a_signal_stays_a_signal(world: World, name: str) -> None:
    """PIPE: Python ignores it for itself, and what is ignored stays so across exec."""
    result = world.start("exec", "sh", "-c", f"kill -{name} $$; echo survived")
    assert (result.returncode, result.stdout) == (-getattr(signal, f"SIG{name}"), "")


@posix
def test_exec_tells_missing_from_not_executable(world: World) -> None:
    missing = world.start("exec", "no-such-command")
    assert (missing.returncode, missing.stderr.splitlines()[-1]) == (
        127,
        "bootstrap: command not found: no-such-command",
    )
    assert world.start("exec", str(world.folder / "driver.py")).returncode == 126


@posix
def test_tests_run_in_the_repository_with_a_worker_per_cpu(world: World) -> None:
    result = world.start("test", "-k", "x")
    assert result.stdout == f"{world.folder}/repo\n"
    assert (world.folder / "log").read_text().splitlines()[-1].startswith("python -m pytest -n ")


@pytest.mark.parametrize(
    "arguments", [["-n", "4"], ["-n0"], ["--numprocesses=2"], ["--dist", "no"], ["-p", "no:xdist"], ["--pdb"]]
)
def test_the_users_own_choice_of_workers_stands(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    assert bootstrap.worker_options(arguments) == []
    assert bootstrap.worker_options(["-k", "no"])[0] == "-n"
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(arguments))
    assert bootstrap.worker_options([]) == []


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["--fast", "run"],
        ["exec"],
        ["--yes"],
        ["--yes=no", "run"],
        ["--from"],
        ["--from", "run"],
        ["--from=pypi", "run"],
        ["--from", "index", "test", "full"],
        ["--pwsh"],
        ["--pwsh", "7", "run"],
        ["--pwsh=v7.6.3", "run"],
        ["--pwsh", "7.6.3-rc.1", "run"],
        ["--pwsh", "../../x", "run"],
    ],
)
def test_wrong_usage_is_2_in_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["--yes", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: ")


# ---- the cache ----


@posix
def test_the_cache_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    cache = bootstrap.open_cache()
    assert cache.stat().st_mode & 0o777 == 0o700
    cache.chmod(0o777)
    with pytest.raises(bootstrap.SetupError, match="can be written by other users"):
        bootstrap.open_cache()
    cache.chmod(0o755)
    bootstrap.open_cache()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(bootstrap.SetupError, match=f"belongs to user id {owner}"):
        bootstrap.open_cache()


@posix
def test_an_open_cache_runs_nothing(world: World) -> None:
    world.start("run")
    world.cache.chmod(0o777)
    result = world.start("run")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (3, "", 1)


@posix
def test_a_cache_that_cannot_be_made_is_told_in_one_sentence(world: World) -> None:
    result = world.start("run", XDG_CACHE_HOME=str(world.folder / "log"))
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)


def test_a_relative_cache_directory_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert tmp_path in [bootstrap.cache_base(), *bootstrap.cache_base().parents]


# ---- interpreters ----


@posix
def test_an_old_interpreter_hands_over_to_a_newer_one(world: World) -> None:
    world.program("bin/python3.13", "exit 127\n")  # as pyenv's do
    world.program("bin/python3.12", 'case $1 in -c) exit 0;; esac; echo "$@"; exit 7\n')
    result = world.start("run", "x", OLD="1", SYSTEM_PYTHON="/none")
    assert (result.returncode, result.stderr) == (7, "")
    assert result.stdout == f"{world.folder}/repo/bootstrap.py run x\n"


@posix
def test_an_old_interpreter_alone_says_what_to_install(world: World) -> None:
    result = world.start("run", OLD="1", SYSTEM_PYTHON="/none")
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)
    assert "this is Python 3.6.15" in result.stderr
    assert "apt-get install python3" in result.stderr


def test_old_interpreters_can_read_the_file() -> None:
    """No newer syntax at all, and no annotation that Python 3.6 could not evaluate; those in functions it does not."""
    tree = ast.parse(BOOTSTRAP.read_text(encoding="utf-8"), feature_version=(3, 6))
    annotations: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            annotations += [statement.annotation for statement in node.body if isinstance(statement, ast.AnnAssign)]
        elif isinstance(node, ast.arg):
            annotations.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            annotations.append(node.returns)
    assert not any(isinstance(annotation, ast.Subscript | ast.BinOp) for annotation in annotations)


@posix
def test_ctrl_c_during_set_up_is_130(world: World) -> None:
    # The step lasts as long as its parent; the keyboard would have ended it as well.
    world.program("python", 'kill -INT "$PPID"; while kill -0 "$PPID" 2>/dev/null; do :; done\n')
    result = world.start("run")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (130, "bootstrap: interrupted")


@posix
def test_the_project_file_is_expected_beside_bootstrap(world: World) -> None:
    (world.folder / "repo" / "pyproject.toml").unlink()
    result = world.start("run")
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)
    assert "start it from a clone" in result.stderr


def test_the_home_is_not_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", "/home/jane")
    monkeypatch.setenv("USERPROFILE", "/home/jane")
    bootstrap.say("look into /home/jane/.cache and /home/janet/x")
    assert capsys.readouterr().err == "bootstrap: look into ~/.cache and /home/janet/x\n"
