"""`conformance diff` names exactly the cases that changed, between reports of real runs and made-up ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import call_cli, run_cli
from report_files import (
    Line,
    exited,
    footer_of,
    header_of,
    result_of,
    write_lines,
    write_report,
)

from conformance.report.changes import ChangeKind
from conformance.views.changes import COMMENT_CHARACTERS

ROUTE = """
fixtures = ["exit-codes/*"]
[[route]]
id = "mytool"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", {text}]
source = "https://example.org/mytool"
"""
FAITHFUL = "'sh {{body_file}}'"
TWO_BECOMES_7_AND_7_BECOMES_2 = "'sh {{body_file}}; c=$?; case $c in 2) exit 7;; 7) exit 2;; *) exit $c;; esac'"
SEVEN_BECOMES_1 = "'sh {{body_file}}; c=$?; case $c in 7) exit 1;; *) exit $c;; esac'"
TWO_BECOMES_1 = "'sh {{body_file}}; c=$?; case $c in 2) exit 1;; *) exit $c;; esac'"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that really runs a route, once for each text of its argv, and returns the report."""
    folder = tmp_path_factory.mktemp("runs")
    reports: dict[str, Path] = {}

    def really(text: str) -> Path:
        if text not in reports:
            route = folder / "mytool.toml"
            route.write_text(ROUTE.format(text=text), encoding="utf-8")
            reports[text] = folder / f"{len(reports)}.jsonl"
            finished = run_cli("run", "core", "--route", route, "--report", reports[text])
            assert finished.code in (0, 1), finished.err
        return reports[text]

    return really


def changed(old: Path, new: Path, *options: str) -> tuple[int, dict[str, list[str]]]:
    """Return the exit code, and the ids of the cases by what became of them."""
    compared = call_cli("diff", old, new, "--json", *options)
    whole = json.loads(compared.out)
    found: dict[str, list[str]] = {}
    for change in whole["changes"]:
        found.setdefault(change["kind"], []).append(change["id"])
    assert {kind: len(ids) for kind, ids in found.items()} == whole["counts"]
    assert whole["exit_code"] == compared.code
    return compared.code, found


def failing(report: Path) -> set[str]:
    """Return what fails in `report`, read without the code that is tested."""
    lines = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    return {line["id"] for line in lines if line.get("result") == "fail"}


def test_two_runs_of_the_same_have_no_difference(run: Callable[[str], Path], tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    route = run(FAITHFUL).parent / "again.toml"
    route.write_text(ROUTE.format(text=FAITHFUL), encoding="utf-8")
    assert run_cli("run", "core", "--route", route, "--report", again).code == 0
    assert changed(run(FAITHFUL), again) == (0, {})


def test_a_changed_route_changes_exactly_the_cases_that_it_loses(run: Callable[[str], Path]) -> None:
    lost = failing(run(SEVEN_BECOMES_1))
    assert "exit-codes/exit-7/mytool" in lost
    assert "exit-codes/exit-2/mytool" not in lost
    assert changed(run(FAITHFUL), run(SEVEN_BECOMES_1)) == (1, {"regressed": sorted(lost)})
    assert changed(run(SEVEN_BECOMES_1), run(FAITHFUL)) == (0, {"fixed": sorted(lost)})


def test_one_fixed_and_one_broken_are_both_named_though_the_counts_are_equal(run: Callable[[str], Path]) -> None:
    old, new = run(SEVEN_BECOMES_1), run(TWO_BECOMES_1)
    code, found = changed(old, new)
    assert code == 1
    assert set(found["regressed"]) == failing(new) - failing(old)
    assert set(found["fixed"]) == failing(old) - failing(new)
    assert {"regressed", "fixed"} == found.keys()
    assert "exit-codes/exit-2/mytool" in found["regressed"]
    assert "exit-codes/exit-7/mytool" in found["fixed"]


def test_another_wrong_code_is_a_changed_observation_and_no_regression(run: Callable[[str], Path]) -> None:
    code, found = changed(run(SEVEN_BECOMES_1), run(TWO_BECOMES_7_AND_7_BECOMES_2))
    assert code == 1  # exit-2 is lost now
    assert "exit-codes/exit-7/mytool" in found["changed"]
    assert "exit-codes/exit-2/mytool" in found["regressed"]


def test_both_observations_are_shown(run: Callable[[str], Path]) -> None:
    shown = call_cli("diff", run(FAITHFUL), run(SEVEN_BECOMES_1))
    assert shown.code == 1
    assert shown.out.startswith("regressed: ")
    told = shown.out[shown.out.index("exit-codes/exit-7/mytool on ") :].split("\n")
    assert told[1:3] == ["    was  pass exited(7)", "    is   fail exited(1), where the contract has exited(7)"]
    assert shown.out.endswith(f" results compared: {len(failing(run(SEVEN_BECOMES_1)))} regressed\n")


ID = "exit-codes/exit-0/r"


def compare(
    tmp_path: Path, old: Sequence[Line], new: Sequence[Line], *options: str
) -> tuple[int, dict[str, list[str]]]:
    """Compare two reports, each with a case more that is the same in both."""
    same = result_of("exit-codes/exit-2/r", environment="linux-x86_64/dash-0.5.12/local")
    older = write_report(tmp_path / "old.jsonl", [*old, same])
    return changed(older, write_report(tmp_path / "new.jsonl", [*new, same]), *options)


@pytest.mark.parametrize(
    ("old", "new", "kind", "code"),
    [
        ("pass", "fail", "regressed", 1),
        ("pass", "deviates", "regressed", 1),
        ("deviates", "fail", "regressed", 1),
        ("fail", "error", "regressed", 1),
        ("pass", "error", "regressed", 1),
        ("fail", "pass", "fixed", 0),
        ("fail", "deviates", "fixed", 0),
        ("deviates", "fixed", "fixed", 0),
        ("error", "pass", "fixed", 0),
        ("pass", "unavailable", "unavailable", 0),
        ("fail", "skipped", "unavailable", 0),
        ("unavailable", "pass", "available", 0),
        ("skipped", "fail", "available", 0),
        ("unavailable", "skipped", "changed", 0),
    ],
)
def test_what_a_change_is(old: str, new: str, kind: str, code: int, tmp_path: Path) -> None:
    assert compare(tmp_path, [result_of(ID, old)], [result_of(ID, new)]) == (code, {kind: [ID]})


def test_a_case_that_comes_and_one_that_goes(tmp_path: Path) -> None:
    one, other = result_of(ID), result_of("exit-codes/exit-1/r", "fail", came=1)
    assert compare(tmp_path, [one], [other]) == (0, {"added": [other["id"]], "removed": [ID]})


@pytest.mark.parametrize("kind", [kind for kind in ChangeKind if kind is not ChangeKind.REGRESSED])
def test_a_run_fails_on_what_is_asked_for(kind: ChangeKind, tmp_path: Path) -> None:
    sides = {
        "unavailable": ([result_of(ID)], [result_of(ID, "unavailable")]),
        "changed": ([result_of(ID, "fail", came=1)], [result_of(ID, "fail", came=2)]),
        "fixed": ([result_of(ID, "fail", came=1)], [result_of(ID)]),
        "available": ([result_of(ID, "skipped")], [result_of(ID)]),
        "added": ([], [result_of(ID)]),
        "removed": ([result_of(ID)], []),
    }
    old, new = sides[kind]
    assert compare(tmp_path, old, new) == (0, {kind: [ID]})
    assert compare(tmp_path, old, new, "--fail-on", kind) == (1, {kind: [ID]})
    other = next(other for other in sides if other != kind)
    assert compare(tmp_path, old, new, "--fail-on", other)[0] == 0


def step(**changes: Any) -> dict[str, Any]:
    return {**result_of(ID)["steps"][0], **changes}


def test_what_differs_from_run_to_run_is_no_change(tmp_path: Path) -> None:
    noisy = step(seconds=9.9, leftovers=[{"pid": 77, "command": "sleep 60"}], stdin={"sent": 5, "broken_pipe": True})
    assert compare(tmp_path, [result_of(ID)], [result_of(ID, steps=[noisy])]) == (0, {})


def test_a_stream_that_may_hold_anything_is_no_change_and_one_that_must_not_is(tmp_path: Path) -> None:
    def stream(data: bytes, *, compared: bool) -> dict[str, Any]:
        import base64
        import hashlib

        text = base64.b64encode(data).decode()
        difference = {"offset": 0, "window_offset": 0, "expected": "", "observed": text} if compared else None
        digest = hashlib.sha256(data).hexdigest()
        return {"bytes": len(data), "sha256": digest, "head": text, "tail": text, "difference": difference}

    def lines(data: bytes, *, compared: bool) -> list[Line]:
        return [result_of(ID, "fail", came=1, steps=[step(stderr=stream(data, compared=compared))])]

    assert compare(tmp_path, lines(b"pid 1", compared=False), lines(b"pid 2", compared=False)) == (0, {})
    assert compare(tmp_path, lines(b"a", compared=True), lines(b"b", compared=True)) == (0, {"changed": [ID]})


NEWER = "linux-x86_64/bash-5.3.0/local"
MAC = "macos-arm64/bash-5.2.15/local"


@pytest.mark.parametrize(
    ("environment", "option"),
    [(NEWER, "bash 5.2=bash 5.3"), (NEWER, "bash 5=bash 5.3.0"), (MAC, "linux-x86_64=macos-arm64")],
)
def test_other_ground_is_compared_on_purpose(environment: str, option: str, tmp_path: Path) -> None:
    old = [result_of(ID), result_of("exit-codes/exit-1/r", environment=environment)]
    new = [result_of(ID, "fail", came=7, environment=environment)]
    assert compare(tmp_path, old, new)[1].keys() == {"added", "removed"}
    code, found = compare(tmp_path, old, new, "--map", option)
    assert (code, found["regressed"]) == (1, [ID])
    assert "exit-codes/exit-1/r" not in str(found)  # it stands on the new ground in the old report


def test_shells_that_only_begin_alike_are_not_mixed_up(tmp_path: Path) -> None:
    old = [result_of(ID, environment="linux-x86_64/pwsh-7.40.0/local")]
    new = [result_of(ID, environment="linux-x86_64/pwsh-7.6.0/local")]
    assert compare(tmp_path, old, new, "--map", "pwsh 7.4=pwsh 7.6")[1].keys() == {"added", "removed"}


def test_a_route_is_compared_with_another_one_and_nothing_else(tmp_path: Path) -> None:
    lines = [
        result_of("exit-codes/exit-0/a"),
        result_of("exit-codes/exit-0/b", "fail", came=1),
        result_of("exit-codes/exit-1/a"),
        result_of("exit-codes/exit-1/b"),
        result_of("exit-codes/exit-1/c"),
    ]
    report = write_report(tmp_path / "report.jsonl", lines)
    assert changed(report, report, "--map-route", "a=b") == (1, {"regressed": ["exit-codes/exit-0/b"]})
    assert changed(report, report, "--map-route", "b=a") == (0, {"fixed": ["exit-codes/exit-0/a"]})


def test_a_shell_that_was_renewed_is_named_with_the_option(tmp_path: Path) -> None:
    old = write_report(tmp_path / "old.jsonl", [result_of(ID)])
    new = write_report(tmp_path / "new.jsonl", [result_of(ID, environment=NEWER)])
    refused = call_cli("diff", old, new)
    assert refused.code == 4
    assert "--map 'bash 5.2.15=bash 5.3.0'" in refused.err


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_report_that_was_cut_short_is_refused_until_it_is_wanted(side: str, tmp_path: Path) -> None:
    lines = [result_of(ID)]
    whole = write_report(tmp_path / "whole.jsonl", lines)
    cut = write_lines(tmp_path / "cut.jsonl", header_of(lines, cases=2), *lines)
    pair = (cut, whole) if side == "old" else (whole, cut)
    refused = call_cli("diff", *pair)
    assert (refused.code, refused.out) == (2, "")
    assert f"{cut}: is incomplete" in refused.err
    allowed = call_cli("diff", *pair, "--allow-incomplete")
    assert allowed.code == 0
    assert f"note: {cut} is incomplete" in allowed.out


def test_a_suite_that_has_changed_is_told_with_what_the_contract_asks(tmp_path: Path) -> None:
    old = write_report(tmp_path / "old.jsonl", [result_of(ID)])
    new = write_report(tmp_path / "new.jsonl", [result_of(ID, "fail", expected=exited(7), discrepancies=[
        {"subject": "status", "meaning": "another code"}])], digest="cd" * 32)  # fmt: skip
    shown = call_cli("diff", old, new).out
    assert "note: the suites differ" in shown
    assert "the contract asked for exited(0), and asks for exited(7) now" in shown


def test_markdown_is_short_enough_for_a_comment_and_folds_the_details(tmp_path: Path) -> None:
    ids = [f"topic/{number:05}/r" for number in range(3000)]
    old = write_report(tmp_path / "old.jsonl", [result_of(id_) for id_ in ids])
    new = write_report(tmp_path / "new.jsonl", [result_of(id_, "fail", came=1, reason="x" * 9000) for id_ in ids])
    shown = call_cli("diff", old, new, "--markdown")
    assert shown.code == 1
    assert len(shown.out) <= COMMENT_CHARACTERS
    assert shown.out.startswith("### conformance: regressions\n")
    assert shown.out.count("<details") == shown.out.count("</details>") == 1
    listed = shown.out.count("\n- `topic/")
    assert f"- and {3000 - listed} more: " in shown.out
    assert listed > 100


@pytest.mark.parametrize(
    "options",
    [
        ["--map", "pwsh 7.4"],
        ["--map", "pwsh 7.4=linux-x86_64"],
        ["--map", "a=b=c"],
        ["--map-route", "a"],
        ["--map-route", "=b"],
        ["--fail-on", "regressed"],
    ],
)
def test_a_map_that_is_none_is_a_usage_error(options: list[str], tmp_path: Path) -> None:
    report = write_report(tmp_path / "report.jsonl", [result_of(ID)])
    refused = call_cli("diff", report, report, *options)
    assert (refused.code, refused.out) == (2, "")
    assert "Traceback" not in refused.err


def test_the_last_result_of_a_case_that_was_run_again_counts(tmp_path: Path) -> None:
    old = write_report(tmp_path / "old.jsonl", [result_of(ID)])
    lines = [result_of(ID, "fail", came=1), result_of(ID)]
    new = write_lines(tmp_path / "new.jsonl", header_of(lines), *lines, footer_of(lines))
    assert changed(old, new) == (0, {})


def test_a_case_under_its_former_id_is_the_same_case(tmp_path: Path) -> None:
    old = write_report(tmp_path / "old.jsonl", [result_of("topic/former/was"), result_of("topic/gone/was")])
    lines = [result_of("topic/today/is", "fail", came=1)]
    header = dict(header_of(lines))
    header["fixtures"] = [{**header["fixtures"][0], "aliases": ["topic/former"]}]
    header["routes"] = [{**header["routes"][0], "aliases": ["was"]}]
    new = write_lines(tmp_path / "new.jsonl", header, *lines, footer_of(lines))
    assert changed(old, new) == (1, {"regressed": ["topic/today/is"], "removed": ["topic/gone/is"]})
    assert "was  pass exited(0) (topic/former/was on " in call_cli("diff", old, new).out
