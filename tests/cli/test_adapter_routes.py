"""A route file with an adapter, as its user runs it, and how what rests on text is shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from adapter_world import adapter_route
from conftest import run_cli, run_on_terminal, valid_report

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bodies are written for POSIX shells")

FEW = ("--fixture", "exit-codes/exit-[27]", "--fixture", "posix/and-or")
TEXT = 'Adapter(capabilities={"statuses": ["exited"]}).serve()'


@pytest.fixture
def route_file(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.toml").write_text(adapter_route(folder, TEXT, name="mine"))
    return folder / "mine.toml"


def test_it_works_from_any_directory(route_file: Path, tmp_path: Path) -> None:
    for place, named in ((tmp_path, "mine/mine.toml"), (route_file.parent, "mine.toml"), (Path("/"), str(route_file))):
        report = tmp_path / "report.jsonl"
        finished = run_cli("run", "--route", named, *FEW, "--report", report, cwd=place)
        assert finished.code == 0, finished.err + finished.out
        results = valid_report(report).results
        assert {line["result"] for line in results} == {"pass"}
        assert {line["basis"] for line in results} == {"text"}
        assert {json.dumps(line["system"]) for line in results} == {'{"name": "miniature", "version": "1"}'}


def test_a_pass_on_text_is_shown_as_one(route_file: Path, tmp_path: Path) -> None:
    note = "judged on text: the system hands on no exact bytes"
    log = run_cli("run", "--route", route_file, *FEW, cwd=tmp_path).out
    assert "ok~" in log
    assert f"2 of them {note} (~)" in log
    narrow = run_on_terminal(16, {}, "run", "--route", str(route_file), *FEW, cwd=tmp_path)
    assert ".~" in narrow
    explained = run_cli("explain", "exit-codes/exit-7/mine", "--route", route_file, cwd=tmp_path).out
    assert explained.count(note) == 2
    assert "miniature 1" in explained
    agreed = run_cli("agree", "bash-command", route_file, "--fixture", "exit-codes/exit-7", cwd=tmp_path)
    assert (agreed.code, f"mine: {note}" in agreed.out) == (0, True)
    printed = run_cli("fingerprint", route_file, cwd=tmp_path).out
    assert note in printed


def test_what_only_the_adapter_knows_is_not_promised_for_its_route(route_file: Path, tmp_path: Path) -> None:
    explained = run_cli("explain", "exit-codes/exit-7/bash-command", "--route", route_file, "--json", cwd=tmp_path)
    others = {other["case"]: other for other in json.loads(explained.out)["other_routes"]}
    mine = others["exit-codes/exit-7/mine"]
    assert (mine["keeps"], mine["keeps_or_skips"], mine["available"]) == (False, True, True)
    assert not others["exit-codes/exit-7/execa"]["available"]  # nothing is installed for a test


BROKEN = {
    "a system that nobody knows": (
        'argv = ["{{node}}", "{{system:leftpad}}"]',
        "argv[1]: {{system:leftpad}} names no system that can be installed: the systems are ",
    ),
    "a body in argv": ('argv = ["{{python}}", "{{body}}"]', "argv[1]: unknown template"),
    "keys of another kind": (
        'argv = ["x"]\nstate = "kept"', "state is for routes of kind 'session', and this one is 'adapter'",
    ),
    "a folder with an argument": ('argv = ["{{folder:x}}"]', "{{folder}} takes no argument"),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_route_file_is_told_by_line(broken: str, tmp_path: Path) -> None:
    keys, told = BROKEN[broken]
    head = '# Mine.\n[[route]]\nid = "mine"\nkind = "adapter"\ndialects = ["sh"]\nsource = "https://x.org"\n'
    (tmp_path / "mine.toml").write_text(f"{head}{keys}\n")
    finished = run_cli("run", "--route", "mine.toml", cwd=tmp_path)
    assert (finished.code, finished.out) == (2, "")
    assert finished.err.startswith("conformance: mine.toml:2: ")
    assert told in finished.err


def test_a_command_line_has_no_folder(tmp_path: Path) -> None:
    finished = run_cli("try", "--", "{{folder}}/x", "{{body}}", cwd=tmp_path)
    assert (finished.code, finished.out) == (2, "")
    assert "{{folder}} is that of a route file, and there is none here" in finished.err
