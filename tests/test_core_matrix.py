"""What the issue of this product promises of its core matrix, seen through the command on real shells."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import run_cli, valid_report

from conformance.paths import data_folder

NATIVE_FAILURES = {"native-2", "native-7", "native-42", "native-255", "killed-by-kill", "native-7-in-if-block"}

needs_pwsh = pytest.mark.skipif(
    not (os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh")),
    reason="pwsh is missing: start through `python3 bootstrap.py test`",
)
PWSH = {"CONFORMANCE_PWSH": os.environ.get("CONFORMANCE_PWSH")}


def results(report: Path) -> dict[str, dict[str, Any]]:
    return {line["id"]: line for line in valid_report(report).results}


@needs_pwsh
def test_raw_command_collapses_native_codes_and_the_reference_keeps_them(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    selection = [part for name in sorted(NATIVE_FAILURES) for part in ("--fixture", f"native-codes/{name}")]
    routes = ("--route", "pwsh-command", "--route", "pwsh-preserving")
    finished = run_cli("run", "full", *selection, *routes, "--report", report, env=PWSH)
    assert finished.code == 0, finished.out + finished.err
    found = results(report)
    for name in NATIVE_FAILURES:
        raw, reference = (found[f"native-codes/{name}/{route}"] for route in ("pwsh-command", "pwsh-preserving"))
        assert (raw["result"], raw["status"]) == ("deviates", {"kind": "exited", "code": 1})
        assert reference["result"] == "pass"


@needs_pwsh
def test_an_undocumented_loss_fails_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "matrices"
    shutil.copytree(data_folder("matrices"), folder)
    matrix = folder / "core.toml"
    matrix.write_text(matrix.read_text().partition("\n[[deviation]]")[0])
    case = ("-k", "native-codes/native-7/pwsh-command")
    finished = run_cli("run", matrix, *case, "--report", tmp_path / "report.jsonl", env=PWSH)
    assert finished.code == 1
    assert "expected exited(7), came exited(1): the code collapsed to 1" in finished.out


@needs_pwsh
def test_the_report_says_what_it_was_got_on_and_nothing_private(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    finished = run_cli("run", "-k", "exit-codes/exit-7/*-command", "--report", report, env=PWSH)
    assert finished.code == 0, finished.out
    header = valid_report(report).header
    shells = {shell["asked"]: shell for shell in header["runs"][0]["shells"]}
    assert set(shells) == {"bash", "sh", "pwsh"}
    assert all(shell["version"] != "unknown" for name, shell in shells.items() if name != "sh")
    assert len(header["suite"]["digest"]) == 64
    assert not {"TERM", "NO_COLOR"} & set(header["runs"][0]["child_environment"])
    assert str(Path.home()) + "/" not in report.read_text()
