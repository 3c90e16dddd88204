"""Result lines of many runs become a verdict on each case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from report_files import result_of

from conformance.catalog import load_catalog
from conformance.model import Seconds
from conformance.repetition import step_deadline
from conformance.verification import Surroundings, Verdict, VerdictKind, verdicts_of

ALONE, BESIDE_LOAD = Surroundings.ALONE, Surroundings.BESIDE_LOAD
ID = "topic/name/route"
MINUTE = Seconds(60.0)


def taking(*seconds: float) -> Mapping[str, Any]:
    (step,) = result_of(ID)["steps"]
    return result_of(ID, steps=[{**step, "seconds": each} for each in seconds])


def verdict_of(*observed: tuple[Surroundings, Mapping[str, Any]], deadline: Seconds | None = MINUTE) -> Verdict:
    (verdict,) = verdicts_of(observed, {ID: deadline})
    return verdict


def test_runs_that_came_out_the_same_are_stable_whatever_they_came_out_as() -> None:
    for line in (result_of(ID), result_of(ID, "fail", came=1), result_of(ID, "deviates", came=1)):
        verdict = verdict_of((ALONE, line), (ALONE, dict(line)), (BESIDE_LOAD, dict(line)))
        assert verdict.kind is VerdictKind.STABLE
        assert (verdict.runs(ALONE), verdict.runs(BESIDE_LOAD), verdict.total) == (2, 1, 3)
        (seen,) = verdict.seen
        assert seen.line is line
    assert (verdict.id, verdict.environment) == (ID, line["environment"])


def test_one_run_that_came_out_otherwise_makes_a_case_flaky_and_is_counted_apart() -> None:
    right, wrong = result_of(ID), result_of(ID, "fail", came=1)
    for odd in Surroundings:
        other = BESIDE_LOAD if odd is ALONE else ALONE
        verdict = verdict_of((odd, wrong), (odd, right), (odd, right), (other, right))
        assert verdict.kind is VerdictKind.FLAKY
        assert [(seen.line, seen.times[odd], seen.times[other]) for seen in verdict.seen] == [
            (right, 2, 1),
            (wrong, 1, 0),
        ]
        assert (verdict.runs(odd), verdict.runs(other)) == (3, 1)


def test_what_only_takes_longer_is_the_same() -> None:
    assert verdict_of((ALONE, taking(0.1)), (BESIDE_LOAD, taking(9.0))).kind is VerdictKind.STABLE


@pytest.mark.parametrize("result", ["error", "unavailable", "skipped"])
def test_of_a_case_that_never_ran_nothing_is_known(result: str) -> None:
    line = result_of(ID, result)
    verdict = verdict_of((ALONE, line), (BESIDE_LOAD, line))
    assert verdict.kind is VerdictKind.NOTHING_KNOWN
    assert not verdict.near_deadline
    assert verdict_of((ALONE, line), (ALONE, result_of(ID))).kind is VerdictKind.FLAKY


@pytest.mark.parametrize(
    ("longest", "near"), [([0.1], False), ([48.0], False), ([48.1], True), ([0.1, 59.0, 0.2], True), ([75.0], True)]
)
def test_a_step_that_takes_most_of_its_deadline_is_near_it(longest: list[float], near: bool) -> None:  # noqa: FBT001
    for lines in ([taking(*longest), taking(0.1)], [taking(0.1), taking(*longest)]):
        verdict = verdict_of((ALONE, lines[0]), (BESIDE_LOAD, lines[1]))
        assert (verdict.longest, verdict.near_deadline) == (max(longest), near)
    assert not verdict_of((ALONE, taking(*longest)), deadline=None).near_deadline


def test_the_deadline_is_that_of_the_time_scale_but_for_what_hangs_on_purpose() -> None:
    cases = {case.id: case for case in load_catalog(["core"]).cases()}
    assert step_deadline(cases["exit-codes/exit-7/bash-command"], 2.0) == 120.0
    assert step_deadline(cases["processes/hang/bash-command"], 2.0) is None


def test_what_is_flaky_is_told_first_and_each_kind_by_id() -> None:
    results = {"c": ["pass", "pass"], "b": ["pass", "fail"], "a": ["skipped"], "d": ["pass"], "e": ["fail", "pass"]}
    observed = [(ALONE, result_of(f"t/{name}/r", kind)) for name, kinds in results.items() for kind in kinds]
    verdicts = verdicts_of(observed, {f"t/{name}/r": MINUTE for name in results})
    assert [verdict.id for verdict in verdicts] == ["t/b/r", "t/e/r", "t/c/r", "t/d/r", "t/a/r"]


def test_the_verdicts_do_not_need_all_lines_at_once() -> None:
    """Only the first line of each outcome is kept, however many runs there are."""

    class Told(dict[str, Any]):
        alive = 0

        def __init__(self, line: Mapping[str, Any]) -> None:
            super().__init__(line)
            Told.alive += 1

        def __del__(self) -> None:
            Told.alive -= 1

    most = 0

    def observed() -> Any:
        nonlocal most
        for _ in range(50):
            yield ALONE, Told(result_of(ID))
            most = max(most, Told.alive)

    (verdict,) = verdicts_of(observed(), {ID: MINUTE})
    assert verdict.total == 50
    assert most <= 3
