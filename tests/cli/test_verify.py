"""`conformance verify`: what is flaky is told to be so, and what is stable as well."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import COMMAND, Finished, command_environment, run_cli
from interrupting import PATIENCE_SECONDS, heed_signals, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the miniatures run /bin/sh")

MINIATURES = Path(__file__).parents[1] / "miniatures"
ROUTE = """
[[route]]
id = "{id}"
kind = "one-shot"
dialects = ["sh"]
argv = {argv}
source = "https://example.org/"
"""
ALTERNATES = ["/bin/sh", str(MINIATURES / "alternates.sh"), "{{body}}", "{{folder}}/runs"]
"""Gives every other time, by a count in a file, another code."""
FLAKY, STABLE = "exit-codes/exit-7/alternates", "exit-codes/exit-7/sh-command"


def route_file(folder: Path, **routes: list[str]) -> Path:
    path = folder / "routes.toml"
    path.write_text("".join(ROUTE.format(id=id_, argv=json.dumps(argv)) for id_, argv in routes.items()))
    return path


def verify(*arguments: str | Path, folder: Path, **routes: list[str]) -> Finished:
    sources = ("--matrix", "core", "--route", route_file(folder, **routes)) if routes else ("--matrix", "core")
    return run_cli("verify", *sources, *arguments)


def told(finished: Finished) -> dict[str, Any]:
    value = json.loads(finished.out)
    assert value["exit_code"] == finished.code
    assert isinstance(value, dict)
    return value


def test_a_case_that_alternates_is_flaky_and_the_split_is_told(tmp_path: Path) -> None:
    finished = verify(FLAKY, STABLE, "-n", "4", folder=tmp_path, alternates=ALTERNATES)
    assert finished.code == 1
    rows = finished.out.splitlines()
    assert rows[0].startswith(f"flaky       {FLAKY} on ")
    assert sorted(rows[1:3]) == [
        "            2 of 4 alone: fail exited(1), where the contract has exited(7)",
        "            2 of 4 alone: pass exited(7)",
    ]
    assert all(" of 4 beside load: " in row for row in rows[3:-3])
    assert rows[-3].startswith(f"stable      {STABLE} on ")
    assert rows[-3].endswith(": pass exited(7) (8 runs)")
    assert rows[-1] == "2 cases: 1 flaky, 1 stable"
    assert "16 of 16 runs\n" in finished.err


def test_a_failure_that_is_always_the_same_is_stable(tmp_path: Path) -> None:
    argv = ["/bin/sh", str(MINIATURES / "always-exits-0.sh"), "{{body}}"]
    finished = verify("exit-codes/exit-7/always-0", "-n", "2", folder=tmp_path, **{"always-0": argv})
    assert finished.code == 0
    assert finished.out.startswith("stable      exit-codes/exit-7/always-0 on ")
    assert ": fail exited(0)" in finished.out


def test_json_holds_all_of_it(tmp_path: Path) -> None:
    finished = verify(
        FLAKY, STABLE, "-n", "2", "--json", "--timeout-scale", "2", folder=tmp_path, alternates=ALTERNATES
    )
    value = told(finished)
    flaky, stable = value["cases"]
    assert (value["exit_code"], value["cut_short"]) == (1, "")
    assert (flaky["id"], flaky["verdict"], flaky["runs"]) == (FLAKY, "flaky", {"alone": 2, "beside_load": 2})
    assert [(way["result"], way["times"]["alone"]) for way in flaky["outcomes"]] in (
        [("pass", 1), ("fail", 1)],
        [("fail", 1), ("pass", 1)],
    )
    assert sum(way["times"]["beside_load"] for way in flaky["outcomes"]) == 2
    (way,) = stable["outcomes"]
    assert (stable["verdict"], way["times"]) == ("stable", {"alone": 2, "beside_load": 2})
    assert way["statuses"] == [{"kind": "exited", "code": 7}]
    assert "exited(7)" in way["reason"]
    assert (stable["deadline_seconds"], stable["near_deadline"]) == (120.0, False)
    assert 0 < stable["longest_seconds"] < 120.0


@pytest.mark.parametrize("arguments", [("no-such-case",), ("exit-codes/exit-7/sh-*", "--route", "nowhere.toml")])
def test_what_does_not_exist_is_one_sentence(arguments: tuple[str, ...], tmp_path: Path) -> None:
    finished = run_cli("verify", *arguments, cwd=tmp_path)
    assert (finished.code, finished.out) == (4 if len(arguments) == 1 else 2, "")
    assert finished.err.count("\n") == 1


def test_a_route_that_is_broken_wins_over_a_flaky_one(tmp_path: Path) -> None:
    gone = ["/nonexistent/shell", "{{body}}"]
    finished = verify("exit-codes/exit-7/gone", FLAKY, "-n", "2", folder=tmp_path, gone=gone, alternates=ALTERNATES)
    assert finished.code == 3
    assert "\nnot judged  exit-codes/exit-7/gone on " in finished.out
    assert "2 cases: 1 flaky, 1 not judged\n" in finished.out


def test_where_every_case_is_skipped_nothing_was_verified(tmp_path: Path) -> None:
    feeds = ["/bin/sh", "{{body_file}}"]
    path = route_file(tmp_path, feeds=feeds)
    path.write_text(path.read_text() + 'stdin = "x"\n')
    finished = run_cli("verify", "--route", path, "-n", "1", "bytes/stdin-64k-unread/feeds")
    assert finished.code == 4, finished.out
    assert finished.out.startswith("not judged  bytes/stdin-64k-unread/feeds on ")


def is_busy(process: psutil.Process) -> bool:
    try:
        return any("while True" in word for word in process.cmdline())
    except psutil.Error:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes by their command lines")
@pytest.mark.parametrize("surroundings", ["alone", "beside load"])
def test_an_interrupted_run_tells_what_it_saw_and_leaves_no_process(surroundings: str, tmp_path: Path) -> None:
    """The third run of the route waits for good: with two runs alone this is the first beside load, else one before."""
    script = 'echo >>"$2"; [ "$(wc -l <"$2")" -gt 2 ] && { echo >>"$2.waits"; exec sleep 600; }; exec /bin/sh -c "$1"'
    path = route_file(tmp_path, waits=["/bin/sh", "-c", script, "sh", "{{body}}", "{{folder}}/runs"])
    times = {"alone": "3", "beside load": "2"}[surroundings]
    command = [
        *COMMAND,
        "verify",
        "--route",
        str(path),
        "-n",
        times,
        "exit-codes/exit-7/waits",
        "--timeout-scale",
        "1000",
    ]
    with subprocess.Popen(
        command, env=command_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_signals,
    ) as run:  # fmt: skip
        try:
            until((tmp_path / "runs.waits").exists)
            children = psutil.Process(run.pid).children(recursive=True)
            assert any(map(is_busy, children)) == (surroundings == "beside load")
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=PATIENCE_SECONDS)
        finally:
            run.kill()
    assert run.returncode == 130
    assert not [process for process in children if process.is_running()]
    planned = 2 * int(times)
    assert out.startswith("stable      exit-codes/exit-7/waits on ")
    assert ": pass exited(7) (2 runs)\n" in out
    assert out.endswith(f"\ninterrupted after 2 of {planned} runs\n")
    assert "Traceback" not in err
