"""What the plug-in makes of a whole pytest session: its report, its shards, and what it leaves behind."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from conftest import DEVIATION, MATRIX, call_cli, command_environment, run_cli, valid_report, write_matrix
from packaging.version import Version

from conformance.report.reader import Report

UNUSED = """
[[deviation]]
routes = ["faithful"]
fixtures = ["exit-codes/exit-0"]
observed.exit = 0
reason = "it documents what the contract asks for"
url = "https://example.org/faithful"
"""
NEEDS_PWSH = """
required = ["pwsh"]
fixtures = ["exit-codes/exit-7"]
[[route]]
id = "p"
kind = "one-shot"
dialects = ["pwsh"]
argv = ["{{pwsh}}", "-Command", "{{body}}"]
source = "https://example.org"
"""


def told(report: Report) -> dict[str, Any]:
    """Return what a report says, without what differs from run to run."""
    (run,) = report.header["runs"]
    kept = report.header | {"runs": [{key: value for key, value in run.items() if key != "started_at"}]}
    results = {
        line["id"]: (line["environment"], line["result"], line["status"], line["reason"]) for line in report.results
    }
    assert report.footer is not None
    return kept | {"lines": results, "results": report.footer["results"], "code": report.footer["exit_code"]}


WORKSTEAL = pytest.param(
    ["-n2", "--dist=worksteal"],
    marks=pytest.mark.skipif(Version(version("pytest-xdist")) < Version("3.2"), reason="this xdist steals no work"),
)


@pytest.mark.parametrize("options", [[], ["-n2"], WORKSTEAL, ["-n2", "--dist=loadfile"]])
def test_the_report_is_that_of_the_command(project: pytest.Pytester, options: list[str]) -> None:
    write_matrix(project, MATRIX)
    project.makepyfile(test_mine="def test_mine(): pass")
    result = project.runpytest_subprocess("--conformance-report=pytest.jsonl", *options)
    result.assert_outcomes(passed=4, failed=1)
    run_cli("run", "matrix.toml", "--report", "run.jsonl", cwd=project.path)
    by_command = told(valid_report(project.path / "run.jsonl"))
    by_pytest = told(valid_report(project.path / "pytest.jsonl"))
    assert by_pytest == by_command
    assert by_pytest["code"] == 1


def test_a_session_that_stops_early_leaves_an_incomplete_report(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    project.runpytest_subprocess("--conformance-report=r.jsonl", "-x", "-k", "exit-7").assert_outcomes(failed=1)
    report = valid_report(project.path / "r.jsonl")
    assert [line["id"] for line in report.results] == ["exit-codes/exit-7/always-0"]
    assert report.header["cases"] == 2
    assert not report.complete


@pytest.mark.parametrize("options", [[], ["-n2"]])
def test_a_matrix_outside_of_the_project_is_recorded_as_well(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory, options: list[str]
) -> None:
    matrix = tmp_path_factory.mktemp("elsewhere") / "matrix.toml"
    matrix.write_text(MATRIX)
    pytester.makeini(f"[pytest]\nconformance_matrices = {matrix}\n")
    pytester.makepyfile(
        "import pytest\n@pytest.mark.parametrize('name', ['foo.toml::exit-codes/bar'])\ndef test_mine(name): pass\n"
    )
    pytester.runpytest_subprocess("--conformance-report=r.jsonl", *options).assert_outcomes(passed=4, failed=1)
    report = valid_report(pytester.path / "r.jsonl")
    assert report.complete
    routes = [route["id"] for route in report.header["routes"]]
    assert (report.header["cases"], routes) == (4, ["faithful", "always-0"])


def test_a_worker_that_crashes_leaves_an_incomplete_report(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    matrix = tmp_path_factory.mktemp("elsewhere") / "matrix.toml"
    matrix.write_text(MATRIX)
    pytester.makeini(f"[pytest]\nconformance_matrices = {matrix}\n")
    pytester.makepyfile(
        crasher="import os\n"
        "def pytest_runtest_setup(item):\n"
        "    if item.name == 'exit-codes/exit-7/faithful': os._exit(1)\n"
    )
    result = pytester.runpytest_subprocess(
        "-p", "crasher", "--conformance-report=r.jsonl", "-n2", "--max-worker-restart=0"
    )
    assert result.ret != 0
    report = valid_report(pytester.path / "r.jsonl")
    assert not report.complete
    assert "exit-codes/exit-7/faithful" not in {line["id"] for line in report.results}
    result.stdout.fnmatch_lines(["conformance: the report r.jsonl is incomplete"])


def test_a_case_that_is_run_again_counts_once(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    project.makeconftest(
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    if item.name == 'exit-codes/exit-0/faithful':\n"
        "        runtestprotocol(item, nextitem=item, log=True)\n"
    )
    project.runpytest_subprocess("--conformance-report=r.jsonl", "--junit-xml=j.xml", "-k", "faithful")
    report = valid_report(project.path / "r.jsonl")
    assert report.footer is not None
    assert (report.header["cases"], len(report.results), report.footer["results"]) == (2, 3, {"pass": 2})
    for case in ET.parse(project.path / "j.xml").getroot().iter("testcase"):
        names = [element.attrib["name"] for element in case.iter("property")]
        assert sorted(names) == ["conformance_basis", "conformance_environment", "conformance_result"]


def test_a_test_that_changes_the_folder_changes_no_finding(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nconformance_matrices = z.toml\n")
    (project.path / "z.toml").write_text(MATRIX + DEVIATION.format(code=0))
    project.makepyfile(test_a="import os\ndef test_moves(tmp_path): os.chdir(tmp_path)\n")
    assert project.runpytest_subprocess("--conformance-report=r.jsonl").ret == pytest.ExitCode.OK


def test_matrices_that_do_not_go_together_are_a_usage_error(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nconformance_matrices = a.toml b.toml\n")
    for name in ("a.toml", "b.toml"):
        (project.path / name).write_text(MATRIX)
    result = project.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the route 'faithful' stands already at *"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("option", ["--conformance-report=r.jsonl", "--shard=1/2"])
def test_an_option_without_a_matrix_is_a_usage_error(pytester: pytest.Pytester, option: str) -> None:
    pytester.makepyfile(test_mine="def test_mine(): pass")
    result = pytester.runpytest_subprocess(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option.partition('=')[0]} needs a matrix*"])


def test_a_session_without_a_case_leaves_the_last_report_alone(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    project.makepyfile(test_mine="def test_mine(): pass")
    (project.path / "r.jsonl").write_text("precious")
    for arguments in (["test_mine.py"], ["--markers"], ["-k", "nonesuch"]):
        project.runpytest_subprocess("--conformance-report=r.jsonl", *arguments)
    project.runpytest_subprocess("--conformance-report=new.jsonl", "test_mine.py")
    assert (project.path / "r.jsonl").read_text() == "precious"
    assert not (project.path / "new.jsonl").exists()


def test_collecting_writes_no_report(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    (project.path / "r.jsonl").write_text("precious")
    project.runpytest_subprocess("--conformance-report=r.jsonl", "--collect-only")
    assert (project.path / "r.jsonl").read_text() == "precious"


def test_a_report_that_cannot_be_begun_is_a_usage_error(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    result = project.runpytest_subprocess("--conformance-report=no/such/folder/r.jsonl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--conformance-report no/such/folder/r.jsonl: cannot be written: No such file*"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_fails_the_session_and_loses_no_result(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX + DEVIATION.format(code=0))
    result = project.runpytest_subprocess("--conformance-report=/dev/full")
    result.assert_outcomes(passed=3, xfailed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["conformance: the report /dev/full cannot be written: No space left on device*"])


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_a_deviation_that_nothing_needs_fails_the_session(project: pytest.Pytester, options: list[str]) -> None:
    passing = MATRIX + DEVIATION.format(code=0)
    write_matrix(project, passing)
    assert project.runpytest_subprocess(*options).ret == pytest.ExitCode.OK
    write_matrix(project, passing + UNUSED)
    result = project.runpytest_subprocess(*options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["conformance: *matrix.toml:*: the deviation is unused*"])
    assert project.runpytest_subprocess("-k", "exit-7", *options).ret == pytest.ExitCode.OK


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_a_required_shell_that_is_missing_fails_the_session(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.delenv("CONFORMANCE_PWSH", raising=False)
    programs = project.mkdir("programs")
    (programs / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(programs))
    write_matrix(project, NEEDS_PWSH)
    result = project.runpytest_subprocess(*options)
    result.assert_outcomes(skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["conformance: pwsh is required and missing, so this run proves nothing about it*"])
    assert project.runpytest_subprocess("--conformance-allow-unavailable", *options).ret == pytest.ExitCode.OK


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_shards_are_those_of_the_command_and_leave_nothing_out(project: pytest.Pytester, options: list[str]) -> None:
    write_matrix(project, MATRIX.replace('"exit-codes/exit-0", "exit-codes/exit-7"', '"exit-codes/exit-*"'))
    everything = call_cli("list", "cases", project.path / "matrix.toml").out.split()
    found = []
    for number in (1, 2, 3):
        project.runpytest_subprocess(f"--shard={number}/3", "--conformance-report=r.jsonl", "-q", *options)
        ids = sorted(line["id"] for line in valid_report(project.path / "r.jsonl").results)
        assert ids == call_cli("list", "cases", project.path / "matrix.toml", "--shard", f"{number}/3").out.split()
        found += ids
    assert sorted(found) == everything


def test_a_shard_leaves_other_tests_alone(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    project.makepyfile(test_mine="def test_mine(): pass")
    counts = [
        project.runpytest_subprocess("--shard", f"{number}/2", "-k", "mine or faithful").parseoutcomes()
        for number in (1, 2)
    ]
    assert sum(count["passed"] for count in counts) == 2 + 2


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", ""])
def test_a_shard_that_is_none_is_a_usage_error(project: pytest.Pytester, shard: str) -> None:
    write_matrix(project, MATRIX)
    result = project.runpytest_subprocess(f"--shard={shard}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--shard '{shard}' is no shard: expected K/N*"])
    assert call_cli("run", f"--shard={shard}").code == 2


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_junit_names_the_cases_and_their_results(project: pytest.Pytester, options: list[str]) -> None:
    write_matrix(project, MATRIX + DEVIATION.format(code=0))
    project.runpytest_subprocess("--junit-xml", "junit.xml", *options)
    found = {}
    for case in ET.parse(project.path / "junit.xml").getroot().iter("testcase"):
        properties = {element.attrib["name"]: element.attrib["value"] for element in case.iter("property")}
        skipped = case.find("skipped")
        found[case.attrib["name"]] = (
            properties["conformance_result"],
            properties["conformance_environment"].rpartition("/")[2],
            None if skipped is None else skipped.attrib["type"],
        )
    assert found == {
        "exit-codes/exit-0/always-0": ("pass", "local", None),
        "exit-codes/exit-0/faithful": ("pass", "local", None),
        "exit-codes/exit-7/always-0": ("deviates", "local", "pytest.xfail"),
        "exit-codes/exit-7/faithful": ("pass", "local", None),
    }


PROGRAM = """
import ctypes, gc, os, signal, sys, tempfile, pytest

def state():
    reaper = ctypes.c_int(-1)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(37, ctypes.byref(reaper), 0, 0, 0)
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    folders = sorted(name for name in os.listdir(tempfile.gettempdir()) if name.startswith("conformance-"))
    descriptors = sorted(os.listdir("/dev/fd"))
    return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, ()), reaper.value, folders, descriptors, gc.isenabled()

class Peek:
    def pytest_runtest_logfinish(self):
        self.during = state()

for number in (signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
before, peek = state(), Peek()
code = pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[peek])
assert code == 1, code
assert peek.during != before, "the plug-in needed nothing, so this test proves nothing"
assert state() == before, (before, state())
"""


def test_a_session_undoes_all_that_it_set(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    temporary = project.mkdir("temporary")
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=project.path,
        env=command_environment({"TMPDIR": str(temporary)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
