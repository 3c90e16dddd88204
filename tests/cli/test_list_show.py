"""`conformance list` and `conformance show`: for eyes, for programs, for pipes and for narrow terminals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMMAND, call_cli, command_environment, run_cli, run_on_terminal

from conformance.catalog import load_catalog, matrix_names
from conformance.cli import SUBCOMMANDS

CASE = "exit-codes/exit-7/bash-command"
ANSI = re.compile(r"\x1b\[")


def test_list_names_every_case_once_and_sorted() -> None:
    finished = call_cli("list")
    assert (finished.code, finished.err) == (0, "")
    assert finished.out.splitlines() == [case.id for case in load_catalog(["core"]).cases()]
    assert call_cli("list", "cases", "core").out == finished.out


def test_list_of_fixtures_routes_and_matrices() -> None:
    catalog = load_catalog(["core"])
    assert call_cli("list", "routes").out.splitlines() == [route.id for route in catalog.routes]
    listed = {name: set(call_cli("list", "fixtures", name).out.splitlines()) for name in ("full", "windows")}
    assert listed["full"] | listed["windows"] == {fixture.id for fixture in catalog.fixtures}
    assert listed["windows"] - listed["full"] == {
        f.id for f in catalog.fixtures if f.dialects <= {"cmd", "powershell5"}
    }
    assert call_cli("list", "matrices").out.splitlines() == list(matrix_names())


def test_list_of_a_selection() -> None:
    assert call_cli("list", "-k", "exit-codes/exit-7/", "--route", "bash-command").out == f"{CASE}\n"
    assert call_cli("list", "routes", "-k", CASE).out == "bash-command\n"
    assert call_cli("list", "fixtures", "--fixture", "exit-codes/exit-7").out == "exit-codes/exit-7\n"


def test_list_as_json() -> None:
    assert json.loads(call_cli("list", "-k", CASE, "--json").out) == [
        {"id": CASE, "fixture": "exit-codes/exit-7", "route": "bash-command", "dialect": "sh"}
    ]
    (route,) = json.loads(call_cli("list", "routes", "-k", CASE, "--json").out)
    assert set(route) == {"id", "kind", "dialects", "judged_by", "fingerprint", "source"}
    (fixture,) = json.loads(call_cli("list", "fixtures", "-k", CASE, "--json").out)
    assert set(fixture) == {"id", "summary", "source"}
    assert {row["id"] for row in json.loads(call_cli("list", "matrices", "--json").out)} == set(matrix_names())


def test_list_of_something_unknown() -> None:
    finished = call_cli("list", "shells")
    assert finished.code == 2
    assert "'shells' is not one of 'cases', 'fixtures', 'routes', 'matrices'" in finished.err


def test_show_a_case() -> None:
    finished = call_cli("show", CASE)
    assert (finished.code, finished.err) == (0, "")
    for part in (
        f"case: {CASE}\n",
        "summary: ",
        "source: https://",
        "defined_at: fixtures/exit-codes.toml:",
        "defined_at: matrices/core.toml:",
        "    {{mark}}\n    exit 7\n",
        "- {{bash}}\n",
        "- {{body}}\n",
        "    status: exited(7)\n",
        "seen:\n      - bash ",
    ):
        assert part in finished.out
    assert "pwsh:" not in finished.out, "a case shows the body that its route gets"


def test_show_a_case_as_json() -> None:
    shown = json.loads(call_cli("show", CASE, "--json").out)
    assert shown["case"] == CASE
    assert shown["fixture"] == "exit-codes/exit-7"
    assert list(shown["body"]) == ["sh"]
    assert shown["route"]["argv"][-2:] == ["-c", "{{body}}"]
    assert shown["expectations"][0]["status"] == {"kind": "exited", "code": 7}
    assert shown["deviations"] == []


def test_show_a_fixture() -> None:
    shown = json.loads(call_cli("show", "exit-codes/exit-7", "--json").out)
    assert list(shown["body"]) == ["cmd", "powershell5", "pwsh", "sh"]
    assert "route" not in shown
    assert "case" not in shown
    text = call_cli("show", "exit-codes/exit-7").out
    assert text.startswith("fixture: exit-codes/exit-7\n")
    assert "  pwsh:\n" in text
    assert "  sh:\n" in text


def test_show_what_stands_against_a_deviation() -> None:
    shown = json.loads(call_cli("show", "native-codes/native-7/pwsh-command", "--json").out)
    (deviation,) = shown["deviations"]
    (observed,) = deviation["observed"]
    assert (deviation["happens"], observed["status"]) == ("always", {"kind": "exited", "code": 1})
    assert deviation["reason"]
    assert deviation["url"].startswith("https://")


def test_show_what_is_sent_and_received() -> None:
    shown = json.loads(call_cli("show", "bytes/stdin-64k-plus-1-read/bash-command", "--json").out)
    assert shown["stdin"] == "65537 bytes of the witness's stdin stream"
    assert shown["expectations"][0]["received_bytes"] == 65537
    assert json.loads(call_cli("show", "processes/hang", "--json").out)["deadline"] > 0


@pytest.mark.parametrize("id_", ["exit-codes/exit-8", "exit-codes/exit-7/bash", "exit-7", "", "bash-command"])
def test_show_an_unknown_id(id_: str) -> None:
    finished = call_cli("show", id_)
    assert (finished.code, finished.out) == (2, "")
    assert f"unknown id {id_!r}" in finished.err
    assert "conformance list" in finished.err


def test_show_of_every_fixture_is_printable() -> None:
    """Bodies of others are untrusted: no escape, no carriage return and no bidirectional mark reaches the terminal."""
    from conformance.cli.show import _as_text
    from conformance.description import describe_fixture

    for fixture in load_catalog(["full"]).fixtures:
        text = _as_text(describe_fixture(fixture, tuple(sorted(fixture.dialects))))
        assert all(char.isprintable() or char in "\n\t" for char in text), fixture.id


def test_show_escapes_the_control_characters_of_a_body(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'fixtures = ["exit-codes/exit-7"]\n[[route]]\nid = "mine"\nkind = "one-shot"\ndialects = ["sh"]\n'
        'argv = ["sh", "-c", "{{body}}", "\\u001b[31mred\\u0007\\r\\u202e\\u009b\\u007f"]\nsource = "https://example.org"\n',
        encoding="utf-8",
    )
    out = call_cli("show", "exit-codes/exit-7/mine", "--matrix", path).out
    assert r"- \x1b[31mred\x07\r\u202e\x9b\x7f" + "\n" in out
    as_json = call_cli("show", "exit-codes/exit-7/mine", "--matrix", path, "--json").out
    assert as_json.isascii()
    assert "\x1b" not in as_json
    assert json.loads(as_json)["route"]["argv"][-1] == "\x1b[31mred\x07\r\u202e\x9b\x7f"
    assert r"\r" in call_cli("show", "text/crlf").out


@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("show", CASE), ("--help",)])
def test_a_reader_that_goes_away_gets_no_traceback(arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    process = subprocess.Popen([*COMMAND, *arguments], stdout=write, stderr=subprocess.PIPE, env=command_environment())
    os.close(read)
    os.close(write)
    _, err = process.communicate(timeout=60)
    assert err == b""


def test_list_into_head() -> None:
    script = f'"$0" -m conformance list | head -1; "$0" -m conformance show {CASE} | head -2'
    completed = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable],
        capture_output=True,
        env=command_environment(),
        check=True,
        timeout=60,
    )
    assert completed.stderr == b""
    assert completed.stdout.decode().splitlines()[1] == f"case: {CASE}"


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_help_of_each_subcommand(name: str) -> None:
    for option in ("--help", "-h"):
        finished = call_cli(name, option)
        assert (finished.code, finished.err) == (0, "")
        assert finished.out.startswith("Usage: ")
        assert "Options:" in finished.out
    assert re.search(rf"^  {name} +\S", call_cli("--help").out, re.MULTILINE)


def test_help_tells_the_exit_codes_and_version_tells_the_version() -> None:
    text = " ".join(call_cli("--help").out.split())
    for part in (
        "0 all as documented",
        "1 something differs",
        "2 usage",
        "3 the harness",
        "4 nothing selected",
        "130 interrupted",
    ):
        assert part in text
    assert re.fullmatch(r"conformance, version \d+\.\d+\.\d+\n", call_cli("--version").out)


@pytest.mark.parametrize(
    "arguments", [("lst",), ("list", "--jsn"), ("show",), ("run", "-j", "0"), ("run", "--timeout-scale", "x"), ("try",)]
)
def test_bad_usage(arguments: tuple[str, ...]) -> None:
    finished = call_cli(*arguments)
    assert (finished.code, finished.out) == (2, "")
    assert "Error: " in finished.err


def test_lines_of_list_and_show_are_never_wrapped_nor_coloured(tmp_path: Path) -> None:
    assert run_on_terminal(40, {}, "list", cwd=tmp_path) == call_cli("list").out
    assert run_on_terminal(40, {}, "show", CASE, cwd=tmp_path) == call_cli("show", CASE).out


RUN = ("run", "--route", "bash-command", "--route", "bash-file", "--route", "sh-command", "-k", "exit-codes/exit-*")


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("exit-codes/")]


def test_a_piped_grid_has_a_row_a_fixture_and_no_colour(tmp_path: Path) -> None:
    wide = run_cli(*RUN, cwd=tmp_path)
    narrow = run_cli(*RUN, cwd=tmp_path, env={"COLUMNS": "40"})
    forced = run_cli(*RUN, cwd=tmp_path, env={"NO_COLOR": "1", "TERM": "xterm-256color"})
    assert wide.code == narrow.code == forced.code == 0
    assert rows(wide.out) == rows(narrow.out) == rows(forced.out)
    fixtures = {
        case.fixture.id
        for case in load_catalog(["core"]).cases()
        if case.fixture.id.startswith("exit-codes/exit-") and "sh" in case.fixture.dialects
    }
    assert [row.split() for row in rows(wide.out)] == [[fixture, "ok", "ok", "ok"] for fixture in sorted(fixtures)]
    assert not ANSI.search(wide.out + wide.err + narrow.out + narrow.err)


def test_a_narrow_terminal_gets_a_letter_a_cell_and_loses_no_column(tmp_path: Path) -> None:
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", run_on_terminal(40, {}, *RUN, cwd=tmp_path))
    assert all(row.split()[1:] == [".", ".", "."] for row in rows(shown))
    for line in ("1 bash-command", "2 bash-file", "3 sh-command", ". pass"):
        assert line in shown.splitlines()


def test_no_color_is_honoured_on_a_terminal(tmp_path: Path) -> None:
    coloured = run_on_terminal(100, {}, *RUN, cwd=tmp_path)
    plain = run_on_terminal(100, {"NO_COLOR": "1"}, *RUN, cwd=tmp_path)
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")
    assert colour.search(coloured)
    assert not colour.search(plain)
