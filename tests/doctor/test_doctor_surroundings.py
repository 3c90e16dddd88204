"""What may spoil results is told from what only looks unusual."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.doctor.finding import Finding, State, exit_code
from conformance.doctor.folders import Volume, cache_finding, temporary_finding
from conformance.doctor.surroundings import (
    Dispositions,
    limit_findings,
    load_finding,
    locale_finding,
    path_finding,
    signals_finding,
    variables_finding,
)

GOOD = Volume(writable=True, executes=True, free_bytes=1 << 30)
ELSEWHERE = [Path("/var/tmp")]
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and owners are those of POSIX")


@pytest.mark.parametrize(
    ("volume", "others", "state", "found", "mend"),
    [
        (GOOD, ELSEWHERE, State.OK, "writable, runs programs, 1024 MiB free", ""),
        (replace(GOOD, writable=False), ELSEWHERE, State.BROKEN, "cannot be written", "export TMPDIR=/var/tmp"),
        (replace(GOOD, executes=False), ELSEWHERE, State.BROKEN, "mounted with noexec", "export TMPDIR=/var/tmp"),
        (replace(GOOD, executes=False), [], State.BROKEN, "mounted with noexec", "mount -o remount,exec /tmp"),
        (replace(GOOD, free_bytes=1 << 20), ELSEWHERE, State.WARNING, "only 1 MiB", "export TMPDIR=/var/tmp"),
        (replace(GOOD, free_bytes=1 << 20), [], State.WARNING, "only 1 MiB", "set TMPDIR to a writable folder"),
    ],
)
@posix
def test_a_temporary_folder(volume: Volume, others: list[Path], state: State, found: str, mend: str) -> None:
    finding = temporary_finding(Path("/tmp"), None, volume, others)
    assert finding.state is state
    assert found in finding.found
    assert mend in finding.mend
    assert bool(finding.why) == bool(finding.mend) == (state is not State.OK)


def test_a_temporary_folder_that_was_asked_for_in_vain(tmp_path: Path) -> None:
    asked = tmp_path / "file"
    asked.touch()
    finding = temporary_finding(tmp_path, str(asked), GOOD, [])
    assert (finding.state, str(asked) in finding.found) == (State.WARNING, True)
    assert temporary_finding(tmp_path, str(tmp_path), GOOD, []).state is State.OK


@posix
@pytest.mark.parametrize(("mode", "state"), [(0o700, "ok"), (0o755, "ok"), (0o770, "broken"), (0o777, "broken")])
def test_a_cache_is_its_users_alone(mode: int, state: str, tmp_path: Path) -> None:
    cache = tmp_path / "my cache"
    cache.mkdir()
    cache.chmod(mode)
    finding = cache_finding(cache, os.geteuid())
    assert finding.state == state
    if state == "broken":
        assert finding.mend == f"chmod 700 '{cache}'"


@posix
def test_a_cache_of_another_user(tmp_path: Path) -> None:
    finding = cache_finding(tmp_path, os.geteuid() + 1)
    assert finding.state is State.BROKEN
    assert "XDG_CACHE_HOME" in finding.mend


def test_a_cache_that_cannot_be_made_spoils_no_result(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cache_finding(tmp_path / "file" / "cache", None).state is State.WARNING
    assert cache_finding(tmp_path / "to" / "be" / "made", None).state is State.OK


@pytest.mark.parametrize(
    ("ignored", "blocked", "state", "mend"),
    [
        ((), (), State.OK, ""),
        (("SIGHUP",), (), State.OK, ""),
        (("SIGINT",), (), State.WARNING, "env --default-signal=INT conformance run"),
        (("SIGINT", "SIGQUIT", "SIGTERM"), (), State.WARNING, "env --default-signal=INT,TERM conformance run"),
        ((), ("SIGTERM",), State.WARNING, "start conformance from a shell in the foreground"),
    ],
)
def test_signals_on_entry(ignored: tuple[str, ...], blocked: tuple[str, ...], state: State, mend: str) -> None:
    finding = signals_finding(Dispositions(ignored, blocked))
    assert (finding.state, finding.mend) == (state, mend)
    for name in (*ignored, *blocked):
        assert name in finding.found


@posix
def test_a_path_with_relative_folders(tmp_path: Path) -> None:
    finding = path_finding(f".:{tmp_path}::bin")
    assert finding.state is State.WARNING
    assert "., an empty entry, bin" in finding.found
    assert finding.mend == f"export PATH={tmp_path}"
    assert path_finding(f"{tmp_path}:{tmp_path}/none").found == "2 folders, 1 of them missing"
    assert path_finding(None).state is State.WARNING


def test_variables_that_hooks_do_not_get() -> None:
    finding = variables_finding({"TERM": "xterm", "BASH_ENV": "x", "EDITOR": "vi", "LC_ALL": ""}, {"PATH": "/bin"})
    assert finding.state is State.OK
    assert finding.found == "hooks get PATH; not your BASH_ENV, TERM, LC_ALL"


def test_low_limits_are_named_with_what_raises_them() -> None:
    low = {finding.id: finding for finding in limit_findings({"NOFILE": 64, "NPROC": 4096, "AS": 1 << 30})}
    assert {id_: finding.mend for id_, finding in low.items()} == {
        "surroundings/limit-nofile": "ulimit -n 256",
        "surroundings/limit-as": "ulimit -v 8388608",
    }
    assert all(finding.state is State.WARNING and finding.why for finding in low.values())
    assert [finding.state for finding in limit_findings({"NOFILE": 1024})] == [State.OK]
    assert [finding.state for finding in limit_findings({})] == [State.OK]


def test_a_busy_machine_needs_longer_deadlines() -> None:
    assert load_finding(2.0, 2, 1.0).state is State.OK
    busy = load_finding(9.5, 2, 1.0)
    assert (busy.state, busy.mend) == (State.WARNING, "conformance run --timeout-scale 5")
    assert load_finding(9.5, 2, 5.0).state is State.OK, "what was advised is enough"


def test_a_missing_locale() -> None:
    assert locale_finding(["C.UTF-8"]).state is State.OK
    assert locale_finding([]).state is State.WARNING


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([], 0),
        ([State.OK, State.LOSES, State.WARNING, State.NOT_TRIED], 0),
        ([State.OK, State.DIFFERS, State.LOSES], 1),
        ([State.DIFFERS, State.BROKEN], 3),
    ],
)
def test_exit_codes(states: list[State], code: int) -> None:
    assert exit_code(Finding("a/b", state, "f") for state in states) == code
