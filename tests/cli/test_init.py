"""`conformance init adapter`: what is written works as it is, and nothing is overwritten."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import call_cli, run_cli, valid_report

from conformance.catalog import load_catalog
from conformance.schema import validator
from conformance.starting import LANGUAGES, starting_files

PWSH = os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bodies are written for POSIX shells")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_pwsh = pytest.mark.skipif(PWSH is None, reason="pwsh is missing: start through `python3 bootstrap.py test`")
EACH = ["python", pytest.param("node", marks=needs_node), pytest.param("powershell", marks=needs_pwsh)]
LOST = {
    "python": ("posix/child-holds-pipes-beyond-deadline", "0.1"),
    "node": ("posix/child-holds-pipes-beyond-deadline", "0.1"),
    "powershell": ("native-codes/native-7", "1"),
}
"""A fixture that the program of each language loses, as its route file says, and how much time it may take."""
KEPT = ("exit-codes/exit-[027]", "bytes/invalid-utf-8", "bytes/stdin-64k-unread")


@pytest.mark.parametrize("language", EACH)
def test_what_is_written_works_from_anywhere(language: str, tmp_path: Path) -> None:
    made = run_cli("init", "adapter", "--language", language, "--id", "its.own-1", "sub/a folder", cwd=tmp_path)
    assert (made.code, made.err) == (0, "")
    folder = tmp_path / "sub" / "a folder"
    assert {path.name for path in folder.iterdir()} == {"its.own-1.toml", f"its.own-1{LANGUAGES[language].suffix}"}
    elsewhere, report = tmp_path / "elsewhere", tmp_path / "report.jsonl"
    elsewhere.mkdir()
    fixtures = [word for glob in KEPT for word in ("--fixture", glob)]
    run = ["run", "--route", "../sub/a folder/its.own-1.toml", *fixtures, "--report", str(report)]
    finished = run_cli(*run, env={"CONFORMANCE_PWSH": PWSH}, cwd=elsewhere)
    assert finished.code == 0, finished.out + finished.err
    results = valid_report(report).results
    assert {line["id"] for line in results} >= {f"exit-codes/exit-{code}/its.own-1" for code in (0, 2, 7)}
    assert {(line["result"], line["basis"], line["system"]["name"]) for line in results} == {
        ("pass", "bytes", "its.own-1")
    }
    assert all(LANGUAGES[language].dialects[0] in line["environment"] for line in results)


@pytest.mark.parametrize("language", EACH)
def test_the_deviation_in_the_route_file_is_what_is_lost(language: str, tmp_path: Path) -> None:
    assert call_cli("init", "adapter", "--language", language, tmp_path).code == 0
    route, report = tmp_path / "my-launcher.toml", tmp_path / "report.jsonl"
    head, mark, deviation = route.read_text().partition("# [[deviation]]\n")
    route.write_text(head + "".join(line.removeprefix("# ") for line in (mark + deviation).splitlines(keepends=True)))
    lost, scale = LOST[language]
    few = ("--fixture", lost, "--timeout-scale", scale, "--report", report)
    finished = run_cli("run", "--route", route, *few, env={"CONFORMANCE_PWSH": PWSH})
    assert finished.code == 0, finished.out + finished.err
    assert {line["fixture"]: line["result"] for line in valid_report(report).results} == {lost: "deviates"}


@pytest.mark.parametrize("language", EACH)
def test_the_check_that_is_named_finds_nothing_wrong(language: str, tmp_path: Path) -> None:
    made = call_cli("init", "adapter", "--language", language, tmp_path / "new")
    check, run = (line.removeprefix("  conformance ") for line in made.out.splitlines()[-2:])
    assert run == f"run --route {tmp_path}/new/my-launcher.toml"
    if language == "powershell":  # the one of the tests need not be on PATH
        check = f"{check.replace('-- pwsh ', f'-- {PWSH} ')} {PWSH}"
    checked = run_cli(*check.split())
    assert checked.code == 0, checked.out + checked.err
    assert checked.out.startswith("ok        hello: my-launcher 0, ")


@pytest.mark.parametrize("language", EACH)
def test_what_cannot_be_started_is_told_and_the_program_ends_with_its_input(language: str, tmp_path: Path) -> None:
    files = starting_files(language, "mine")
    files.write(tmp_path)
    known = {"id": "1", "session": "1", "dialect": "sh", "stdin": "", "env": {}, "timeout_ms": 3_600_000}
    asked = [{**known, "body": "x", "cwd": "/nonexistent"}, {**known, "body": "x" * 4_000_000, "cwd": str(tmp_path)}]
    command = [PWSH if word == "pwsh" else word for word in files.language.command(str(tmp_path / files.program))]
    shell = PWSH if language == "powershell" else "/bin/sh"
    lines = "".join(f"{json.dumps(request)}\n" for request in asked)
    ended = subprocess.run(
        [str(word) for word in (*command, shell)], input=lines, capture_output=True, text=True, timeout=60, check=True
    )
    _, *replies = map(json.loads, ended.stdout.splitlines())
    for reply in replies:
        validator("adapter", "outcome").validate(reply)
    assert [reply["status"]["kind"] for reply in replies] == ["failed_to_start"] * 2
    assert [reply["status"]["errno"] for reply in replies] == [errno.ENOENT, errno.E2BIG]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_route_file_is_one(language: str, tmp_path: Path) -> None:
    assert call_cli("init", "adapter", "--language", language, "--id", "mine", tmp_path).code == 0
    (route,) = load_catalog([str(tmp_path / "mine.toml")]).routes
    assert (route.id, route.kind, route.dialects) == ("mine", "adapter", LANGUAGES[language].dialects)
    for path in tmp_path.iterdir():
        assert "my-launcher" not in path.read_text()
        assert not re.search("@[A-Z]+@", path.read_text())


@pytest.mark.parametrize("there", ["my-launcher.toml", "my-launcher.py"])
def test_nothing_is_overwritten(there: str, tmp_path: Path) -> None:
    (tmp_path / there).write_text("mine")
    finished = call_cli("init", "adapter", tmp_path)
    assert (finished.code, finished.out) == (2, "")
    assert finished.err == (
        f"conformance: {tmp_path / there}: it is there already. Move it away, or choose another --id or FOLDER.\n"
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {there: "mine"}


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "my-launcher.py").symlink_to(tmp_path / "target")
    finished = call_cli("init", "adapter", tmp_path)
    assert finished.code == 2
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("launcher_id", ["My-Launcher", "a b", "", "../a", "a/b", "-", "a\n", "ä"])
def test_an_id_that_no_route_can_have_is_refused(launcher_id: str, tmp_path: Path) -> None:
    finished = call_cli("init", "adapter", f"--id={launcher_id}", tmp_path / "new")
    assert (finished.code, finished.out) == (2, "")
    assert finished.err.startswith(f"conformance: --id: {launcher_id!r} cannot be the id of a route")
    assert finished.err.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_an_unknown_language_is_a_usage_error_that_names_the_known_ones(tmp_path: Path) -> None:
    finished = call_cli("init", "adapter", "--language", "cobol", tmp_path)
    assert (finished.code, finished.out) == (2, "")
    assert "'cobol' is not one of 'python', 'node', 'powershell'" in finished.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_written_is_one_sentence(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finished = call_cli("init", "adapter", tmp_path / folder)
    assert (finished.code, finished.out) == (2, "")
    assert finished.err.startswith(f"conformance: {tmp_path / 'file'}")
    assert finished.err.endswith(" Choose another FOLDER.\n")
    assert finished.err.count("\n") == 1


def test_an_id_with_the_name_of_the_files_in_it_is_kept_whole() -> None:
    files = starting_files("python", "not-my-launcher-2")
    assert 'id = "not-my-launcher-2"' in files.texts()[files.route]
