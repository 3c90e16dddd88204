"""What the workflow runs on reports works: its own commands, on a small report, with this machine's bash."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from conftest import ROOT, command_environment
from report_files import result_of, write_report

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
pytestmark = pytest.mark.skipif(
    not WORKFLOW.exists() or shutil.which("bash") is None, reason="there is no workflow here, or no bash to run it"
)


def commands(step: str) -> str:
    """Return what the step called `step` runs."""
    text = WORKFLOW.read_text(encoding="utf-8")
    pattern = rf"^      - name: {step}\n(?:        .*\n)*?        run: \|\n((?:          .*\n)+)"
    found = re.search(pattern, text, re.MULTILINE)
    assert found, step
    return re.sub("^ {10}", "", found[1], flags=re.MULTILINE)


def run_step(step: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: by bash, which ends at the first command that fails."""
    own = re.sub(
        r"python bootstrap\.py (--yes )?exec conformance", f"'{sys.executable}' -m conformance", commands(step)
    )
    assert own != commands(step)
    environment = command_environment({"GITHUB_STEP_SUMMARY": str(folder / "summary.md")})
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", own]
    return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check_views(finished: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("::error title=fail t/b/r::fail for a reason%0Aon linux-x86_64/bash-5.2.15/local")
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("### ❌ conformance: 1 fail, in 2 results")
    assert len(list(ET.parse(folder / "junit.xml").getroot().iter("failure"))) == 1
    assert "t/b/r" in (folder / "page.html").read_text(encoding="utf-8")


def test_a_job_shows_a_summary_annotations_and_junit_of_one_report(tmp_path: Path) -> None:
    write_report(tmp_path / "report.jsonl", [result_of("t/a/r"), result_of("t/b/r", "fail", came=1)])
    check_views(run_step("views", tmp_path), tmp_path)


def test_a_job_joins_the_shards_of_the_others(tmp_path: Path) -> None:
    for part, line in enumerate([result_of("t/a/r"), result_of("t/b/r", "fail", came=1)], start=1):
        folder = tmp_path / "shards" / f"report-full-{part}"
        folder.mkdir(parents=True)
        write_report(folder / "report.jsonl", [line], shard=(part, 2))
    check_views(run_step("join", tmp_path), tmp_path)


def test_a_job_that_lacks_a_shard_fails(tmp_path: Path) -> None:
    folder = tmp_path / "shards" / "report-full-1"
    folder.mkdir(parents=True)
    write_report(folder / "report.jsonl", [result_of("t/a/r")], shard=(1, 2))
    finished = run_step("join", tmp_path)
    assert finished.returncode == 2
    assert "shard 2/2 of linux-x86_64/local is missing" in finished.stderr
