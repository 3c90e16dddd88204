"""What stands in the page without its program, and what the page may do."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from html_reading import read_page
from html_world import COLLAPSED, FAILING, PWSH, WINDOWS, html_of, lines_of_everything, stream_of, write_everything
from report_files import footer_of, header_of, result_of, write_lines, write_report

from conformance.report.index import index_report
from conformance.views.html import page
from conformance.views.terminal import PROVISIONAL_NOTE

pytest_plugins = ("html_fixtures",)


def test_it_says_first_what_is_wrong(everything: Path) -> None:
    read = read_page(html_of(everything))
    assert read.text_of("h1") == "1 error, 2 fail, 1 fixed, 1 finding, 1 of these provisional, in 13 results"
    assert read.items("wrong") == [
        "the route sh-command is not what it says: run it again",
        "ERROR codes/two/sh-command: the route broke: no answer",
        f"FAIL 2>3221225477 {FAILING} on {WINDOWS}: {COLLAPSED}; other bytes came",
        f"FAIL 0>9? bytes/nul/pwsh-file on {WINDOWS}{PROVISIONAL_NOTE}: another code",
        "FIXED codes/seven/sh-command on linux-x86_64/bash-5.2.15/local: fixed for a reason",
    ]
    order = [read.source.index(part) for part in ("<h1", 'id="wrong"', "<noscript>", 'class="facts"', 'id="filters"')]
    assert order == sorted(order)


def test_the_links_to_what_is_wrong_name_the_environment_where_the_route_has_several(everything: Path) -> None:
    links = read_page(html_of(everything)).links
    assert "#case=codes/two/sh-command" in links
    assert f"#case={FAILING}&on={WINDOWS}" in links


def test_a_report_that_was_cut_short_says_so_before_all_else(tmp_path: Path) -> None:
    lines = [result_of("a/b/c"), result_of("a/c/c", "fail", came=1)]
    read = read_page(html_of(write_lines(tmp_path / "r.jsonl", header_of(lines, cases=7), *lines)))
    assert read.text_of("h1") == "incomplete: it was cut short after 2 of 7 cases; 1 fail"
    assert read.items("wrong")[0] == "The run was cut short: the report has no footer."
    assert "FAIL 0>1 a/c/c" in read.items("wrong")[1]


def test_a_merge_of_runs_that_were_cut_short_names_them(tmp_path: Path) -> None:
    lines = [result_of("a/b/c")]
    header = header_of(lines, shard=(2, 3), cases=5)
    read = read_page(html_of(write_lines(tmp_path / "r.jsonl", header, *lines, footer_of(lines, incomplete=[0]))))
    assert read.text_of("h1") == "incomplete: cut short or without all shards: shard 2/3 of linux-x86_64/local"
    assert read.items("wrong") == ["A run was cut short: linux-x86_64/local, shard 2/3"]


def test_a_report_without_fault_says_that(tmp_path: Path) -> None:
    read = read_page(html_of(write_report(tmp_path / "r.jsonl", [result_of("a/b/c"), result_of("a/b/d")])))
    assert read.text_of("h1") == "2 results, all as documented"
    assert read.items("wrong") == []


def test_a_report_of_nothing_is_a_page_as_well(tmp_path: Path) -> None:
    read = read_page(html_of(write_report(tmp_path / "r.jsonl", [])))
    assert read.text_of("h1") == "0 results, all as documented"
    assert read.data("results") == []


def test_without_javascript_the_verdict_and_the_counts_are_there(everything: Path) -> None:
    assert read_page(html_of(everything)).text_of("noscript") == (
        "The grid of results needs JavaScript. "
        "1 error, 2 fail, 1 fixed, 1 finding, 1 of these provisional, in 13 results. "
        "All counts: 6 pass, 1 deviates, 2 fail, 1 fixed, 1 error, 1 unavailable, 1 skipped."
    )


def test_all_seven_results_are_counted_with_what_gates_is_provisional_or_rests_on_text(everything: Path) -> None:
    read = read_page(html_of(everything))
    assert [text for text in read.texts_of("button") if text] == [
        "6 pass", "1 deviates", "2 fail", "1 fixed", "1 error", "1 unavailable", "1 skipped", "show all",
    ]  # fmt: skip
    notes = read.texts_of("ul", "notes")[0]
    assert "2 fail the run" in notes
    assert "1 provisional (?)" in notes
    assert "1 judged on text" in notes


def test_the_suite_and_each_run_are_named(everything: Path) -> None:
    facts = read_page(html_of(everything)).texts_of("div", "facts")[0]
    assert f"shell-exit-conformance 0.1.0, SHA-256 {'ab' * 32}" in facts
    for part in ("linux-x86_64/local", "windows-amd64/local", "bash 5.2.15, /bin/bash (PATH)", "no pwsh",
                 "unavailable: pwsh is not on PATH", "release 6.1", "3.11.2", "$HOME", "{{place}}/home"):  # fmt: skip
        assert part in facts


def test_many_runs_are_folded_behind_their_number(tmp_path: Path) -> None:
    lines = [result_of("a/b/c")]
    header = dict(header_of(lines, shard=(1, 9)))
    header["runs"] = header["runs"] * 9
    read = read_page(html_of(write_lines(tmp_path / "r.jsonl", header, *lines, footer_of(lines))))
    assert read.texts_of("summary")[0] == "9 runs on linux-x86_64/local"


def test_many_errors_of_one_reason_are_one_line(tmp_path: Path) -> None:
    broken = [result_of(f"a/b{number}/c", "error", reason="it broke") for number in range(500)]
    other = [result_of(f"b/b{number}/c", "error", reason=f"broken in way {number}") for number in range(200)]
    items = read_page(html_of(write_report(tmp_path / "r.jsonl", [*broken, *other]))).items("wrong")
    assert items[0] == "ERROR a/b0/c and 499 more: it broke"
    assert items[-1] == "and 151 other errors"
    assert len(items) == 51


def test_many_failures_are_listed_up_to_a_limit_and_counted(tmp_path: Path) -> None:
    lines = [result_of(f"a/b{number}/c", "fail", came=1) for number in range(60)]
    read = read_page(html_of(write_report(tmp_path / "r.jsonl", lines)))
    assert read.items("wrong")[-1] == "and 10 more"
    assert "#result=fail&result=fixed" in read.links


def test_nothing_may_run_or_load_but_its_own_program_and_style(everything: Path) -> None:
    read = read_page(html_of(everything))
    policy = dict(part.strip().split(" ", 1) for part in read.policy.split(";"))
    assert policy["default-src"] == "'none'"
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        (text,) = read.texts_of_code(tag)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[source] == f"'sha256-{digest}'"


def test_no_address_is_loaded_from(everything: Path) -> None:
    source = html_of(everything)
    assert not re.search(r"\b(src|srcset|action|formaction|poster)\s*=", source.partition("<style>")[0])
    assert not re.search(r"@import|url\(", "".join(read_page(source).texts_of_code("style")))


def test_the_program_makes_text_only(everything: Path) -> None:
    """The policy forbids it as well, in the browsers that know trusted types."""
    (program,) = read_page(html_of(everything)).texts_of_code("script")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|DOMParser", program)


def test_the_results_are_told_in_order_and_texts_once(everything: Path) -> None:
    read = read_page(html_of(everything))
    results = read.data("results")
    assert [fixture for fixture, *_ in results] == [
        "bytes/lines", "bytes/nul", "codes/seven", "codes/two", "sessions/steps",
    ]  # fmt: skip
    assert sum(len(rest) - 2 for _, *rest in results) == len(lines_of_everything())
    texts = read.data("pool")["texts"]
    assert len(texts) == len(set(texts))
    assert read.data("overview")["columns"] == [
        ["sh-command", "linux-x86_64/bash-5.2.15/local"],
        ["pwsh-file", PWSH],
        ["pwsh-file", WINDOWS],
        ["adapter", "linux-x86_64/bash-5.2.15/local"],
    ]


def test_of_what_passed_only_the_beginning_of_a_long_stream_is_told(tmp_path: Path) -> None:
    step = {**result_of("a/b/c")["steps"][0], "stdout": stream_of(bytes(2000)), "stderr": stream_of(b"short")}
    passing = html_of(write_report(tmp_path / "p.jsonl", [result_of("a/b/c", steps=[step])]))
    failing = html_of(write_report(tmp_path / "f.jsonl", [result_of("a/b/c", "fail", came=1, steps=[step])]))
    zeros = base64.b64encode(bytes(2000)).decode()
    assert zeros in failing
    assert zeros not in passing
    assert base64.b64encode(bytes(256)).decode() in passing
    assert base64.b64encode(b"short").decode() in passing


def test_the_page_is_made_as_it_is_written(tmp_path: Path) -> None:
    """No part holds all results."""
    with index_report(write_everything(tmp_path / "r.jsonl")) as report:
        parts = list(page(report))
    assert sum('["bytes/lines"' in part or '["sessions/steps"' in part for part in parts) == 2
