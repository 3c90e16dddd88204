"""What a run as a whole makes of its results: what gates it, its exit code, and the end of its report."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from conftest import tiny_catalog, valid_lines

from conformance.campaign import Outcome, Plan, finish, perform
from conformance.observation import ResultKind
from conformance.report.writer import ReportWriter
from conformance.runners.local import local_os

KEEPS_IT = 'argv = ["sh", "-c", "{{body}}"]\n'
LOSES_IT = 'argv = ["sh", "-c", "sh {{body_file}}; exit 0"]\n'
DEVIATION = """
[[deviation]]
routes = ["r"]
fixtures = ["t/one"]
observed.exit = 0
reason = "it always says 0"
url = "https://example.org"
"""


def run(folder: Path, route: str, **options: str) -> tuple[Outcome, int, dict[str, Any]]:
    """Run one case that must exit 7, and return what came of it, the exit code and the footer of the report."""
    catalog = tiny_catalog(folder, route, '"exit 7"', **options)
    stream = io.StringIO()
    writer = ReportWriter(stream, "in memory")
    plan = Plan(catalog, catalog.cases(), jobs=1, time_scale=1.0)
    outcome = perform(plan, writer, lambda line: None)
    code = finish(plan, outcome, writer, [])
    return outcome, code, valid_lines(stream.getvalue())[-1]


@pytest.mark.parametrize(
    ("route", "kind", "expected"),
    [
        (KEEPS_IT, ResultKind.PASS, 0),
        (LOSES_IT, ResultKind.FAIL, 1),
        (LOSES_IT + DEVIATION, ResultKind.DEVIATES, 0),
        (KEEPS_IT + DEVIATION, ResultKind.FIXED, 1),
        ('argv = ["nosuchprogram-zz", "{{body}}"]\n', ResultKind.ERROR, 3),
    ],
)
def test_the_footer_says_the_exit_code_of_the_command(
    route: str, kind: ResultKind, expected: int, tmp_path: Path
) -> None:
    outcome, code, footer = run(tmp_path, route)
    assert [result.kind for result in outcome.results] == [kind]
    assert code == footer["exit_code"] == expected
    assert footer["results"] == {str(kind): 1}


@pytest.mark.parametrize("seen", ["[]", '["dash 0.5.12 windows"]', f'["pwsh 7.6.9 {local_os()}"]'])
@pytest.mark.parametrize(
    ("route", "kind"),
    [(LOSES_IT, ResultKind.FAIL), (KEEPS_IT, ResultKind.PASS), (KEEPS_IT + DEVIATION, ResultKind.FIXED)],
)
def test_what_was_not_seen_on_this_shell_and_system_fails_no_run(
    seen: str, route: str, kind: ResultKind, tmp_path: Path
) -> None:
    outcome, code, _ = run(tmp_path, route, seen=seen)
    (result,) = outcome.results
    assert (result.kind, result.provisional, code) == (kind, True, 0)


def test_any_version_of_the_shell_on_the_system_will_do(tmp_path: Path) -> None:
    outcome, code, _ = run(tmp_path, LOSES_IT, seen=f'["dash 0.1 {local_os()}"]')
    assert (outcome.results[0].provisional, code) == (False, 1)


def test_a_missing_shell_is_told_by_the_caller(tmp_path: Path) -> None:
    catalog = tiny_catalog(tmp_path, KEEPS_IT, '"exit 7"')
    plan = Plan(catalog, catalog.cases(), jobs=1, time_scale=1.0)
    writer = ReportWriter(io.StringIO(), "in memory")
    outcome = perform(plan, writer, lambda line: None)
    assert finish(plan, outcome, writer, ["pwsh"]) == 3
