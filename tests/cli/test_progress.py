"""What a user sees while a run goes on: in a terminal of any width, in a pipe, in the log of a CI system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import MATRIX, run_cli, run_on_terminal

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(folder: Path, columns: int, term: str = "xterm-256color") -> str:
    """Run a matrix with one case that fails on a terminal, and return all that was sent there."""
    (folder / "matrix.toml").write_text(MATRIX)
    return run_on_terminal(columns, {"TERM": term}, "run", "matrix.toml", cwd=folder, code=1)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_shows_a_bar_that_fits_and_goes_away(columns: int, tmp_path: Path) -> None:
    sent = on_terminal(tmp_path, columns)
    bars = [row for row in re.split(r"[\r\n]+", CONTROL.sub("", sent)) if row.startswith("cases")]
    assert any(re.fullmatch(r"cases [━╸╺]{5,40} +[0-4]/4 \d:\d\d:\d\d *", row) for row in bars), bars
    assert max(map(len, bars)) <= columns
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h"), "the cursor that was hidden is shown again"
    assert re.search(r"FAIL 7>0 exit-codes/exit-7/always-0", CONTROL.sub("", sent))


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    sent = on_terminal(tmp_path, 80, "dumb")
    assert "\x1b" not in sent
    assert "4 of 4 cases\n" in sent


@pytest.mark.parametrize("variables", [{}, {"CI": "true", "GITHUB_ACTIONS": "true"}, {"FORCE_COLOR": "1"}])
def test_a_log_gets_lines_and_no_moving_bar(variables: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    finished = run_cli("run", "matrix.toml", cwd=tmp_path, env=variables)
    assert "\r" not in finished.err + finished.out
    plain = CONTROL.sub("", finished.err)
    assert re.findall(r"^\d of 4 cases$", plain, re.MULTILINE) == [f"{n} of 4 cases" for n in (1, 2, 3, 4)]
    assert "\nFAIL 7>0 exit-codes/exit-7/always-0\n" in "\n" + plain
    assert not re.search(r"\x1b\[(\?25|\d*[AK])", finished.err), "nothing moves the cursor"
    assert ("\x1b[" in finished.out) == ("FORCE_COLOR" in variables)


def test_one_broken_route_does_not_fill_the_log(tmp_path: Path) -> None:
    broken = MATRIX.replace('"exit-codes/exit-0", "exit-codes/exit-7"', '"exit-codes/*", "native-codes/*"')
    (tmp_path / "matrix.toml").write_text(
        broken.replace('["sh", "-c", "{{body}}"]', '["nosuchprogram-zz", "{{body}}"]')
    )
    finished = run_cli("run", "matrix.toml", "--route", "faithful", cwd=tmp_path)
    assert finished.code == 3
    assert len(re.findall("^ERROR ", finished.err, re.MULTILINE)) == 10
    assert "(the summary names the others)" in finished.err


def test_progress_leaves_standard_output_to_the_report(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    finished = run_cli("run", "matrix.toml", "--json", cwd=tmp_path)
    assert all(line.startswith('{"kind": ') for line in finished.out.splitlines())
    assert "4 of 4 cases" in finished.err
