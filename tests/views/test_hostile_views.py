"""Whatever stands in a report, no view of it executes, breaks out of its format, or commands who reads it."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from conftest import call_cli
from hostile_reports import hostile_reports, log_commands, moves_a_cursor
from hypothesis import HealthCheck, Phase, given, settings
from markdown_reading import read_markdown

from conformance.cli.report import VIEWS
from conformance.report.index import IndexedReport, index_report
from conformance.report.results import told_of
from conformance.views.annotations import workflow_commands
from conformance.views.citation import citation
from conformance.views.csv_table import COLUMNS
from conformance.views.document import Sentences, as_markdown
from conformance.views.junit import WHOLE
from conformance.views.screen import screen

REPORTS = hostile_reports()
few = settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a whole report takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
MARKDOWN_TAGS = {
    "h3", "h4", "p", "ul", "li", "details", "summary", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "a",
    "blockquote",
}  # fmt: skip


@contextmanager
def opened(data: bytes) -> Iterator[IndexedReport]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.jsonl")
        path.write_bytes(data)
        with index_report(path) as report:
            yield report


def view(name: str, report: IndexedReport) -> str:
    return "".join(VIEWS[name][0](report))


@few
@given(REPORTS)
def test_a_terminal_is_not_commanded(data: bytes) -> None:
    with opened(data) as report:
        for width in (40, 1000):
            shown = "\n".join(row.plain for row in screen(told_of(report), width))
            assert not moves_a_cursor(shown)
            assert not log_commands(shown)


def check_markdown(text: str) -> None:
    seen = read_markdown(text)
    assert seen.tags <= MARKDOWN_TAGS
    assert seen.attributes <= {"href", "open", "class", "style"}
    assert all(link.startswith(("https://", "http://")) for link in seen.links)
    prose = "".join(seen.text)
    assert not re.search(r"@\w|#\d|GH-\d|www\.", prose), "GitHub would make a mention or a reference of it"
    assert not moves_a_cursor(text)
    assert not log_commands(text)


@few
@given(REPORTS)
def test_markdown_is_ours_and_nothing_else(data: bytes) -> None:
    with opened(data) as report:
        check_markdown(view("markdown", report))


@few
@given(REPORTS)
def test_a_citation_is_ours_and_nothing_else(data: bytes) -> None:
    with opened(data) as report:
        for line in report.lines():
            check_markdown(as_markdown(citation(report.header, line, Sentences("No script."))))


@few
@given(REPORTS)
def test_junit_is_well_formed_and_says_what_the_report_says(data: bytes) -> None:
    with opened(data) as report:
        text = view("junit", report)
        root = ET.fromstring(text)
        cases = [case.get("name") for case in root.iter("testcase") if case.get("classname") != WHOLE]
        assert cases == [line["id"] for line in report.lines_by_column()]
        check_junit(root)
        assert not moves_a_cursor(text)
        assert not log_commands(text)


def check_junit(root: ET.Element) -> None:
    """Check what Jenkins's schema (junit-10.xsd of its xunit plug-in) asks of a file: names, places and attributes."""
    children = {
        "testsuites": {"testsuite"},
        "testsuite": {"properties", "testcase"},
        "properties": {"property"}, "property": set(),
        "testcase": {"failure", "error", "skipped", "system-out"},
        "failure": set(), "error": set(), "skipped": set(), "system-out": set(),
    }  # fmt: skip
    attributes = {
        "testsuites": {"name"},
        "properties": set(),
        "property": {"name", "value"},
        "testsuite": {"name", "tests", "failures", "errors", "skipped"},
        "testcase": {"name", "classname", "time"},
        "failure": {"type", "message"},
        "error": {"type", "message"},
        "skipped": {"type", "message"},
        "system-out": set(),
    }
    for element in root.iter():
        assert {child.tag for child in element} <= children[element.tag]
        assert set(element.keys()) <= attributes[element.tag]
    for suite in root:
        cases = suite.findall("testcase")
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name, "")) == sum(case.find(tag) is not None for case in cases), name
        assert int(suite.get("tests", "")) == len(cases)


@few
@given(REPORTS)
def test_csv_has_a_row_for_each_result_and_no_formula(data: bytes) -> None:
    with opened(data) as report:
        text = view("csv", report)
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert rows[0] == list(COLUMNS)
        lines = list(report.lines())
        assert [row[0] for row in rows[1:]] == [line["id"] for line in lines]
        assert {len(row) for row in rows} == {len(COLUMNS)}
        assert not [cell for row in rows[1:] for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert text.count("\n") == len(rows)
        assert not moves_a_cursor(text, "\r\n\t")
        assert not log_commands(text)


@few
@given(REPORTS)
def test_a_badge_is_json(data: bytes) -> None:
    with opened(data) as report:
        badge = json.loads(view("badge", report))
        assert badge["schemaVersion"] == 1
        assert set(badge) == {"schemaVersion", "label", "message", "color", "isError"}


@few
@given(REPORTS)
def test_only_our_annotations_are_in_the_log(data: bytes) -> None:
    with opened(data) as report:
        log = "".join(workflow_commands(report))
        for line in log.splitlines():
            assert re.fullmatch(r"::(error|warning) title=[^:,\r\n]*::[^\r\n]*", line)
            assert "##[" not in line
        assert len(log_commands(log)) == len(log.splitlines())
        assert not moves_a_cursor(log)


@few
@given(REPORTS, REPORTS)
def test_a_comparison_is_told_without_harm(old: bytes, new: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("old.jsonl", "new.jsonl")]
        for path, data in zip(paths, (old, new), strict=True):
            path.write_bytes(data)
        for form in ([], ["--markdown"], ["--json"]):
            shown = call_cli("diff", *paths, "--allow-incomplete", *form)
            assert shown.code in (0, 1, 4)
            assert not moves_a_cursor(shown.out + shown.err)
            assert not log_commands(shown.out + shown.err)
            if form == ["--json"] and shown.out:
                assert isinstance(json.loads(shown.out), Mapping)
            if form == ["--markdown"]:
                check_markdown(shown.out)


def test_the_checks_can_fail() -> None:
    for text in (
        "<script>a</script>",
        "![a](https://example.org/a.png)",
        "[a](mailto:b@c)",
        "@everyone",
        "a #1",
        "::error::x",
    ):
        with pytest.raises(AssertionError):
            check_markdown(text)
    suite = ET.fromstring('<testsuites><testsuite name="a" tests="2"><testcase name="a"/></testsuite></testsuites>')
    with pytest.raises((AssertionError, ValueError)):
        check_junit(suite)
    assert log_commands("a\n  ::error::b")
    assert moves_a_cursor("a\x1b[1mb")
