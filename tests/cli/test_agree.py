"""`conformance agree`, and agreements of a matrix in whole runs: on real shells, and on miniatures that differ."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import COMMAND, Finished, call_cli, command_environment, run_cli, run_on_terminal, valid_report
from report_files import LOCAL_BASH, result_of, write_report

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the miniatures run /bin/sh")

MINIATURES = Path(__file__).parents[1] / "miniatures"
FEW = ("--fixture", "exit-codes/exit-[027]", "--fixture", "native-codes/native-[07]")
MINIATURE = """
[[route]]
id = "{name}"
kind = "one-shot"
dialects = ["sh"]
argv = ["/bin/sh", "{path}", "{{{{body}}}}"]
source = "https://example.org/miniature"
"""
DEVIATION = """
[[deviation]]
routes = ["{name}"]
fixtures = ["exit-codes/exit-7"]
observed.exit = 1
reason = "it only knows 0 and 1"
url = "https://example.org/documented"
"""
AGREEMENT = """
[[agreement]]
routes = ["bash-command", "{name}"]
fixtures = ["exit-codes/exit-*", "native-codes/*"]
except = ["exit-codes/exit-2"]
reason = "both are a shell"
url = "https://example.org/agreement"
"""


def miniature(folder: Path, name: str, more: str = "") -> Path:
    path = folder / f"{name}.toml"
    path.write_text((MINIATURE + more).format(name=name, path=MINIATURES / f"{name}.sh"))
    return path


def told(finished: Finished) -> Any:
    return json.loads(finished.out)


def test_routes_that_do_the_same() -> None:
    finished = run_cli("agree", "bash-command", "bash-file", "sh-command", *FEW)
    assert finished.code == 0
    assert finished.out == "bash-command, bash-file and sh-command do the same: 5 fixtures compared.\n"


def test_routes_that_differ_are_named_with_what_they_did_and_why(tmp_path: Path) -> None:
    finished = run_cli("agree", "bash-command", miniature(tmp_path, "collapses-to-1", DEVIATION), *FEW)
    assert finished.code == 1
    assert finished.out.splitlines() == [
        "bash-command and collapses-to-1 differ in 3 of 5 fixtures:",
        "",
        "2 fixtures: exit-codes/exit-7, native-codes/native-7",
        "  bash-command    exited(7)",
        "                    as the contract has it",
        "  collapses-to-1  exited(1)",
        "                    documented in 1: it only knows 0 and 1 (https://example.org/documented)",
        "                    not documented in 1",
        "",
        "1 fixture: exit-codes/exit-2",
        "  bash-command    exited(2)",
        "                    as the contract has it",
        "  collapses-to-1  exited(1)",
        "                    not documented",
    ]


def test_json_tells_all_that_is_shown(tmp_path: Path) -> None:
    finished = run_cli("agree", "bash-command", miniature(tmp_path, "collapses-to-1", DEVIATION), *FEW, "--json")
    whole = told(finished)
    assert (finished.code, whole["exit_code"]) == (1, 1)
    assert (whole["routes"], whole["equal"], whole["compared"]) == (["bash-command", "collapses-to-1"], "status", 5)
    assert (whole["left_out"], whole["cut_short"]) == ([], "")
    first = whole["differences"][0]
    assert first["fixtures"] == ["exit-codes/exit-7", "native-codes/native-7"]
    documented = first["sides"][1]["grounds"][0]
    assert first["sides"][1]["statuses"] == [{"kind": "exited", "code": 1}]
    assert documented == {
        "result": "deviates",
        "reason": "it only knows 0 and 1",
        "url": "https://example.org/documented",
        "fixtures": ["exit-codes/exit-7"],
    }


def test_bytes_are_compared_where_they_are_asked_for(tmp_path: Path) -> None:
    file = miniature(tmp_path, "swaps-streams")
    arguments = ("agree", "sh-command", file, "--fixture", "bytes/deny-json-exit-2")
    assert run_cli(*arguments).code == 0
    finished = run_cli(*arguments, "--equal", "bytes")
    assert finished.code == 1
    assert "stdout holds exactly what belongs on the other stream" in finished.out


# A report that exists.


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of two shells and of a miniature, which fails."""
    folder = tmp_path_factory.mktemp("report")
    file = miniature(folder, "collapses-to-1")
    routes = ("--route", "bash-command", "--route", "sh-command", "--route", file)
    path = folder / "report.jsonl"
    assert run_cli("run", *routes, *FEW, "--report", path).code == 1
    assert valid_report(path).complete
    return path


def test_a_report_is_judged_as_the_run_itself_is(report: Path) -> None:
    routes = ("bash-command", report.with_name("collapses-to-1.toml"))
    ran = run_cli("agree", *routes, *FEW)
    judged = call_cli("agree", *routes, "--report", report)
    assert (judged.code, judged.out, judged.err) == (1, ran.out, "")
    assert call_cli("agree", "bash-command", "sh-command", "--report", report).code == 0


def test_a_route_of_a_report_needs_no_file(report: Path) -> None:
    assert call_cli("agree", "bash-command", "collapses-to-1", "--report", report).code == 1


def test_only_the_fixtures_that_are_asked_for_are_judged(report: Path) -> None:
    judged = call_cli("agree", "bash-command", "collapses-to-1", "--report", report, "--fixture", "exit-codes/exit-0")
    assert (judged.code, judged.out) == (0, "bash-command and collapses-to-1 do the same: 1 fixture compared.\n")


def test_a_report_on_standard_input(report: Path) -> None:
    judged = subprocess.run(
        [*COMMAND, "agree", "bash-command", "collapses-to-1", "--report", "-"],
        input=report.read_bytes(),
        env=command_environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (judged.returncode, judged.stderr) == (1, b"")
    assert b"differ in 3 of 5 fixtures" in judged.stdout


def test_a_report_that_was_cut_short_is_said_to_be_so(report: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    lines = report.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:-2]))
    judged = call_cli("agree", "bash-command", "collapses-to-1", "--report", cut)
    assert judged.code == 1
    assert judged.out.endswith(f"\nincomplete: {cut} has the results of 14 of 15 cases\n")
    assert told(call_cli("agree", "bash-command", "sh-command", "--report", cut, "--json"))["cut_short"]


def changed(report: Path, folder: Path, **changes: Any) -> Path:
    """Return a copy of `report` in which the result of exit-7 through bash-command is another one."""
    lines = [json.loads(text) for text in report.read_text().splitlines()]
    for line in lines:
        if line.get("id") == "exit-codes/exit-7/bash-command":
            line.update(changes)
    path = folder / "changed.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("result", ["unavailable", "error"])
def test_what_was_not_seen_is_counted_and_the_exit_code_says_that_something_is_broken(
    result: str, report: Path, tmp_path: Path
) -> None:
    path = changed(report, tmp_path, result=result, reason="it is gone", steps=[], status=None, expected=None)
    judged = call_cli("agree", "bash-command", "collapses-to-1", "--report", path)
    assert judged.code == 3
    assert f"not compared: {result}: it is gone:\n  exit-codes/exit-7/bash-command (1)\n" in judged.out
    assert "differ in 2 of 4 fixtures" in judged.out


def test_a_route_that_cannot_be_started_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "gone.toml"
    file.write_text(MINIATURE.format(name="gone", path="x").replace('"/bin/sh"', '"/nonexistent/shell"'))
    finished = run_cli("agree", "sh-command", file, *FEW)
    assert finished.code == 3
    assert finished.out.startswith("Nothing was compared.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bash-command"], "two routes or more are compared"),
        ([], "two routes or more are compared"),
        (["bash-command", "bash-command"], "two routes or more are compared"),
        (["bash-command", "bash-comand"], "unknown route 'bash-comand'"),
        (["bash-command", "dash-command", "--report", "REPORT"], "has no result of the route 'dash-command'"),
        (["bash-command", "sh-command", "--report", "nowhere.jsonl"], "nowhere.jsonl: cannot be read as a report"),
        (["bash-command", "sh-command", "--report", "ODD"], "does not fit `conformance schema report`"),
        (["bash-command", "sh-command", "--report", "NEWER"], "not a report of format 2"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words: list[str], sentence: str, report: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.jsonl"
    newer.write_text(report.read_text().replace('"format": 2', '"format": 3'))
    files = {"REPORT": report, "ODD": changed(report, tmp_path, status="7"), "NEWER": newer}
    finished = call_cli("agree", *(files.get(word, word) for word in words))
    assert (finished.code, finished.out) == (2, "")
    assert sentence in finished.err
    assert finished.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [["bash-command", "pwsh-command", "--fixture", name] for name in ("posix/*", "errors/throw", "nosuch")],
    ids=" ".join,
)
def test_routes_that_take_no_fixture_together_have_nothing_to_compare(words: list[str]) -> None:
    finished = call_cli("agree", *words)
    assert (finished.code, finished.out) == (4, "")
    assert "nothing to compare" in finished.err or "no case matches" in finished.err


def test_a_terminal_breaks_no_word_of_an_address(report: Path, tmp_path: Path) -> None:
    shown = run_on_terminal(
        60, {}, "agree", "bash-command", "collapses-to-1", "--report", str(report), cwd=tmp_path, code=1
    )
    assert "native-codes/native-7" in shown
    assert "differ in 3 of 5 fixtures" in shown


# An agreement of a matrix.


def finding_of(finished: Finished, report: Path) -> list[str]:
    footer = valid_report(report).footer
    assert footer is not None
    findings: list[str] = footer["findings"]
    assert all(finding in finished.out for finding in findings)
    return findings


def run_agreement(folder: Path, file: Path, *options: str) -> tuple[Finished, list[str]]:
    report = folder / "r.jsonl"
    routes = ("--route", "bash-command", "--route", file)
    finished = run_cli("run", *routes, "--report", report, *options)
    return finished, finding_of(finished, report)


def test_an_agreement_that_holds_says_nothing(tmp_path: Path) -> None:
    finished, findings = run_agreement(tmp_path, miniature(tmp_path, "faithful", AGREEMENT), *FEW)
    assert (finished.code, findings) == (0, [])


def test_a_broken_agreement_fails_the_run_even_where_each_side_is_as_documented(tmp_path: Path) -> None:
    file = miniature(tmp_path, "collapses-to-1", DEVIATION + AGREEMENT)
    seven = ("--fixture", "exit-codes/exit-7", "--fixture", "exit-codes/exit-0")
    finished, (finding,) = run_agreement(tmp_path, file, *seven)
    assert finished.code == 1
    for part in (f"{file}:16", "both are a shell", "bash-command gives exited(7)", "collapses-to-1 gives exited(1)"):
        assert part in finding
    assert finding.count("exit-codes/") == 1


@pytest.mark.parametrize("part", [("-k", "collapses-to-1"), ("-k", "bash-command"), ("-k", "exit-codes/exit-2")])
def test_a_part_of_a_run_breaks_no_agreement(part: tuple[str, str], tmp_path: Path) -> None:
    file = miniature(tmp_path, "collapses-to-1", AGREEMENT)
    _, findings = run_agreement(tmp_path, file, *FEW, *part)
    assert findings == []


def test_shards_together_find_nothing_that_the_whole_does_not(tmp_path: Path) -> None:
    file = miniature(tmp_path, "faithful", AGREEMENT)
    for shard in ("1/3", "2/3", "3/3"):
        finished, findings = run_agreement(tmp_path, file, *FEW, "--shard", shard)
        assert (finished.code, findings) == (0, [])


@pytest.mark.parametrize("options", [[], ["-n2"]])
def test_a_session_of_pytest_fails_as_the_run_does(pytester: pytest.Pytester, options: list[str]) -> None:
    faithful, lossy = (
        MINIATURE.format(name=name, path=MINIATURES / f"{name}.sh") for name in ("faithful", "collapses-to-1")
    )
    agreement = AGREEMENT.format(name="collapses-to-1").replace("bash-command", "faithful")
    deviation = DEVIATION.format(name="collapses-to-1")
    matrix = f'fixtures = ["exit-codes/exit-[07]"]\n{faithful}{lossy}{deviation}{agreement}'
    (pytester.path / "matrix.toml").write_text(matrix)
    pytester.makeini("[pytest]\nconformance_matrices = matrix.toml\n")
    result = pytester.runpytest_subprocess(*options)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*conformance: matrix.toml:*: the agreement on status (both are a shell; *is broken: *"]
    )
    assert pytester.runpytest_subprocess("-k", "faithful", *options).ret == 0


def test_one_of_several_environments_is_chosen(tmp_path: Path) -> None:
    mac = "macos-arm64/bash-5.2.15/local"
    lines = [
        result_of("exit-codes/exit-0/a"),
        result_of("exit-codes/exit-0/b"),
        result_of("exit-codes/exit-0/a", environment=mac),
        result_of("exit-codes/exit-0/b", "fail", came=1, environment=mac),
    ]
    merged = write_report(tmp_path / "merged.jsonl", lines)
    refused = call_cli("agree", "a", "b", "--report", merged)
    assert (refused.code, refused.out) == (2, "")
    assert f"has results of a on {LOCAL_BASH}, {mac}. Choose one with --environment." in refused.err
    assert call_cli("agree", "a", "b", "--report", merged, "--environment", LOCAL_BASH).code == 0
    assert call_cli("agree", "a", "b", "--report", merged, "--environment", mac).code == 1
