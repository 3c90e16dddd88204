"""`conformance merge` joins shards and environments, whatever their order, and refuses what would mislead."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import DEVIATION, MATRIX, Finished, call_cli, run_cli, valid_report
from report_files import LOCAL_BASH, Line, footer_of, header_of, result_of, write_lines, write_report

IDS = [f"topic/name-{number}/r" for number in range(6)]


def merge(*arguments: str | Path) -> Finished:
    return call_cli("merge", *arguments)


def shards(folder: Path, count: int, **header: Any) -> list[Path]:
    """Write the reports of `count` shards."""
    return [
        write_report(
            folder / f"{part}.jsonl", [result_of(id_) for id_ in IDS[part - 1 :: count]], shard=(part, count), **header
        )
        for part in range(1, count + 1)
    ]


def test_real_shards_are_as_the_whole_run(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MATRIX + DEVIATION.format(code=0), encoding="utf-8")
    whole = tmp_path / "whole.jsonl"
    assert run_cli("run", tmp_path / "mine.toml", "--report", whole).code == 0
    parts = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for number, part in enumerate(parts, start=1):
        assert run_cli("run", tmp_path / "mine.toml", "--shard", f"{number}/2", "--report", part).code == 0
    merged = tmp_path / "merged.jsonl"
    assert merge(*parts, "-o", merged).code == 0
    both = valid_report(whole), valid_report(merged)
    results = [
        {line["id"]: (line["environment"], line["result"], line["status"]) for line in report.results}
        for report in both
    ]
    assert results[0] == results[1]
    assert both[0].footer is not None
    assert both[1].footer is not None
    for key in ("results", "findings", "incomplete", "exit_code"):
        assert both[0].footer[key] == both[1].footer[key]
    assert both[0].header["cases"] == both[1].header["cases"]
    assert [run["shard"] for run in both[1].header["runs"]] == [{"part": 1, "of": 2}, {"part": 2, "of": 2}]


def test_what_only_all_shards_show_is_found_when_they_are_merged(tmp_path: Path) -> None:
    agreement = """
[[agreement]]
routes = ["faithful", "always-0"]
fixtures = ["exit-codes/exit-7"]
reason = "they are one"
url = "https://example.org/one"
"""
    route = tmp_path / "mine.toml"
    route.write_text(MATRIX + DEVIATION.format(code=0) + agreement, encoding="utf-8")
    parts = [tmp_path / f"{number}.jsonl" for number in range(1, 9)]
    codes = [
        run_cli("run", route, "--shard", f"{number}/8", "--report", part).code
        for number, part in enumerate(parts, start=1)
    ]
    written = [part for part in parts if part.exists()]
    assert set(codes) == {0, 4}, "each side of the agreement has a shard of its own, and some shards are empty"
    merged = tmp_path / "merged.jsonl"
    said = run_cli("merge", *written, "--allow-incomplete", "--route", route, "-o", merged)
    assert said.code == 0
    footer = valid_report(merged).footer
    assert footer is not None
    assert "the agreement on status (they are one" in str(footer["findings"])
    assert "the agreement on status" in said.err


def test_the_order_of_the_reports_does_not_matter(tmp_path: Path) -> None:
    parts = shards(tmp_path, 3)
    one, other = tmp_path / "one", tmp_path / "other"
    assert merge(*parts, "-o", one).code == 0
    assert merge(*reversed(parts), "-o", other).code == 0
    assert one.read_bytes() == other.read_bytes()
    assert [line["id"] for line in valid_report(one).results] == sorted(IDS)


def test_what_was_merged_can_be_merged_again(tmp_path: Path) -> None:
    parts = shards(tmp_path, 3)
    assert merge(*parts, "-o", tmp_path / "at once").code == 0
    assert merge(*parts[:2], "--allow-incomplete", "-o", tmp_path / "two").code == 0
    # Two of three are marked as what they are, so the third does not make them whole.
    assert merge(tmp_path / "two", parts[2], "-o", tmp_path / "again").code == 2
    other = write_report(
        tmp_path / "mac.jsonl",
        [result_of(IDS[0], environment="macos-arm64/bash-5.2.15/local")],
        environment="macos-arm64/local",
    )
    assert merge(tmp_path / "at once", other, "-o", tmp_path / "both").code == 0
    both = valid_report(tmp_path / "both")
    assert len(both.results) == len(IDS) + 1
    assert both.complete


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("another suite", "2.jsonl: is of another suite than"),
        ("another version", "2.jsonl: is of another version of conformance than"),
        ("the same twice", "stands in"),
        ("a copy", "shard 1/2 of linux-x86_64/local in"),
        ("one is missing", "shard 2/2 of linux-x86_64/local is missing"),
        ("cut short", "2.jsonl: is incomplete"),
        ("other counts", "2.jsonl: the footer counts other results than there are"),
        ("fewer results", "2.jsonl: has a footer, and 2 results of 3 cases"),
        ("other shards", "is not one of 4 shards"),
        ("no report", "2.jsonl:1: not a report"),
    ],
)
def test_what_would_mislead_is_refused_and_nothing_is_written(broken: str, said: str, tmp_path: Path) -> None:
    one, two = shards(tmp_path, 2)
    lines = two.read_text(encoding="utf-8").splitlines(keepends=True)
    reports: Sequence[str | Path] = [one, two]
    if broken == "another suite":
        two.write_text("".join(lines).replace("ab" * 32, "cd" * 32))
    elif broken == "another version":
        two.write_text("".join(lines).replace('"version": "0.1.0"', '"version": "0.2.0"'))
    elif broken == "the same twice":
        reports = [one, two, one]
    elif broken == "a copy":
        (tmp_path / "copy.jsonl").write_bytes(one.read_bytes())
        reports = [one, two, tmp_path / "copy.jsonl"]
    elif broken == "one is missing":
        reports = [one]
    elif broken == "cut short":
        two.write_text("".join(lines[:-1]))
    elif broken == "other counts":
        two.write_text("".join([*lines[:-1], lines[-1].replace('"pass": 3', '"pass": 2')]))
    elif broken == "fewer results":
        two.write_text("".join([*lines[:-2], lines[-1].replace('"pass": 3', '"pass": 2')]))
    elif broken == "other shards":
        reports = [one, two, "--expect-shards", "4"]
    else:
        two.write_text("{}\n")
    refused = merge(*reports, "-o", tmp_path / "merged.jsonl")
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert not (tmp_path / "merged.jsonl").exists()
    assert not list(tmp_path.glob("*.part"))


def test_what_was_cut_short_is_marked_where_it_is_wanted(tmp_path: Path) -> None:
    one, two = shards(tmp_path, 2)
    two.write_text("".join(two.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]))
    merged = tmp_path / "merged.jsonl"
    said = merge(one, two, "--allow-incomplete", "-o", merged)
    assert said.code == 0
    assert f"incomplete: shard 2/2 of linux-x86_64/local in {two}" in said.err
    report = valid_report(merged)
    assert report.footer is not None
    assert not report.complete
    assert (report.footer["incomplete"], report.footer["exit_code"]) == ([1], 3)
    assert len(report.results) == len(IDS) - 1
    assert report.header["cases"] == len(IDS)


def test_a_shard_that_one_of_several_machines_lacks_is_missing(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    old = shards(tmp_path / "old", 2)
    new = []
    for part in shards(tmp_path, 2):
        text = part.read_text(encoding="utf-8")
        assert '"version": "5.2.15"' in text
        part.write_text(text.replace('"version": "5.2.15"', '"version": "5.3.0"').replace("bash-5.2.15", "bash-5.3.0"))
        new.append(part)
    assert merge(*old, *new, "-o", tmp_path / "merged").code == 0
    refused = merge(*old, new[0], "-o", tmp_path / "less")
    assert refused.code == 2
    assert "shard 2/2 of linux-x86_64/local is missing" in refused.err


def differing(tmp_path: Path, first: Line, second: Line) -> tuple[list[Line], list[str]]:
    """Merge two runs of other selections that share a case, and return the results and the findings."""
    paths = []
    for name, line in (("a", first), ("b", second)):
        header = dict(header_of([line]))
        header["runs"] = [{**header["runs"][0], "selection": f"-k {name}"}]
        paths.append(write_lines(tmp_path / f"{name}.jsonl", header, line, footer_of([line])))
    merged = tmp_path / "merged.jsonl"
    assert merge(*paths, "-o", merged).code == 0
    report = valid_report(merged)
    assert report.footer is not None
    assert report.complete
    assert report.header["cases"] == 1
    return list(report.results), report.footer["findings"]


def test_of_two_results_of_a_case_the_worse_counts_and_the_other_is_told(tmp_path: Path) -> None:
    for number, pair in enumerate([("pass", 0, "fail", 1), ("fail", 1, "pass", 0)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        first, second = result_of(IDS[0], pair[0], came=pair[1]), result_of(IDS[0], pair[2], came=pair[3])
        results, findings = differing(folder, first, second)
        assert [line["result"] for line in results] == ["fail"]
        assert len(findings) == 1
        assert f"{IDS[0]} on {LOCAL_BASH} came out in more than one way" in findings[0]
        assert "pass exited(0)" in findings[0]
        assert "fail exited(1)" in findings[0]


def test_two_equal_results_of_a_case_are_one(tmp_path: Path) -> None:
    results, findings = differing(tmp_path, result_of(IDS[0]), result_of(IDS[0]))
    assert ([line["id"] for line in results], findings) == ([IDS[0]], [])


def test_bodies_in_all_languages_are_kept(tmp_path: Path) -> None:
    line = result_of(IDS[0])
    other = result_of(IDS[0].replace("/r", "/q"), environment="macos-arm64/bash-5.2.15/local")
    header = dict(header_of([other], environment="macos-arm64/local"))
    header["fixtures"] = [
        {**header["fixtures"][0], "steps": [{"bodies": {"pwsh": "exit 0 # pwsh"}, "stdin": "0 bytes"}]}
    ]
    paths = [write_report(tmp_path / "a", [line]), write_lines(tmp_path / "b", header, other, footer_of([other]))]
    assert merge(*paths, "-o", tmp_path / "merged").code == 0
    (fixture,) = valid_report(tmp_path / "merged").header["fixtures"]
    assert fixture["steps"][0]["bodies"] == {"sh": "exit 0", "pwsh": "exit 0 # pwsh"}


def test_an_existing_file_stays_as_it_is_until_the_merge_is_whole(tmp_path: Path) -> None:
    (one,) = shards(tmp_path, 1)
    merged = tmp_path / "merged.jsonl"
    merged.write_text("what was there")
    assert merge(one, one, "-o", merged).code == 2
    assert merged.read_text() == "what was there"
    assert merge(one, "-o", merged).code == 0
    assert json.loads(merged.read_text().splitlines()[-1])["kind"] == "footer"


@pytest.mark.parametrize("place", ["missing/merged.jsonl", "."])
def test_a_place_that_cannot_be_written_is_one_sentence(place: str, tmp_path: Path) -> None:
    (one,) = shards(tmp_path, 1)
    refused = merge(one, "-o", tmp_path / place)
    assert refused.code == 2
    assert "Traceback" not in refused.err


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (one,) = shards(tmp_path, 1)
    refused = merge(one, "-o", "/dev/full")
    assert refused.code == 3
    assert "No space left on device" in refused.err
