"""`conformance cite`: what it prints lets a reader see the result again, with bash alone."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import MATRIX, Finished, call_cli, run_cli
from report_files import result_of, write_report

import conformance
from conformance.catalog import load_catalog
from conformance.views.document import as_text

FAILING = "exit-codes/exit-7/always-0"
BYTES = """
fixtures = ["bytes/nul"]
[[route]]
id = "drops-nul"
kind = "one-shot"
dialects = ["bash", "sh"]
argv = ["bash", "-c", "bash {{body_file}} | tr -d '\\\\0'; exit 7"]
source = "https://example.org/drops-nul"
"""
LINE = "linux-x86_64/bash-5.2.15/local"


def script_in(markdown: str) -> str:
    """Return the one program in `markdown`, as a reader would copy it."""
    (script,) = re.findall(r"^```bash\n(.*?)^```$", markdown, re.DOTALL | re.MULTILINE)
    return str(script)


def run_with_bash_alone(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `script` as a reader would who has nothing of this project."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(folder)}
    return subprocess.run(
        ["bash", "--noprofile", "--norc"], input=script, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def route(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(MATRIX, encoding="utf-8")
    return path


@pytest.fixture
def report(route: Path, tmp_path: Path) -> Path:
    path = tmp_path / "report.jsonl"
    assert run_cli("run", route, "--report", path).code == 1
    return path


def check(cited: Finished, folder: Path) -> None:
    assert (cited.code, cited.err) == (0, "")
    assert cited.out.startswith(f"### {FAILING}: expected exited(7), came exited(0)\n")
    again = run_with_bash_alone(script_in(cited.out), folder)
    assert again.returncode == 1, again.stderr
    assert "status: exited 0\n" in again.stdout
    assert "expected status: exited 7\n" in again.stdout
    assert "contract: broken in status" in again.stdout


def test_a_reader_sees_a_failing_case_again_with_bash_alone(route: Path, tmp_path: Path) -> None:
    check(run_cli("cite", FAILING, "--matrix", "core", "--route", route), tmp_path)


def test_a_result_of_a_report_is_cited_with_its_script(route: Path, report: Path, tmp_path: Path) -> None:
    check(call_cli("cite", FAILING, "--report", report, "--route", route), tmp_path)


def test_a_case_that_is_kept_can_be_cited_and_seen_as_well(route: Path, report: Path, tmp_path: Path) -> None:
    cited = call_cli("cite", "exit-codes/exit-7/faithful", "--report", report, "--route", route)
    assert cited.out.startswith("### exit-codes/exit-7/faithful: expected exited(7), came exited(7)\n")
    assert run_with_bash_alone(script_in(cited.out), tmp_path).returncode == 0


def test_all_that_a_bug_report_needs_is_in_it(route: Path, report: Path) -> None:
    catalog = load_catalog(["core"], [route])
    digest = load_catalog([str(route)]).digest
    assert digest != catalog.digest
    cited = call_cli("cite", FAILING, "--report", report, "--route", route).out
    fixture = next(fixture for fixture in catalog.fixtures if fixture.id == "exit-codes/exit-7")
    expectation = fixture.steps[0].expectations[0]
    for part in (
        FAILING,
        f"shell-exit-conformance {conformance.__version__}, SHA-256 {digest}",
        "- expected: exited(7)\n",
        "- came: exited(0)\n",
        "the failure is reported as success",
        expectation.reason,
        expectation.url,
        f"body in sh:\n\n```text\n{fixture.steps[0].bodies['sh']}",
        "sh\n-c\nsh {{body_file}}; exit 0\n",
        fixture.summary,
    ):
        assert part in cited, part
    assert re.search(r"^- environment: `?\w+-\w+/sh-\S+/local`?$", cited, re.MULTILINE)


def test_the_shell_and_the_system_of_the_result_are_named(tmp_path: Path) -> None:
    cited = call_cli("cite", FAILING, "--report", write(tmp_path, result_of(FAILING))).out.replace("`", "")
    assert f"- environment: {LINE}\n- shell: bash 5.2.15, /bin/bash (PATH)\n- system:  (release 6.1)\n" in cited


def test_bytes_that_differ_are_dumped_around_the_first_one(tmp_path: Path) -> None:
    route = tmp_path / "bytes.toml"
    route.write_text(BYTES, encoding="utf-8")
    cited = run_cli("cite", "bytes/nul/drops-nul", "--matrix", "core", "--route", route).out
    assert "the first difference is at byte offset " in cited
    dumps = re.findall(r"^  (expected|        |came    ) ([0-9a-f]{8})  ((?:[0-9a-f]{2} ?)+)", cited, re.MULTILINE)
    assert {name.strip() for name, _, _ in dumps} >= {"expected", "came"}
    expected = next(row for name, _, row in dumps if name == "expected")
    came = next(row for name, _, row in dumps if name.strip() == "came")
    assert "00" in expected.split()
    assert "00" not in came.split()


def write(tmp_path: Path, *lines: Mapping[str, Any]) -> Path:
    return write_report(tmp_path / "report.jsonl", lines)


def test_a_code_of_32_bits_is_shown_in_both_ways(tmp_path: Path) -> None:
    line = result_of(FAILING, "fail", came=0xC0000005, environment="windows-amd64/cmd-10.0/local")
    cited = call_cli("cite", FAILING, "--report", write(tmp_path, line)).out
    assert "- came: exited(3221225477 = 0xC0000005)\n" in cited.replace("`", "")


def test_one_of_several_environments_is_chosen(tmp_path: Path) -> None:
    mac = "macos-arm64/bash-5.2.15/local"
    report = write(tmp_path, result_of(FAILING), result_of(FAILING, "fail", came=1, environment=mac))
    refused = call_cli("cite", FAILING, "--report", report)
    assert refused.code == 2
    assert f"{LINE}, {mac}" in refused.err
    assert "--environment" in refused.err
    chosen = call_cli("cite", FAILING, "--report", report, "--environment", mac)
    assert chosen.code == 0
    assert f"- environment: {mac}\n" in chosen.out.replace("`", "")


@pytest.mark.parametrize(("id_", "options"), [("a/b/c", []), (FAILING, ["--environment", "elsewhere"])])
def test_what_a_report_has_not_is_one_sentence(id_: str, options: list[str], tmp_path: Path) -> None:
    refused = call_cli("cite", id_, "--report", write(tmp_path, result_of(FAILING)), *options)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "has no result of the case" in refused.err


def test_the_script_is_of_the_catalogue_and_never_of_another_suite(tmp_path: Path) -> None:
    """The report of a stranger may say anything of a body; what is to be run comes from here."""
    cited = call_cli(
        "cite",
        "exit-codes/exit-7/bash-command",
        "--report",
        write(tmp_path, result_of("exit-codes/exit-7/bash-command")),
    )
    assert cited.code == 0
    assert "```bash" not in cited.out
    assert "is not the one of the report" in cited.out


def test_what_no_script_shows_is_said(tmp_path: Path) -> None:
    digest = load_catalog(["sessions"]).digest
    id_ = "sessions/variable/bash-session"
    line = result_of(id_)
    report = write_report(tmp_path / "report.jsonl", [line], digest=digest)
    report.write_text(report.read_text().replace('"matrices": ["core"]', '"matrices": ["sessions", "core"]'))
    cited = call_cli("cite", id_, "--report", report)
    assert cited.code == 0
    assert f"`conformance explain {id_}`" in cited.out.replace("``", "`")


def test_a_case_that_was_not_run_is_cited_with_the_reason(tmp_path: Path) -> None:
    cited = call_cli("cite", FAILING, "--report", write(tmp_path, result_of(FAILING, "unavailable")))
    assert cited.out.startswith(f"### {FAILING}: unavailable\n")
    assert "unavailable for a reason" in cited.out


def test_markdown_and_text_are_made_of_the_same_sections() -> None:
    from conformance.views.document import Script, Section

    shown = as_text([Section("t", (Script("how", "bash", "echo 1\n"),))])
    assert shown == "t\n  how:\necho 1\n"
