"""Where routes differ, read from result lines alone; and what a matrix states of that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from result_lines import DOCUMENTED, codes, line, silent_line, without

from conformance.catalog import Catalog, load_catalog
from conformance.observation import ResultKind
from conformance.report.agreement import ALONE, Comparison, compare
from conformance.report.findings import judge_run
from conformance.status import Exited, Signalled, TimedOut

STATUS = ("status",)
EVERYTHING = ("status", "stdout", "stderr")


def differing(comparison: Comparison) -> list[tuple[str, ...]]:
    return [difference.fixtures for difference in comparison.differences]


def test_what_each_route_did_is_told_with_its_ground() -> None:
    lines = [
        line("t/a/kept", Exited(7)),
        line("t/a/lost", Exited(1), Exited(7), deviation=DOCUMENTED),
        line("t/a/wrong", Exited(3), Exited(7)),
    ]
    (difference,) = compare(lines, ["kept", "lost", "wrong"], STATUS).differences
    assert [(side.route, side.did, side.statuses) for side in difference.sides] == [
        ("kept", "exited(7)", (Exited(7),)),
        ("lost", "exited(1)", (Exited(1),)),
        ("wrong", "exited(3)", (Exited(3),)),
    ]
    assert [(ground.result, ground.reason, ground.url) for side in difference.sides for ground in side.grounds] == [
        ("pass", "", ""),
        ("deviates", "it is so", "https://x/1"),
        ("fail", "", ""),
    ]


def test_both_as_documented_and_each_otherwise_is_a_difference() -> None:
    lines = [
        line(f"t/a/{route}", Exited(code), Exited(7), deviation=DOCUMENTED) for route, code in (("a", 0), ("b", 1))
    ]
    assert differing(compare(lines, ["a", "b"], STATUS)) == [("t/a",)]


@pytest.mark.parametrize(
    ("expected", "differ"), [(Signalled(9), False), (Exited(137), True), (Exited(0), True)], ids=str
)
def test_a_death_by_a_signal_has_two_forms_where_the_contract_asks_for_one(expected: Any, differ: bool) -> None:  # noqa: FBT001
    lines = [line("t/a/a", Signalled(9), expected), line("t/a/b", Exited(137), expected)]
    assert bool(compare(lines, ["a", "b"], STATUS).differences) is differ


def test_the_form_of_a_death_by_a_signal_is_told_as_it_came() -> None:
    lines = [line(f"t/a/{route}", came, Signalled(9)) for route, came in (("a", Exited(137)), ("b", Exited(0)))]
    (difference,) = compare(lines, ["a", "b"], STATUS).differences
    assert [side.did for side in difference.sides] == ["exited(137)", "exited(0)"]


def test_fixtures_with_the_same_difference_stand_together_and_the_worst_come_first() -> None:
    lines = [
        *codes("a", {"t/1": 7, "t/2": 7, "t/3": 7, "t/4": 0, "t/5": 2, "t/6": 7, "t/7": 5}),
        *codes("b", {"t/1": 1, "t/2": 1, "t/3": 1, "t/5": 0, "t/7": 5}),
        line("t/4/b", Exited(1), Exited(0)),
        line("t/6/b", Exited(0), Exited(7), deviation=DOCUMENTED),
    ]
    comparison = compare(lines, ["a", "b"], STATUS)
    assert differing(comparison) == [("t/6",), ("t/4",), ("t/5",), ("t/1", "t/2", "t/3")]
    assert len(comparison.compared) == 7


def test_a_success_beside_a_failure_comes_before_lost_codes_even_where_both_are_as_the_contract_has_it() -> None:
    lines = [
        *codes("a", {"t/1": 7, "t/2": 0}),
        *codes("b", {"t/2": 2}),
        line("t/1/b", Exited(1), Exited(7), deviation=DOCUMENTED),
    ]
    assert differing(compare(lines, ["a", "b"], STATUS)) == [("t/2",), ("t/1",)]


def test_only_bytes_that_differ_come_last_and_only_where_they_are_asked_for() -> None:
    lines = [
        line("t/1/a", Exited(0), stdout=b"x\n"),
        line("t/1/b", Exited(0), stdout=b"x", lost={"stdout": "stdout lost its final newline"}),
        line("t/2/a", Exited(7)),
        line("t/2/b", Exited(1), Exited(7)),
    ]
    assert differing(compare(lines, ["a", "b"], STATUS)) == [("t/2",)]
    by_bytes = compare(lines, ["a", "b"], EVERYTHING)
    assert differing(by_bytes) == [("t/2",), ("t/1",)]
    assert [side.did for side in by_bytes.differences[1].sides] == [
        "exited(0), stdout as the contract has it",
        "exited(0), stdout lost its final newline",
    ]


def test_bytes_that_the_contract_leaves_open_may_still_differ() -> None:
    lines = [line("t/1/a", Exited(0), stdout=b"this"), line("t/1/b", Exited(0), stdout=b"that")]
    (difference,) = compare(lines, ["a", "b"], EVERYTHING).differences
    assert {side.did for side in difference.sides} == {"exited(0), a stdout that the contract leaves open"}


@pytest.mark.parametrize("kind", [ResultKind.SKIPPED, ResultKind.UNAVAILABLE, ResultKind.ERROR])
def test_a_side_of_which_nothing_is_known_says_nothing(kind: ResultKind) -> None:
    lines = [*codes("a", {"t/1": 7, "t/2": 7}), silent_line("t/1/b", kind), *codes("b", {"t/2": 7})]
    comparison = compare(lines, ["a", "b"], STATUS)
    assert (comparison.compared, comparison.differences) == (("t/2",), ())
    assert comparison.left_out == {f"{kind}: for a reason": ("t/1/b",), ALONE: ("t/1/a",)}


def test_a_third_route_that_does_not_take_a_fixture_hides_no_difference() -> None:
    lines = [*codes("a", {"t/1": 7}), *codes("c", {"t/1": 1})]
    (difference,) = compare(lines, ["a", "b", "c"], STATUS).differences
    assert [side.route for side in difference.sides] == ["a", "c"]


def test_the_last_result_of_a_case_counts() -> None:
    lines = [*codes("a", {"t/1": 7}), line("t/1/b", TimedOut(), Exited(7)), *codes("b", {"t/1": 7})]
    assert not compare(lines, ["a", "b"], STATUS).differences


# What a matrix states.

ROUTES = """
fixtures = ["exit-codes/*", "native-codes/*"]
[[route]]
id = "a"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "{{body}}"]
source = "https://example.org"
[[route]]
id = "b"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "{{body_file}}"]
source = "https://example.org"
[[agreement]]
routes = ["?"]
fixtures = ["exit-codes/*"]
reason = "they are one shell"
url = "https://example.org/agreement"
"""
ORIGIN = "matrix.toml:15"
SEVEN = "exit-codes/exit-7"


def catalog_of(folder: Path, more: str = "") -> Catalog:
    (folder / "matrix.toml").write_text(ROUTES + more)
    return load_catalog([str(folder / "matrix.toml")])


def test_a_broken_agreement_names_its_place_both_sides_and_the_fixtures(tmp_path: Path) -> None:
    lines = [line(f"{SEVEN}/a", Exited(7)), line(f"{SEVEN}/b", Exited(1), Exited(7))]
    (finding,) = judge_run(lines, catalog_of(tmp_path))
    assert ORIGIN in finding
    for part in ("they are one shell", "https://example.org/agreement", "a gives exited(7), b gives exited(1)", SEVEN):
        assert part in finding


def test_what_is_documented_on_both_sides_breaks_an_agreement_unless_it_is_excepted(tmp_path: Path) -> None:
    lines = [line(f"{SEVEN}/a", Exited(0), Exited(7), deviation=DOCUMENTED), line(f"{SEVEN}/b", Exited(7))]
    assert len(judge_run(lines, catalog_of(tmp_path))) == 1
    assert judge_run(lines, catalog_of(tmp_path, f'except = ["{SEVEN}"]\n')) == []


def test_a_fixture_outside_of_the_agreement_may_differ(tmp_path: Path) -> None:
    lines = [*codes("a", {"native-codes/native-7": 7}), *codes("b", {"native-codes/native-7": 1})]
    assert judge_run(lines, catalog_of(tmp_path)) == []


def test_a_provisional_result_breaks_no_agreement(tmp_path: Path) -> None:
    lines = [line(f"{SEVEN}/a", Exited(7)), line(f"{SEVEN}/b", Exited(1), Exited(7), provisional=True)]
    assert judge_run(lines, catalog_of(tmp_path)) == []


def test_bytes_are_compared_where_the_agreement_says_so(tmp_path: Path) -> None:
    lines = [line(f"{SEVEN}/a", Exited(7), stdout=b"x"), line(f"{SEVEN}/b", Exited(7))]
    assert judge_run(lines, catalog_of(tmp_path)) == []
    (finding,) = judge_run(lines, catalog_of(tmp_path, 'equal = ["stdout"]\n'))
    assert "the agreement on stdout" in finding


def test_no_part_of_a_run_shows_what_the_whole_does_not(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    fixtures = {"exit-codes/exit-0": 0, "exit-codes/exit-7": 7, "exit-codes/exit-255": 255}
    good = [*codes("a", fixtures), *codes("b", fixtures)]
    assert judge_run(good, catalog) == []
    for index in range(len(good)):
        assert judge_run(without(good, index), catalog) == []
    bad = [*codes("a", fixtures), *codes("b", fixtures | {SEVEN: 1})]
    assert len(judge_run(bad, catalog)) == 1
    silent = [index for index in range(len(bad)) if not judge_run(without(bad, index), catalog)]
    assert {bad[index]["id"] for index in silent} == {f"{SEVEN}/a", f"{SEVEN}/b"}


def test_three_routes_that_must_agree_are_named_together(tmp_path: Path) -> None:
    third = ROUTES[ROUTES.index("[[route]]") : ROUTES.index('[[route]]\nid = "b"')].replace('"a"', '"c"')
    lines = [*codes("a", {SEVEN: 7}), *codes("b", {SEVEN: 7}), *codes("c", {SEVEN: 1})]
    (finding,) = judge_run(lines, catalog_of(tmp_path, third))
    assert "a gives exited(7), b gives exited(7), c gives exited(1)" in finding
