"""`conformance report` makes views of a report: what they say, where they go, and what the command exits with."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from conftest import DEVIATION, MATRIX, call_cli, run_cli, run_on_terminal
from report_files import LOCAL_BASH, Line, footer_of, header_of, result_of, write_lines, write_report

MAC = "macos-arm64/bash-5.2.15/local"
LOST = [{"subject": "status", "meaning": "the code collapsed"}]
LINES = [
    result_of("t/a/bash"),
    result_of("t/b/bash", "fail", came=1, reason="expected 0, came 1: the code collapsed\nRule: it must"),
    result_of("t/c/bash", "deviates", came=1),
    result_of("t/d/bash", "fixed"),
    result_of("t/e/bash", "error", reason="the adapter broke"),
    result_of("t/f/bash", "unavailable", reason="pwsh is missing"),
    result_of("t/g/bash", "skipped", reason="the route cannot say it"),
    result_of("t/h/bash", "fail", came=1, provisional=True),
]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return write_report(tmp_path / "report.jsonl", LINES)


def view(report: Path, name: str) -> str:
    shown = call_cli("report", report, f"--{name}", "-")
    assert (shown.code, shown.err) == (0, "")
    return shown.out


def test_what_is_wrong_stands_first_then_the_grid_then_the_counts(report: Path) -> None:
    shown = call_cli("report", report)
    assert (shown.code, shown.err) == (0, "")
    order = [
        "1 error, 2 fail, 1 fixed, 1 of these provisional, in 8 results\n",
        "\nERROR: t/e/bash: the adapter broke\n",
        f"\nFAIL t/b/bash on {LOCAL_BASH}\nexpected 0, came 1: the code collapsed\nRule: it must\n",
        f"\nFAIL t/h/bash on {LOCAL_BASH} (provisional",
        f"\nFIXED t/d/bash on {LOCAL_BASH}\n",
        "\nfixture  bash\n",
        "\nt/b      FAIL 0>1\n",
        "\nnot run: t/f/bash: pwsh is missing\n",
        "\n    1 pass ",
    ]
    places = [shown.out.index(text) for text in order]
    assert places == sorted(places)


def test_a_run_says_first_what_is_wrong_as_well(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MATRIX, encoding="utf-8")
    run = run_cli("run", tmp_path / "mine.toml", "--report", tmp_path / "r", cwd=tmp_path)
    assert run.code == 1
    assert run.out.startswith("1 fail, in 4 results\n\nFAIL exit-codes/exit-7/always-0 on ")
    assert run.out.index("FAIL exit-codes") < run.out.index("fixture ") < run.out.index("    3 pass")
    shown = call_cli("report", tmp_path / "r")
    assert run.out == shown.out


def test_a_merged_report_has_a_column_for_each_environment_of_a_route(tmp_path: Path) -> None:
    lines = [result_of("t/a/bash"), result_of("t/a/bash", "fail", came=1, environment=MAC)]
    report = write_report(tmp_path / "r", lines, cases=2)
    assert call_cli("report", report).out.split("\n\n")[2] == (
        "         bash          bash\n"
        "         linux-x86_64  macos-arm64\n"
        "         bash-5.2.15   bash-5.2.15\n"
        "fixture  local         local\n"
        "t/a      ok            FAIL 0>1"
    )
    rows = view(report, "markdown")
    assert f"| `bash` | `{LOCAL_BASH}` | 1 |  |" in rows
    assert f"| `bash` | `{MAC}` |  | 1 |" in rows


@pytest.mark.skipif(os.name == "nt", reason="there is no pty on Windows")
@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_there_is_no_colour_where_none_is_wanted(changes: dict[str, str | None], report: Path, tmp_path: Path) -> None:
    assert "\x1b[" in run_on_terminal(80, {"NO_COLOR": None}, "report", str(report), cwd=tmp_path)
    plain = run_on_terminal(80, {"NO_COLOR": None, **changes}, "report", str(report), cwd=tmp_path)
    assert "\x1b[3" not in plain
    assert "FAIL t/b/bash" in plain


def test_a_narrow_terminal_gets_letters(report: Path, tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("there is no pty on Windows")
    shown = re.sub("\x1b\\[[0-9;]*m", "", run_on_terminal(15, {}, "report", str(report), cwd=tmp_path))
    assert "\nt/b      F\n" in shown
    assert "1 bash" in shown


def test_markdown_says_first_what_is_wrong_and_folds_it(report: Path) -> None:
    text = view(report, "markdown")
    assert text.startswith("### ❌ conformance: 1 error, 2 fail, 1 fixed, 1 of these provisional, in 8 results\n")
    assert text.count("<details>") == text.count("</details>") == 4
    assert f"- `t/b/bash` on `{LOCAL_BASH}`: expected `exited(0)`, came `exited(1)`\n" in text
    assert "\n  expected 0, came 1: the code collapsed\n" in text
    assert text.index("#### ") < text.index("#### Routes")
    assert "| `bash` | `linux-x86_64/bash-5.2.15/local` | 1 | 1 | 2 | 1 | 1 | 1 | 1 |" in text


def test_markdown_stays_below_what_a_summary_may_have(tmp_path: Path) -> None:
    lines = [result_of(f"t/n-{number}/bash", "fail", came=1, reason="é" * 5000) for number in range(400)]
    text = view(write_report(tmp_path / "r", lines), "markdown")
    assert len(text.encode()) < 1024 * 1024
    assert re.search(r"^- and \d+ more: the report has them all$", text, re.MULTILINE)


def test_junit_says_what_each_case_is(report: Path) -> None:
    whole, suite = ET.fromstring(view(report, "junit"))
    assert [case.get("name") for case in whole] == ["complete", "findings", "required-shells"]
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    found = {name: sorted(child.tag for child in case if child.tag != "system-out") for name, case in cases.items()}
    assert found == {
        "t/a/bash": [], "t/b/bash": ["failure"], "t/c/bash": [], "t/d/bash": ["failure"], "t/e/bash": ["error"],
        "t/f/bash": ["skipped"], "t/g/bash": ["skipped"], "t/h/bash": ["skipped"],
    }  # fmt: skip
    failure = cases["t/b/bash"].find("failure")
    assert failure is not None
    assert failure.get("message") == "expected 0, came 1: the code collapsed"
    assert cases["t/b/bash"].get("classname") == "linux-x86_64/bash-5_2_15/local.bash"
    assert cases["t/b/bash"].get("time") == "0.100"
    assert "deviates as documented: it is so (https://" in (cases["t/c/bash"].findtext("system-out") or "")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8", "failures": "2", "errors": "1", "skipped": "3",
    }  # fmt: skip


def test_csv_has_what_a_table_needs(report: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(view(report, "csv"), newline="")))
    assert len(rows) == len(LINES)
    second = rows[1]
    assert (second["id"], second["result"], second["expected_code"], second["status_code"]) == (
        "t/b/bash",
        "fail",
        "0",
        "1",
    )
    assert second["reason"] == "expected 0, came 1: the code collapsed"
    assert rows[2]["deviation_url"] == "https://example.org/deviation"


@pytest.mark.parametrize(
    ("lines", "message", "color"),
    [
        ([result_of("t/a/r")], "1 result, all as documented", "brightgreen"),
        ([result_of("t/a/r"), result_of("t/b/r", "fail", came=1)], "1 fail, in 2 results", "red"),
        ([result_of("t/a/r", "error")], "1 error, in 1 result", "red"),
    ],
)
def test_a_badge_says_it_in_three_words(lines: list[Line], message: str, color: str, tmp_path: Path) -> None:
    badge: dict[str, Any] = json.loads(view(write_report(tmp_path / "r", lines), "badge"))
    assert (badge["message"], badge["color"]) == (message, color)
    assert badge["isError"] is False


def test_annotations_are_errors_and_what_is_provisional_a_warning(report: Path) -> None:
    shown = call_cli("report", report, "--annotations")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        f"::error title=error t/e/bash::the adapter broke%0Aon {LOCAL_BASH}",
        f"::error title=fail t/b/bash::expected 0, came 1: the code collapsed%0ARule: it must%0Aon {LOCAL_BASH}",
        f"::error title=fixed t/d/bash::fixed for a reason%0Aon {LOCAL_BASH}",
        f"::warning title=provisional fail t/h/bash::fail for a reason%0Aon {LOCAL_BASH}",
    ]


def test_annotations_are_no_more_than_are_shown(tmp_path: Path) -> None:
    lines = [result_of(f"t/n-{number:02}/bash", "fail", came=1) for number in range(30)]
    shown = call_cli("report", write_report(tmp_path / "r", lines), "--annotations").out.splitlines()
    assert len(shown) == 10
    assert shown[-1] == "::error title=conformance%3A 21 more::and 21 more: the report has them all"


def incomplete(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "cut.jsonl", header_of(LINES, cases=9), *LINES)


def test_a_report_that_was_cut_short_says_so_everywhere(tmp_path: Path) -> None:
    report = incomplete(tmp_path)
    said = "cut short after 8 of 9 cases"
    assert call_cli("report", report).out.startswith(f"incomplete: it was {said}")
    assert said in view(report, "markdown").split("\n")[0]
    assert said in view(report, "junit")
    assert json.loads(view(report, "badge"))["message"] == "incomplete"
    assert (
        f"::error title=conformance%3A incomplete::incomplete: it was {said}"
        in call_cli("report", report, "--annotations").out
    )
    assert "incomplete" in view(report, "html").lower()


def test_findings_are_told_everywhere(tmp_path: Path) -> None:
    lines = [result_of("t/a/r")]
    report = write_lines(tmp_path / "r", header_of(lines), *lines, footer_of(lines, findings=["a route is misstated"]))
    assert "\nFAIL a route is misstated\n" in call_cli("report", report).out
    for name in ("markdown", "junit", "html"):
        assert "a route is misstated" in view(report, name)
    assert (
        "::error title=conformance%3A finding::a route is misstated\n"
        in call_cli("report", report, "--annotations").out
    )


@pytest.mark.parametrize(
    ("lines", "code"),
    [([result_of("t/a/r")], 0), ([result_of("t/a/r", "fail", came=1)], 1), ([result_of("t/a/r", "error")], 3)],
)
def test_it_exits_as_the_run_did_where_that_is_wanted(lines: list[Line], code: int, tmp_path: Path) -> None:
    report = write_report(tmp_path / "r", lines)
    assert call_cli("report", report).code == 0
    assert call_cli("report", report, "--exit-code").code == code
    assert call_cli("report", incomplete(tmp_path), "--exit-code", "--badge", tmp_path / "b").code == 3


def test_many_views_are_made_at_once_and_none_is_left_half_written(report: Path, tmp_path: Path) -> None:
    names = ("html", "markdown", "junit", "csv", "badge")
    places = {name: tmp_path / f"view.{name}" for name in names}
    options = [word for name, place in places.items() for word in (f"--{name}", place)]
    made = call_cli("report", report, *options, "--annotations")
    assert made.code == 0
    assert made.out.startswith("::error")
    for name, place in places.items():
        assert place.read_bytes().decode() == view(report, name)
    before = {place: place.read_bytes() for place in places.values()}
    (tmp_path / "bad.jsonl").write_text("no report\n")
    assert call_cli("report", tmp_path / "bad.jsonl", *options).code == 2
    assert {place: place.read_bytes() for place in places.values()} == before
    assert not list(tmp_path.glob("*.part"))


def test_two_views_cannot_both_be_printed(report: Path) -> None:
    refused = call_cli("report", report, "--csv", "-", "--annotations")
    assert (refused.code, refused.out) == (2, "")
    assert "only one view can be standard output" in refused.err


@pytest.mark.parametrize("name", ["html", "markdown", "junit", "csv", "badge"])
def test_a_view_that_cannot_be_written_is_one_sentence(name: str, report: Path, tmp_path: Path) -> None:
    place = tmp_path / "no-such-folder" / "view"
    refused = call_cli("report", report, f"--{name}", place)
    assert (refused.code, refused.out) == (2, "")
    assert re.fullmatch(rf"conformance: --{name} .*: cannot be written: .*\. Choose another place\.\n", refused.err)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("name", ["html", "markdown", "junit", "csv", "badge"])
def test_a_view_for_which_there_is_no_room_is_one_sentence(name: str, report: Path) -> None:
    refused = call_cli("report", report, f"--{name}", "/dev/full")
    assert (refused.code, refused.out) == (3, "")
    assert re.fullmatch(rf"conformance: --{name} /dev/full: cannot be written: .* Make room, .*\n", refused.err)


def test_a_report_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    refused = call_cli("report", tmp_path / "none.jsonl")
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "there is no such report. Run `conformance run`" in refused.err


def test_a_documented_deviation_is_no_fault_in_any_view(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MATRIX + DEVIATION.format(code=0), encoding="utf-8")
    report = tmp_path / "r"
    assert run_cli("run", tmp_path / "mine.toml", "--report", report, cwd=tmp_path).code == 0
    assert call_cli("report", report, "--annotations").out == ""
    assert "<failure" not in view(report, "junit")
    assert view(report, "markdown").startswith("### ✅ conformance: ")
