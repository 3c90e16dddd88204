"""What the shell's Tab key offers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Finished, command_environment, run_cli

from conformance.catalog import load_catalog, matrix_names
from conformance.cli import SUBCOMMANDS
from conformance.paths import schema_names
from conformance.systems import system_names

CORE = load_catalog(["core"])


def complete(*words: str, cwd: Path | None = None) -> Finished:
    """Ask as bash does when the last of `words` is being written."""
    line = {"COMP_WORDS": " ".join(["conformance", *words]), "COMP_CWORD": str(len(words))}
    return run_cli(env={**line, "_CONFORMANCE_COMPLETE": "bash_complete"}, cwd=cwd)


def offered(*words: str, cwd: Path | None = None) -> list[str]:
    """Return what is offered, without the item that stands for files."""
    finished = complete(*words, cwd=cwd)
    assert (finished.code, finished.err) == (0, "")
    return [line.removeprefix("plain,") for line in finished.out.splitlines() if line.startswith("plain,")]


def beginning(start: str, names: list[str]) -> list[str]:
    found = [name for name in names if name.startswith(start)]
    assert found
    return found


def test_subcommands_and_their_words() -> None:
    assert set(offered("")) == set(SUBCOMMANDS)
    assert offered("list", "") == ["cases", "fixtures", "routes", "matrices"]
    assert offered("schema", "") == list(schema_names())


def test_systems() -> None:
    assert offered("systems", "") == ["install", "list", "report"]
    assert offered("systems", "install", "") == [*system_names(), "all"]
    assert offered("systems", "install", "launchers", "node") == ["node-powershell"]


@pytest.mark.parametrize("words", [("run", ""), ("list", "cases", ""), ("show", "--matrix", "")])
def test_matrices_and_files(words: tuple[str, ...]) -> None:
    assert offered(*words) == list(matrix_names())
    assert complete(*words[:-1], "mine/").out == "file,mine/\n"


def test_routes() -> None:
    assert offered("run", "--route", "pwsh-") == beginning("pwsh-", [route.id for route in CORE.routes])
    assert complete("run", "--route", "./").out == "file,./\n"


@pytest.mark.parametrize("words", [("agree", "bash-"), ("agree", "bash-command", "pwsh-"), ("fingerprint", "pwsh-")])
def test_routes_of_all_matrices(words: tuple[str, ...]) -> None:
    every = [route.id for route in load_catalog(matrix_names()).routes]
    assert offered(*words) == beginning(words[-1], every)
    assert complete(*words[:-1], "./").out == "file,./\n"


def test_fixtures_of_all_matrices() -> None:
    every = [fixture.id for fixture in load_catalog(()).fixtures]
    assert offered("agree", "--fixture", "batch/") == beginning("batch/", every)


@pytest.mark.parametrize("command", ["run", "list", "try"])
def test_fixtures(command: str) -> None:
    fixtures = list(dict.fromkeys(case.fixture.id for case in CORE.cases()))
    assert offered(command, "--fixture", "exit-codes/") == beginning("exit-codes/", fixtures)


def test_cases() -> None:
    start = "exit-codes/exit-7/"
    assert offered("run", "-k", start) == beginning(start, [case.id for case in CORE.cases()])


def test_what_show_knows() -> None:
    full = load_catalog(matrix_names())
    start = "native-codes/native-7"
    everything = [*(fixture.id for fixture in full.fixtures), *(case.id for case in full.cases())]
    assert offered("show", start) == beginning(start, everything)


@pytest.mark.parametrize("command", ["explain"])
def test_the_cases_that_are_taken_one_at_a_time(command: str, tmp_path: Path) -> None:
    every = [case.id for case in load_catalog(matrix_names()).cases()]
    assert offered(command, "native-codes/native-7/") == beginning("native-codes/native-7/", every)
    (tmp_path / "mine.toml").write_text(
        '[[route]]\nid = "mine"\nkind = "one-shot"\ndialects = ["sh"]\n'
        'argv = ["sh", "-c", "{{body}}"]\nsource = "https://example.org"\n'
    )
    line = (command, "--route", "mine.toml", "exit-codes/exit-7/m")
    assert offered(*line, cwd=tmp_path) == ["exit-codes/exit-7/mine"]
    assert complete(command, "--route", "./", cwd=tmp_path).out == "file,./\n"


def test_the_matrix_on_the_line_is_the_one_that_is_completed_from(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'fixtures = ["exit-codes/exit-7"]\n[[route]]\nid = "mine"\nkind = "one-shot"\ndialects = ["sh"]\n'
        'argv = ["sh", "-c", "{{body}}"]\nsource = "https://example.org"\n'
    )
    for before in ((), ("-j", "3"), ("--route", "mine")):
        line = ("run", "mine.toml", *before)
        assert offered(*line, "--route", "", cwd=tmp_path) == ["mine"]
        assert offered(*line, "--fixture", "", cwd=tmp_path) == ["exit-codes/exit-7"]
        assert offered(*line, "-k", "", cwd=tmp_path) == ["exit-codes/exit-7/mine"]


@pytest.mark.parametrize("option", ["--route", "--fixture", "-k"])
@pytest.mark.parametrize("text", [None, "route = 1\n", "[[route\n"])
def test_a_broken_matrix_offers_nothing_and_says_nothing(option: str, text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "mine.toml").write_text(text)
    assert offered("run", "mine.toml", option, "", cwd=tmp_path) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_the_shell_asks_by_the_variable_that_the_command_heeds(shell: str, program: Path) -> None:
    environment = command_environment({"_CONFORMANCE_COMPLETE": f"{shell}_source"})
    script = subprocess.run([program], env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert f"_CONFORMANCE_COMPLETE={shell}_complete" in script.stdout
    assert script.stderr == ""


def test_a_shell_that_is_not_known_is_a_failure() -> None:
    assert run_cli(env={"_CONFORMANCE_COMPLETE": "nosuchshell_source"}) == Finished(1, "", "")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """`conformance` as an installer writes it."""
    path = tmp_path / "bin" / "conformance"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nfrom conformance.cli import main\nmain()\n")
    path.chmod(0o755)
    return path


COMPLETE_IN_BASH = r"""
(( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )) || exit 77
eval "$(_CONFORMANCE_COMPLETE=bash_source conformance)"
complete -p conformance
compopt() { :; }
COMP_WORDS=(conformance run --route pwsh-)
COMP_CWORD=3
_conformance_completion conformance
printf '%s\n' "${COMPREPLY[@]}"
"""


def test_bash_completes(program: Path) -> None:
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    bash = subprocess.run(
        ["bash", "--norc", "-c", COMPLETE_IN_BASH],
        env=command_environment({"PATH": path}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if bash.returncode == 77:
        pytest.skip("this bash is older than 4.4, the first that click's completion knows")
    assert (bash.returncode, bash.stderr) == (0, "")
    registered, *completed = bash.stdout.splitlines()
    assert registered == "complete -o nosort -F _conformance_completion conformance"
    assert completed == beginning("pwsh-", [route.id for route in CORE.routes])
