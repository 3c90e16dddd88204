"""`run` remembers what it found, and says what differs the next time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import MATRIX, Finished, run_cli, valid_report

from conformance.report.history import KEPT_SELECTIONS, KEPT_SUITES

LOSES = 'argv = ["sh", "-c", "sh {{body_file}}; exit 0"]'
KEEPS = 'argv = ["sh", "-c", "{{body}}"]'
NOTHING_CHANGED = "no cases changed\n"


def run(folder: Path, *arguments: str, matrix: str = MATRIX) -> Finished:
    (folder / "matrix.toml").write_text(matrix)
    return run_cli("run", "matrix.toml", *arguments, cwd=folder, env={"XDG_CACHE_HOME": str(folder / "cache")})


def kept(folder: Path) -> list[Path]:
    return list((folder / "cache").rglob("*.jsonl"))


def test_the_first_run_compares_with_nothing_and_the_second_with_the_first(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    assert "since the last results" not in first.out
    assert NOTHING_CHANGED in second.out
    assert second.code == first.code == 1


def test_what_differs_is_named(tmp_path: Path) -> None:
    run(tmp_path)
    mended = run(tmp_path, matrix=MATRIX.replace(LOSES, KEEPS))
    assert "1 case changed; the suite has changed as well\n" in mended.out
    assert "  FAIL 7>0 -> ok  exit-codes/exit-7/always-0\n" in mended.out
    assert "  ok -> FAIL 7>0  exit-codes/exit-7/always-0\n" in run(tmp_path).out


def test_another_loss_of_the_same_kind_is_a_change(tmp_path: Path) -> None:
    run(tmp_path)
    again = run(tmp_path, matrix=MATRIX.replace("exit 0", "exit 1"))
    assert "  FAIL 7>0 -> FAIL 7>1  exit-codes/exit-7/always-0\n" in again.out


def test_a_case_is_compared_with_its_newest_result_whatever_was_selected(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path, "-k", "exit-7/always-0", matrix=MATRIX.replace(LOSES, KEEPS))
    assert "no cases changed" in run(tmp_path, "-k", "exit-0").out
    assert "1 case changed" in run(tmp_path).out
    assert len(kept(tmp_path)) == 3


def test_cases_that_were_not_run_before_are_counted(tmp_path: Path) -> None:
    run(tmp_path, "--route", "faithful")
    assert "no cases changed, 2 cases without any\n" in run(tmp_path).out


def test_the_kept_report_is_the_one_that_was_written(tmp_path: Path) -> None:
    run(tmp_path)
    assert [path.read_text() for path in kept(tmp_path)] == [(tmp_path / "conformance-report.jsonl").read_text()]
    as_json = run(tmp_path, "--json")
    assert [path.read_text() for path in kept(tmp_path)] == [as_json.out]


def test_a_run_that_stopped_early_is_not_kept(tmp_path: Path) -> None:
    stopped = run(tmp_path, "--fail-fast", "-j", "1", "-k", "exit-7", matrix=MATRIX.replace(KEEPS, LOSES))
    assert "stopped after 1 of 2 cases" in stopped.err
    assert kept(tmp_path) == []


def test_another_suite_is_not_compared(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "other.toml").write_text(MATRIX)
    other = run_cli("run", "other.toml", cwd=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert "since the last results" not in other.out


@pytest.mark.parametrize("damage", ["", "no report\n", '{"kind": "header", "format": 99}\n{"kind": "footer"}\n', "{\n"])
def test_what_cannot_be_read_is_passed_over(damage: str, tmp_path: Path) -> None:
    run(tmp_path)
    (broken,) = kept(tmp_path)
    broken.write_text(damage)
    again = run(tmp_path)
    assert (again.code, "since the last results" in again.out) == (1, False)
    assert NOTHING_CHANGED in run(tmp_path).out


def test_only_the_newest_selections_are_kept(tmp_path: Path) -> None:
    run(tmp_path, "-k", "exit-7/faithful")
    (first,) = kept(tmp_path)
    for number in range(KEPT_SELECTIONS):
        copy = first.with_name(f"{number}-{first.stem.rpartition('-')[2]}.jsonl")
        copy.write_text(first.read_text())
        os.utime(copy, ns=(number, number))
    run(tmp_path)
    assert len(kept(tmp_path)) == KEPT_SELECTIONS
    assert first in kept(tmp_path)
    assert not next(iter(first.parent.glob("0-*")), first.with_name("none")).exists()


def test_only_the_newest_suites_are_kept(tmp_path: Path) -> None:
    run(tmp_path)
    suites = kept(tmp_path)[0].parents[1]
    for number in range(KEPT_SUITES):
        (suites / f"suite-{number}").mkdir()
        os.utime(suites / f"suite-{number}", ns=(number, number))
    run(tmp_path)
    assert len(kept(tmp_path)) == 1
    assert len(list(suites.iterdir())) == KEPT_SUITES
    assert not (suites / "suite-0").exists()


def test_a_cache_that_cannot_be_written_is_told_and_changes_no_result(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    finished = run(tmp_path)
    assert finished.code == 1
    assert "conformance: this run is not remembered: " in finished.err
    assert "Traceback" not in finished.err
    assert valid_report(tmp_path / "conformance-report.jsonl").complete


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_others_cannot_read_what_is_kept(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        run(tmp_path)
    finally:
        os.umask(before)
    (report,) = kept(tmp_path)
    for path in (report, *report.parents[:3]):
        assert path.stat().st_mode & 0o077 == 0, path
