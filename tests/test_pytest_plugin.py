"""The plug-in, as its users see it: by running pytest."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import DEVIATION, MATRIX, write_matrix


def test_items_are_named_by_the_case_ids(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    result = project.runpytest_subprocess("--collect-only", "-q")
    assert result.ret == 0
    assert [line for line in result.outlines if "::" in line] == [
        "matrix.toml::exit-codes/exit-0/always-0",
        "matrix.toml::exit-codes/exit-0/faithful",
        "matrix.toml::exit-codes/exit-7/always-0",
        "matrix.toml::exit-codes/exit-7/faithful",
    ]


def write_matrix_in(folder: str, pytester: pytest.Pytester) -> pytest.RunResult:
    pytester.makeini(f"[pytest]\nconformance_matrices = {folder}/matrix.toml\n")
    (pytester.path / folder).mkdir(parents=True)
    (pytester.path / folder / "matrix.toml").write_text(MATRIX)
    return pytester.runpytest_subprocess("--collect-only", "-q")


def test_a_matrix_further_down_is_collected_once(pytester: pytest.Pytester) -> None:
    result = write_matrix_in("deep/er", pytester)
    assert len([line for line in result.outlines if "::" in line]) == 4


@pytest.mark.parametrize("folder", [".hidden", "build"])
def test_a_matrix_that_pytest_passes_over_is_a_usage_error(folder: str, pytester: pytest.Pytester) -> None:
    result = write_matrix_in(folder, pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*matrix.toml lies in '{folder}', which pytest does not search*"])


def test_an_undocumented_loss_fails_with_the_reason_and_no_traceback(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*expected exited(7), came exited(0): the failure is reported as success*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_documented_deviation_is_an_xfail(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX + DEVIATION.format(code=0))
    project.runpytest_subprocess().assert_outcomes(passed=3, xfailed=1)


def test_a_deviation_that_happens_differently_fails(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX + DEVIATION.format(code=3))
    project.runpytest_subprocess().assert_outcomes(passed=3, failed=1)


def test_a_deviation_that_no_longer_happens_fails(project: pytest.Pytester) -> None:
    fixed = MATRIX.replace('"sh {{body_file}}; exit 0"', '"{{body}}"')
    write_matrix(project, fixed + DEVIATION.format(code=0))
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*no longer happens*"])


def test_a_broken_route_is_an_error_even_where_a_deviation_is_documented(project: pytest.Pytester) -> None:
    broken = MATRIX.replace('["sh", "-c", "sh {{body_file}}; exit 0"]', '["nosuchprogram-zz", "{{body}}"]')
    write_matrix(project, broken + DEVIATION.format(code=0))
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(["*could not be started*"])
    result.stdout.no_fnmatch_line("*items.py*")


def test_a_missing_shell_is_a_skip_with_the_reason(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONFORMANCE_PWSH", raising=False)
    programs = project.mkdir("programs")
    for name in ("sh", "printf", "python3"):
        (programs / name).symlink_to(Path("/bin/sh") if name == "sh" else Path("/usr/bin") / name)
    monkeypatch.setenv("PATH", str(programs))
    write_matrix(
        project,
        'fixtures = ["exit-codes/exit-7"]\n[[route]]\nid = "p"\nkind = "one-shot"\ndialects = ["pwsh"]\n'
        'argv = ["{{pwsh}}", "-Command", "{{body}}"]\nsource = "https://example.org"\n',
    )
    result = project.runpytest_subprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*pwsh is not on PATH*"])


def test_a_broken_matrix_is_one_message_with_its_line(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX.replace('dialects = ["sh"]', 'dialect = ["sh"]', 1))
    result = project.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*matrix.toml:4:*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_selection_last_failed_and_workers(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    project.runpytest_subprocess("-n", "2").assert_outcomes(passed=3, failed=1)
    project.runpytest_subprocess("--lf").assert_outcomes(failed=1)
    project.runpytest_subprocess("-k", "exit-7 and faithful").assert_outcomes(passed=1)
    project.runpytest_subprocess("matrix.toml::exit-codes/exit-7/faithful").assert_outcomes(passed=1)


def test_paths_on_the_command_line_leave_the_matrix_out(project: pytest.Pytester) -> None:
    write_matrix(project, MATRIX)
    project.makepyfile(test_mine="def test_mine(): pass")
    project.runpytest_subprocess("test_mine.py").assert_outcomes(passed=1)
    project.runpytest_subprocess().assert_outcomes(passed=4, failed=1)


def test_without_a_matrix_the_plugin_loads_nothing_of_the_harness(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_nothing_loaded():\n"
        "    loaded = {name for name in sys.modules if name.startswith('conformance.')}\n"
        "    assert loaded == {'conformance.pytest_plugin'}\n"
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
