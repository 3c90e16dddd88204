"""`conformance systems`: what can be installed, and what systems that were run lose."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished, call_cli, run_cli, run_on_terminal, valid_report

from conformance.systems import find_system, folder_name, system_names

posix = pytest.mark.skipif(sys.platform == "win32", reason="the adapter of these tests runs /bin/sh")

ADAPTER = r"""
import base64, json, subprocess, sys
name, folder = sys.argv[1:]
print(json.dumps({"protocol": 1, "name": name, "version": "1.2.3", "capabilities": {
    "output": "text" if name == "teller" else "bytes", "stderr": "separate", "env": True, "cwd": True}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    run = subprocess.run(["/bin/sh", "-c", request["body"]], cwd=request["cwd"], env=request["env"],
                         stdin=subprocess.DEVNULL, capture_output=True)
    code = {"liar": 0, "collapser": min(run.returncode, 1)}.get(name, run.returncode)
    stdout, stderr = (base64.b64encode(stream).decode() for stream in (run.stdout, run.stderr))
    reply = {"id": request["id"], "status": {"kind": "exited", "code": code}, "stdout": stdout, "stderr": stderr}
    print(json.dumps(reply), flush=True)
"""
ROUTE = """
[[route]]
id = "{name}"
kind = "adapter"
dialects = ["sh"]
argv = ["{{{{python}}}}", "{{{{folder}}}}/adapter.py", "{name}", "{{{{system:launchers}}}}"]
source = "https://example.org/{name}"
"""
DEVIATION = """
[[deviation]]
routes = ["liar"]
fixtures = ["exit-codes/exit-*"]
observed.exit = 0
reason = "Whatever a hook denies is done, since its users are told of no failure"
url = "https://example.org/liar"
"""
FIXTURES = ("exit-codes/exit-[027]", "bytes/stdin-64k-plus-1-read")


def install(cache: Path, name: str) -> Path:
    """Make a folder as an installation does."""
    folder = cache / "shell-exit-conformance" / "systems" / folder_name(name)
    folder.mkdir(parents=True)
    for path in (folder, folder.parent, folder.parent.parent):
        path.chmod(0o700)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


# The list.


def test_the_list_says_what_there_is_and_whether_it_is_installed(cache: Path) -> None:
    install(cache, "launchers")
    finished = call_cli("systems", "list")
    assert (finished.code, finished.err) == (0, "")
    lines = finished.out.splitlines()
    assert [line.split("  ", 1)[0] for line in lines[::4]] == list(system_names())
    assert [line.endswith("not installed") for line in lines[::4]] == [True, False, True]
    launchers = find_system("launchers")
    assert lines[4:8] == [
        "launchers         installed",
        f"  {launchers.summary}",
        f"  {launchers.homepage}",
        "  cross-spawn 7.0.6, execa 9.6.1, shelljs 0.10.0, tinyexec 1.4.0, zx 8.8.5",
    ]


@pytest.mark.parametrize("words", [[], ["--list"]], ids=["nothing", "--list"])
def test_other_ways_to_ask_for_the_list(words: list[str]) -> None:
    assert call_cli("systems", *words) == call_cli("systems", "list")
    assert call_cli("systems", *words, "--json") == call_cli("systems", "list", "--json")


def test_the_list_as_json(cache: Path) -> None:
    install(cache, "node-powershell")
    systems = json.loads(call_cli("systems", "list", "--json").out)
    assert {system["name"]: system["installed"] for system in systems} == {
        "deepseek-harness": False, "launchers": False, "node-powershell": True,
    }  # fmt: skip
    assert set(systems[2]) == {"name", "summary", "homepage", "packages", "installed"}
    assert systems[2]["packages"] == {"node-powershell": "5.0.1"}


@pytest.mark.parametrize("option", ["--list", "--json"])
def test_an_option_of_the_list_before_another_subcommand_is_refused(option: str) -> None:
    finished = call_cli("systems", option, "install", "launchers")
    assert (finished.code, finished.out) == (2, "")
    assert "write them behind `install`" in finished.err


def test_systems_are_named_where_there_is_a_choice() -> None:
    assert "Missing argument 'NAME...|all'" in call_cli("systems", "install").err


@pytest.mark.parametrize("subcommand", ["list", "install", "report"])
def test_help(subcommand: str) -> None:
    finished = call_cli("systems", subcommand, "--help")
    assert (finished.code, finished.err) == (0, "")
    assert finished.out.startswith("Usage: ")


# Routes on installed systems, and what is reported of them.


def run(folder: Path, *names: str, deviation: str = DEVIATION) -> tuple[Finished, Path]:
    """Run a few cases through adapters, each called what it does to hooks."""
    (folder / "adapter.py").write_text(ADAPTER)
    matrix = folder / "mine.toml"
    matrix.write_text("".join(ROUTE.format(name=name) for name in names) + deviation)
    report = folder / "conformance-report.jsonl"
    fixtures = (word for glob in FIXTURES for word in ("--fixture", glob))
    finished = run_cli(
        "run", "--route", matrix, *fixtures, "--report", report, env={"XDG_CACHE_HOME": str(folder / "cache")}
    )
    return finished, report


@posix
def test_the_cases_of_what_is_not_installed_are_unavailable(cache: Path, tmp_path: Path) -> None:
    finished, report = run(tmp_path, "faithful", deviation="")
    assert finished.code == 0
    assert {(line["result"], line["reason"]) for line in valid_report(report).results} == {
        ("unavailable", "launchers is not installed: run `conformance systems install launchers`")
    }
    reported = call_cli("systems", "report", "--report", report)
    assert (reported.code, reported.out) == (4, "")
    assert "has no result of a system. Install some (`conformance systems install all`)" in reported.err
    assert not (cache / "shell-exit-conformance" / "systems").exists()


@posix
def test_what_others_can_change_is_not_used(cache: Path, tmp_path: Path) -> None:
    install(cache, "launchers").chmod(0o777)
    finished, report = run(tmp_path, "faithful", deviation="")
    assert finished.code == 3
    for line in valid_report(report).results:
        assert line["result"] == "error"
        assert " can be written by other users: run chmod go-w on it" in line["reason"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of systems that differ in what they do to a failure."""
    if sys.platform == "win32":
        pytest.skip("the adapter runs /bin/sh")
    folder = tmp_path_factory.mktemp("systems")
    install(folder / "cache", "launchers")
    finished, path = run(folder, "faithful", "collapser", "liar", "teller")
    assert finished.code == 1
    assert valid_report(path).complete
    return path


def test_the_report_is_a_line_for_each_system_the_worst_first(report: Path) -> None:
    finished = call_cli("systems", "report", "--report", report)
    assert (finished.code, finished.err) == (0, "")
    lines = [line.split(None, 4) for line in finished.out.splitlines()]
    assert [line[:4] for line in lines] == [
        ["lost", "judged", "basis", "route"],
        ["2", "3", "bytes", "liar"],
        ["2", "3", "bytes", "collapser"],
        ["0", "3", "bytes", "faithful"],
        ["0", "3", "text", "teller"],
    ]
    collapsed = "the code collapsed to 1, so a caller that blocks on 2 takes the hook for broken and carries on"
    assert [line[4] for line in lines[1:]] == [
        f"{told} [skipped 1: the system gives a body no standard input]"
        for told in (
            "liar 1.2.3: Whatever a hook denies is done, since its users are told of no failure",
            f"collapser 1.2.3: {collapsed}",
            "faithful 1.2.3: nothing",
            "teller 1.2.3: nothing",
        )
    ]


def test_the_report_of_the_last_run_is_taken_where_none_is_named(report: Path) -> None:
    named = call_cli("systems", "report", "--report", report)
    assert run_cli("systems", "report", cwd=report.parent) == named


def told(finished: Finished) -> Any:
    return json.loads(finished.out)


def test_the_report_as_json(report: Path) -> None:
    whole = told(call_cli("systems", "report", "--report", report, "--json"))
    assert (whole["cut_short"], whole["nothing_known"]) == ("", [])
    assert whole["systems"][0] == {
        "route": "liar",
        "systems": ["liar 1.2.3"],
        "basis": ["bytes"],
        "environments": whole["systems"][1]["environments"],
        "judged": 3,
        "lost": 2,
        "losses": [
            {
                "harm": "failure as success",
                "what": "Whatever a hook denies is done, since its users are told of no failure",
                "url": "https://example.org/liar",
                "fixtures": ["exit-codes/exit-2", "exit-codes/exit-7"],
            }
        ],
        "not_judged": [
            {
                "result": "skipped",
                "reason": "the system gives a body no standard input",
                "fixtures": ["bytes/stdin-64k-plus-1-read"],
            }
        ],
    }


def test_a_report_that_was_cut_short_is_said_to_be_so(report: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(report.read_text().splitlines(keepends=True)[:-2]))
    finished = call_cli("systems", "report", "--report", cut)
    assert finished.code == 0
    assert finished.out.endswith(f"\nincomplete: {cut} has the results of 15 of 16 cases\n")


def test_a_system_whose_adapter_broke_is_told_apart_from_one_that_loses_nothing(report: Path, tmp_path: Path) -> None:
    lines = [json.loads(text) for text in report.read_text().splitlines()]
    for line in lines:
        if line.get("id") == "exit-codes/exit-7/faithful":
            line.update(result="error", reason="it broke", steps=[], status=None, expected=None, system=None)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(json.dumps(line) + "\n" for line in lines))
    finished = call_cli("systems", "report", "--report", broken)
    assert finished.code == 0
    assert re.search(r"^ *0 +2 +bytes +faithful +faithful 1.2.3: nothing \[.*error 1: it broke", finished.out, re.M)


def test_routes_that_nothing_is_known_of_are_named(report: Path, tmp_path: Path) -> None:
    lines = [json.loads(text) for text in report.read_text().splitlines()]
    for line in lines:
        if line.get("route") == "faithful":
            line.update(result="unavailable", reason="it is gone", steps=[], status=None, expected=None, system=None)
    gone = tmp_path / "gone.jsonl"
    gone.write_text("".join(json.dumps(line) + "\n" for line in lines))
    finished = call_cli("systems", "report", "--report", gone)
    assert finished.code == 0
    assert finished.out.endswith("\nnothing is known of faithful: unavailable: it is gone\n")
    assert told(call_cli("systems", "report", "--report", gone, "--json"))["nothing_known"] == [
        {"result": "unavailable", "reason": "it is gone", "routes": ["faithful"]}
    ]


def test_text_of_others_cannot_play_with_the_terminal(report: Path, tmp_path: Path) -> None:
    lines = [json.loads(text) for text in report.read_text().splitlines()]
    for line in lines:
        if line.get("system"):
            line["system"]["name"] = "\x1b]0;name\x07\u202e"
    odd = tmp_path / "odd.jsonl"
    odd.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = call_cli("systems", "report", "--report", odd).out
    assert "\x1b" not in out
    assert r"\x1b]0;name\x07\u202e 1.2.3: nothing" in out


def test_a_narrow_terminal_gets_every_word(report: Path) -> None:
    shown = run_on_terminal(50, {}, "systems", "report", "--report", str(report), cwd=report.parent)
    assert "since its users are told of no failure" in shown.replace("\n", "")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere.jsonl", "nowhere.jsonl: there is no such report. Run `conformance run systems`, or name one with"),
        ("README.md", "README.md:1: not a line of a report"),
        ("newer.jsonl", "not a report of format 2"),
    ],
)
def test_what_is_no_report_is_one_sentence(name: str, sentence: str, report: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Words\n")
    (tmp_path / "newer.jsonl").write_text(report.read_text().replace('"format": 2', '"format": 3'))
    finished = call_cli("systems", "report", "--report", tmp_path / name)
    assert (finished.code, finished.out) == (2, "")
    assert sentence in finished.err
    assert finished.err.count("\n") == 1
