"""A run that is ended early, or whose report finds no room, leaves no process and says what is missing."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from conftest import COMMAND, command_environment, run_cli, valid_report
from interrupting import PATIENCE_SECONDS, heed_signals, until

from conformance.process.launch import TOKEN_VARIABLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

HANG = "processes/hang-outside-group"
QUICK = "exit-codes/exit-[027]"
"""Three fixtures: 0, 2 and 7."""


def token_of(process: psutil.Process) -> str:
    try:
        return process.environ().get(TOKEN_VARIABLE, "")
    except psutil.Error:
        return ""


def sleeping_witnesses(run: psutil.Process) -> list[psutil.Process]:
    found = []
    for process in run.children(recursive=True):
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if words[-2:] == ["sleep", "60"] and any(word.endswith("witness.py") for word in words):
            found.append(process)
    return found


def result_lines(report: Path) -> int:
    return report.read_text().count('"kind": "result"') if report.exists() else 0


@pytest.mark.skipif(sys.platform != "linux", reason="searches for the run's processes by their environment")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])  # type: ignore[attr-defined, unused-ignore]
@pytest.mark.parametrize("route", ["sh-command", "bash-session"])
def test_a_signal_ends_the_run_and_leaves_no_process(route: str, number: signal.Signals, tmp_path: Path) -> None:
    report, errors, temporary = tmp_path / "report.jsonl", tmp_path / "errors", tmp_path / "tmp"
    temporary.mkdir()
    options = ["--route", route, "--fixture", HANG, "--fixture", QUICK, "--report", str(report)]
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(
            [*COMMAND, "run", *options, "-j", "2", "--timeout-scale", "1000"],
            env=command_environment({"TMPDIR": str(temporary)}),
            stdout=subprocess.PIPE,
            stderr=stderr,
            preexec_fn=heed_signals,
        ) as run,
    ):
        try:
            process = psutil.Process(run.pid)
            until(lambda: result_lines(report) == 3 and len(sleeping_witnesses(process)) == 2)
            tokens = {token_of(witness) for witness in sleeping_witnesses(process)}
            assert len(tokens) == 1
            assert "" not in tokens
            run.send_signal(number)
            grid, _ = run.communicate(timeout=PATIENCE_SECONDS)
        finally:
            run.kill()
    assert run.returncode == 130
    assert [process for process in psutil.process_iter() if token_of(process) in tokens] == []
    assert processes_in(temporary) == [], "a session is none of the witness's launch"
    assert list(temporary.iterdir()) == [], "the run's folders are gone as well"
    written = valid_report(report)
    assert not written.complete
    assert [line["id"] for line in written.results] == [f"exit-codes/exit-{code}/{route}" for code in (0, 2, 7)]
    message = errors.read_text()
    assert f"conformance: interrupted after 3 of 4 cases; the report {report} is incomplete\n" in message
    assert "Traceback" not in message
    assert len(re.findall(rb" ok$", grid, re.MULTILINE)) == 3


def test_a_signal_that_is_ignored_on_entry_does_not_end_the_run(tmp_path: Path) -> None:
    # Bodies that signal the harness itself: its pid is what the shell, a child of the harness, has for a parent.
    report, route = tmp_path / "report.jsonl", tmp_path / "signals.toml"
    route.write_text(
        '[[route]]\nid = "signals-its-parent"\nkind = "one-shot"\ndialects = ["sh"]\n'
        'argv = ["{{sh}}", "-c", """kill -HUP $PPID\n{{body}}"""]\nsource = "https://example.org/"\n'
    )
    command = [*COMMAND, "run", "--route", str(route), "--fixture", QUICK, "--report", str(report), "-j", "1"]
    for trap, code, complete in (("trap '' HUP; ", 0, True), ("", 130, False)):
        run = subprocess.run(
            ["/bin/sh", "-c", f'{trap}exec "$@"', "sh", *command],
            env=command_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        assert run.returncode == code, run.stdout.decode()
        assert valid_report(report).complete == complete


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence_and_the_grid_is_shown_all_the_same() -> None:
    run = run_cli("run", "--route", "sh-command", "--fixture", QUICK, "--report", "/dev/full")
    assert run.code == 3
    assert len(re.findall(" ok$", run.out, re.MULTILINE)) == 3
    (message,) = [line for line in run.err.splitlines() if not line.endswith(" cases")]
    assert message == (
        "conformance: the report /dev/full cannot be written: No space left on device. "
        "What was measured until now is in it; make room, or choose another place with --report."
    )


def test_a_full_standard_output_is_one_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        completed = subprocess.run(
            [*COMMAND, "run", "-k", "exit-codes/exit-7/sh-command", "--report", str(tmp_path / "report.jsonl")],
            env=command_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert completed.returncode == 3
    assert "the output cannot be written: No space left on device" in completed.stderr
    assert "Traceback" not in completed.stderr
    assert valid_report(tmp_path / "report.jsonl").complete


def test_a_doctor_that_is_ended_early_says_so_and_leaves_no_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "doctor"],
        env=command_environment({"TMPDIR": str(tmp_path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    ) as doctor:
        until(lambda: any(tmp_path.glob("conformance-*/home")))
        doctor.send_signal(signal.SIGTERM)
        out, err = doctor.communicate(timeout=PATIENCE_SECONDS)
    assert (doctor.returncode, out) == (130, "")
    assert err == "conformance: interrupted before all was examined\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="searches for what is left by its environment")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (("explain",), 130, f"conformance: interrupted while {HANG}/sh-command ran\n"),
        (("repro", "--run"), 143, ""),
    ],
    ids=["explain", "repro"],
)
def test_one_case_that_is_ended_early_leaves_nothing(
    command: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [*COMMAND, *command, f"{HANG}/sh-command", "--timeout-scale", "1000"],
        env=command_environment({"TMPDIR": str(tmp_path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    ) as process:
        until(lambda: any("sleep 60" in line for line in processes_in(tmp_path)))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out, err) == (code, "", message)
    assert processes_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def processes_in(folder: Path) -> list[str]:
    """Return the command lines of the processes that speak of `folder`."""
    lines = (" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
    return [line for line in lines if str(folder) in line]


@pytest.mark.skipif(sys.platform != "linux", reason="searches for the run's processes by their environment")
def test_a_comparison_that_is_interrupted_says_what_it_lacks(tmp_path: Path) -> None:
    options = ["sh-command", "bash-command", "--fixture", HANG, "-j", "2", "--timeout-scale", "1000"]
    with subprocess.Popen(
        [*COMMAND, "agree", *options],
        env=command_environment({"TMPDIR": str(tmp_path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=heed_signals,
    ) as command:
        try:
            process = psutil.Process(command.pid)
            until(lambda: len(sleeping_witnesses(process)) >= 2)
            command.send_signal(signal.SIGTERM)
            shown, _ = command.communicate(timeout=PATIENCE_SECONDS)
        finally:
            command.kill()
    assert command.returncode == 130
    assert shown.decode() == "Nothing was compared.\n\ninterrupted: only 0 of 2 cases were run\n"
