"""A report on a terminal or in a log: what is wrong first, whatever its width, and nothing of it plays tricks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hostile_reports import hostile_reports, log_commands, moves_a_cursor
from hypothesis import given, settings
from hypothesis import strategies as st
from report_files import LOCAL_BASH, Line, footer_of, header_of, result_of, write_lines
from view_world import indexed

from conformance.report.index import index_report
from conformance.report.results import HeldResults, Told, told_of
from conformance.views.grid import grid
from conformance.views.screen import REASONS_SHOWN, screen

OTHER_BASH = "linux-x86_64/bash-5.1.4/local"
EVERY_KIND = [
    result_of("a/deviates/r-one", "deviates", came=1),
    result_of("a/error/r-one", "error"),
    result_of("a/fail/r-one", "fail", came=1),
    result_of("a/fixed/r-one", "fixed"),
    result_of("a/pass/r-one"),
    result_of("a/skipped/r-one", "skipped"),
    result_of("a/unavailable/r-one", "unavailable"),
]


def shown(lines: list[Line], width: int = 200, **told: Any) -> str:
    routes = list(dict.fromkeys(line["route"] for line in lines))
    whole: dict[str, Any] = {"findings": (), "cut_short": "", "exit_code": 0, **told}
    return text_of(Told(HeldResults(lines, routes), **whole), width)


def text_of(told: Told, width: int) -> str:
    return "".join(f"{row.plain}\n" for row in screen(told, width))


def told(path: Path, lines: list[Line], **footer: Any) -> str:
    content = [header_of(lines), *lines, footer_of(lines, **footer)]
    with index_report(write_lines(path / "r.jsonl", *content)) as report:
        return text_of(told_of(report), 200)


def test_what_is_wrong_comes_before_the_grid_and_the_counts_after_it() -> None:
    text = shown(EVERY_KIND, findings=["two routes disagree"], cut_short="it was cut short", exit_code=3)
    expected = [
        "incomplete: it was cut short; 1 error, 1 fail, 1 fixed, 1 finding\n",
        "\nFAIL two routes disagree\n",
        "\nERROR: a/error/r-one: error for a reason\n",
        f"\nFAIL a/fail/r-one on {LOCAL_BASH}\nfail for a reason\n",
        f"\nFIXED a/fixed/r-one on {LOCAL_BASH}\nfixed for a reason\n",
        "\nfixture        one\n",
        "\na/fail         FAIL 0>1\n",
        "\nnot run: a/skipped/r-one: skipped for a reason\n",
        "\n    1 pass        the exact exit status",
    ]
    places = [text.find(part) for part in expected]
    assert -1 not in places, (text, places)
    assert places == sorted(places)
    assert places[0] == 0


@pytest.mark.parametrize(
    ("results", "more", "sentence"),
    [
        (["pass", "deviates"], {}, "2 results, all as documented"),
        (["pass"], {"exit_code": 3}, "a required shell is missing, in 1 result"),
        (["pass"], {"exit_code": 1, "findings": ["a"]}, "1 finding, in 1 result"),
        (["fail", "pass"], {"exit_code": 1}, "1 fail, in 2 results"),
        (["error", "fail"], {"exit_code": 3}, "1 error, 1 fail, in 2 results"),
    ],
)
def test_the_first_line_says_what_it_comes_to(results: list[str], more: dict[str, Any], sentence: str) -> None:
    lines = [result_of(f"a/{number}/r", result) for number, result in enumerate(results)]
    assert shown(lines, **more).split("\n", 1)[0] == sentence


def test_provisional_failures_fail_nothing_and_are_told(tmp_path: Path) -> None:
    text = told(tmp_path, [result_of("a/b/r", "fail", came=1, provisional=True)])
    assert text.startswith("1 result, all as documented, but for 1 fail, 1 of these provisional\n")
    assert "FAIL 0>1?" in text


def test_runs_that_were_cut_short_and_merged_are_named(tmp_path: Path) -> None:
    text = told(tmp_path, [result_of("a/b/r")], incomplete=[0])
    assert text.startswith("incomplete: cut short or without all shards: shard 1/1 of linux-x86_64/local\n")


def test_an_environment_is_named_where_a_route_has_several() -> None:
    lines = [result_of("a/b/r-one", environment=key) for key in (LOCAL_BASH, OTHER_BASH)] + [result_of("a/b/s")]
    assert shown(lines).split("\n\n")[1].split("\n") == [
        "         r             r",
        "         one           one",
        "         linux-x86_64  linux-x86_64",
        "         bash-5.1.4    bash-5.2.15",
        "fixture  local         local         s",
        "a/b      ok            ok            ok",
    ]
    assert f"1 r-one on {OTHER_BASH}\n2 r-one on {LOCAL_BASH}\n3 s\n" in shown(lines, width=30)


def test_an_environment_in_the_head_of_a_column_commands_nothing() -> None:
    names = ["##[error]forged", "\N{COMBINING GRAPHEME JOINER}::error::forged"]
    lines = [result_of("a/b/r", environment=f"linux-x/bash-5 {name}/{name}") for name in names]
    for width in (40, 400):
        assert not log_commands(shown(lines, width=width))


def test_a_missing_cell_is_no_pass() -> None:
    assert "\na/b      ok  -\na/c      -   ok\n" in shown([result_of("a/b/r"), result_of("a/c/s")])


@given(st.integers(1, 60), st.integers(20, 120), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_no_line_of_a_grid_is_wider_than_the_terminal(routes: int, width: int, name: int) -> None:
    names = [f"route-{number}" for number in range(routes)]
    lines = [result_of(f"a/{'x' * name}/{route}", "fail", came=1) for route in names]
    rows = [row.plain for row in grid(HeldResults(lines, names), width)]
    assert max(map(len, rows)) <= width
    assert "".join(rows).count("F") >= routes, "every column is there"


def test_reasons_that_are_all_different_do_not_fill_the_screen() -> None:
    lines = [result_of(f"a/{number}/r", "error", reason=f"reason {number}") for number in range(REASONS_SHOWN + 7)]
    assert "\nERROR: and 7 more, for other reasons\n" in shown(lines)
    same = [result_of(f"a/{number}/r", "error", reason="the same") for number in range(500)]
    assert shown(same).count("the same") == 1


def test_a_grid_that_is_mostly_empty_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.views.grid.MOST_CELLS", 8)
    lines = [result_of(f"a/{number}/r-{number}") for number in range(3)]
    assert "(no grid: it would have 3 rows and 3 columns)" in shown(lines)


@given(hostile_reports(), st.sampled_from([40, 200, 1000]))
@settings(max_examples=150, deadline=None)
def test_nothing_of_a_hostile_report_plays_with_a_terminal_or_a_log(content: bytes, width: int) -> None:
    with indexed(content) as report:
        text = text_of(told_of(report), width)
        assert not moves_a_cursor(text)
        assert not log_commands(text)
        assert text.count("\n") >= sum(report.counts().values())
