"""The views that are files: what their readers make of them, whatever a report holds."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from hostile_reports import hostile_reports, log_commands, moves_a_cursor
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_files import DEVIATION, Line, footer_of, header_of, result_of, write_lines

from conformance.report.index import IndexedReport, index_report
from conformance.views.annotations import SHOWN, workflow_commands
from conformance.views.badge import badge
from conformance.views.changes import COMMENT_CHARACTERS
from conformance.views.csv_table import COLUMNS, FORMULA, csv_table
from conformance.views.junit import junit
from conformance.views.markdown import markdown

HOSTILE = settings(max_examples=120, deadline=None)


@contextmanager
def indexed(content: bytes) -> Iterator[IndexedReport]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.jsonl")
        path.write_bytes(content)
        with index_report(path) as report:
            yield report


@contextmanager
def report_of(
    lines: Sequence[Line], *, findings: Sequence[str] = (), whole: bool = True, exit_code: int | None = None
) -> Iterator[IndexedReport]:
    footer = footer_of(lines, findings=findings)
    footer = footer if exit_code is None else {**footer, "exit_code": exit_code}
    with tempfile.TemporaryDirectory() as folder:
        path = write_lines(
            Path(folder, "r.jsonl"), header_of(lines, cases=len(lines)), *lines, *([footer] if whole else [])
        )
        with index_report(path) as report:
            yield report


# JUnit

ALLOWED = {
    "testsuites": ({"testsuite"}, {"name"}),
    "testsuite": ({"properties", "testcase"}, {"name", "tests", "failures", "errors", "skipped"}),
    "properties": ({"property"}, set()),
    "property": (set(), {"name", "value"}),
    "testcase": ({"failure", "error", "skipped", "system-out"}, {"name", "classname", "time"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
    "system-out": (set(), set()),
}
"""The children and attributes that all readers take: Jenkins's junit-10.xsd, of which this is a part."""


def check_junit(element: Element) -> None:
    children, attributes = ALLOWED[element.tag]
    assert {child.tag for child in element} <= children
    assert set(element.attrib) <= attributes
    if element.tag == "testcase":
        assert set(element.attrib) == attributes
        assert len([child for child in element if child.tag != "system-out"]) <= 1
        assert re.fullmatch(r"\d+(\.\d{3})?", element.attrib["time"])
        assert element.attrib["classname"].count(".") == 1, "Jenkins cuts it at the last one"
    for child in element:
        check_junit(child)
    if element.tag == "testsuite":
        outcomes = Counter(inner.tag for test in element.iter("testcase") for inner in test)
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[attribute]) == outcomes[tag]


def outcomes(root: Element) -> dict[str, str]:
    return {test.attrib["name"]: next((child.tag for child in test), "passes") for test in root.iter("testcase")}


def test_each_result_is_what_a_ci_system_makes_of_it() -> None:
    results = {
        "pass": "passes", "deviates": "system-out", "fail": "failure", "fixed": "failure",
        "error": "error", "unavailable": "skipped", "skipped": "skipped",
    }  # fmt: skip
    lines = [result_of(f"a/{result}/r", result) for result in results]
    lines.append(result_of("a/provisional/r", "fail", provisional=True))
    with report_of(lines) as report:
        root = fromstring("".join(junit(report)))
    check_junit(root)
    found = outcomes(root)
    assert {name: found[f"a/{name}/r"] for name in results} == results
    assert found["a/provisional/r"] == "skipped"
    assert (found["complete"], found["findings"], found["required-shells"]) == ("passes", "passes", "passes")
    deviates = next(test for test in root.iter("testcase") if test.attrib["name"] == "a/deviates/r")
    assert (deviates.findtext("system-out") or "").split("\n") == [
        "[[PROPERTY|conformance_result=deviates]]",
        "[[PROPERTY|conformance_environment=linux-x86_64/bash-5.2.15/local]]",
        "[[PROPERTY|conformance_basis=bytes]]",
        f"deviates as documented: {DEVIATION['reason']} ({DEVIATION['url']})",
    ]


@pytest.mark.parametrize(
    ("whole", "findings", "exit_code", "name", "outcome"),
    [
        (False, [], None, "complete", "error"),
        (True, ["two routes disagree"], None, "findings", "failure"),
        (True, [], 3, "required-shells", "error"),
    ],
)
def test_a_run_that_proves_nothing_is_not_green(
    whole: bool,  # noqa: FBT001 - a parameter of the test
    findings: list[str],
    exit_code: int | None,
    name: str,
    outcome: str,
) -> None:
    with report_of([result_of("a/b/r")], whole=whole, findings=findings, exit_code=exit_code) as report:
        root = fromstring("".join(junit(report)))
    check_junit(root)
    assert outcomes(root)[name] == outcome
    assert list(outcomes(root).values()).count("passes") == 3


def test_a_suite_is_a_route_in_an_environment() -> None:
    keys = ["linux-x86_64/bash-5.2/local", "linux-x86_64/bash-5.1/local"]
    lines = [result_of(f"a/{name}/{route}", environment=key) for name in "xy" for route in "rs" for key in keys]
    with report_of(lines) as report:
        root = fromstring("".join(junit(report)))
    names = [suite.attrib["name"] for suite in root]
    assert names == ["the run as a whole", *(f"{route} on {key}" for route in "rs" for key in reversed(keys))]
    assert {test.attrib["classname"] for test in root[1].iter("testcase")} == {"linux-x86_64/bash-5_1/local.r"}


@given(hostile_reports())
@HOSTILE
def test_junit_of_a_hostile_report_is_xml_of_that_kind(content: bytes) -> None:
    with indexed(content) as report:
        text = "".join(junit(report))
        ids = Counter(line["id"] for line in report.lines())
        gating = report.gating
    root = fromstring(text.encode("utf-8"))
    check_junit(root)
    assert not moves_a_cursor(text)
    tests = [test for test in root.iter("testcase") if test.attrib["classname"] != "conformance.run"]
    assert Counter(test.attrib["name"] for test in tests) == ids
    assert sum(test.find("failure") is not None for test in tests) == gating
    for output in root.iter("system-out"):
        assert re.findall(r"\[\[(\w+)\|", output.text or "") == ["PROPERTY"] * 3


# CSV


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_the_table_says_what_the_report_says() -> None:
    line = result_of("a/b/r", "fail", came=0xC0000005, reason='expected "7", came\nmore')
    with report_of([line, result_of("a/c/r", "skipped")]) as report:
        text = "".join(csv_table(report))
    head, first, second = rows_of(text)
    told = dict(zip(head, first, strict=True))
    assert tuple(head) == COLUMNS
    assert (told["id"], told["result"], told["provisional"]) == ("a/b/r", "fail", "false")
    assert (told["status"], told["status_code"]) == ("exited(3221225477 = 0xC0000005)", "3221225477")
    assert (told["reason"], told["seconds"], told["stdout_bytes"]) == ('expected "7", came', "0.100", "0")
    assert dict(zip(head, second, strict=True))["seconds"] == ""
    assert text.count("\r\n") == text.count("\n") == 3


@given(hostile_reports())
@HOSTILE
def test_the_table_of_a_hostile_report_has_its_rows_and_no_formula(content: bytes) -> None:
    with indexed(content) as report:
        text = "".join(csv_table(report))
        lines = list(report.lines())
    rows = rows_of(text)
    assert len(rows) == 1 + len(lines)
    for row, line in zip(rows[1:], lines, strict=True):
        assert len(row) == len(COLUMNS)
        assert (row[0], row[4]) == (line["id"], line["result"])
        assert not any(cell.lstrip(" ").startswith(FORMULA) for cell in row)
    assert not moves_a_cursor(text.replace("\r\n", ""), "\t")


# The badge


@pytest.mark.parametrize(
    ("lines", "whole", "message", "color"),
    [
        ([result_of("a/b/r")], True, "1 result, all as documented", "brightgreen"),
        ([result_of("a/b/r", "fail", came=1)], True, "1 fail, in 1 result", "red"),
        ([result_of("a/b/r")], False, "incomplete", "lightgrey"),
    ],
)
def test_a_badge(lines: list[Line], whole: bool, message: str, color: str) -> None:  # noqa: FBT001
    with report_of(lines, whole=whole) as report:
        value = json.loads("".join(badge(report)))
    assert value == {
        "schemaVersion": 1, "label": "conformance", "message": message, "color": color, "isError": not whole,
    }  # fmt: skip


@given(hostile_reports())
@HOSTILE
def test_the_badge_of_a_hostile_report_is_ours(content: bytes) -> None:
    with indexed(content) as report:
        value = json.loads("".join(badge(report)))
    assert re.fullmatch(r"incomplete|[\w ,.]+", value["message"])
    assert set(value) == {"schemaVersion", "label", "message", "color", "isError"}


# Annotations


def parsed(command: str) -> tuple[str, str, str]:
    """Return the kind, title and message that GitHub's runner reads from a line."""
    found = re.fullmatch(r"::(error|warning) title=([^:,\r\n]*)::([^\r\n]*)\n", command)
    assert found, command
    kind, *texts = found.groups()
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        texts = [text.replace(code, char) for text in texts]
    return kind, texts[0], texts[1]


def test_what_fails_is_an_error_and_what_is_provisional_a_warning() -> None:
    lines = [
        result_of("a/a/r", "fail", came=1, reason="100 %:\n a, b"),
        result_of("a/b/r", "error"),
        result_of("a/c/r", "fail", came=1, provisional=True),
        result_of("a/d/r"),
        result_of("a/e/r", "deviates", came=1),
    ]
    with report_of(lines, findings=["two routes disagree"]) as report:
        told = list(map(parsed, workflow_commands(report)))
    assert [(kind, title) for kind, title, _ in told] == [
        ("error", "conformance: finding"),
        ("error", "error a/b/r"),
        ("error", "fail a/a/r"),
        ("warning", "provisional fail a/c/r"),
    ]
    assert told[2][2] == "100 %:\n a, b\non linux-x86_64/bash-5.2.15/local"


def test_a_report_that_proves_nothing_is_an_error() -> None:
    with report_of([result_of("a/b/r")], whole=False) as report:
        assert [parsed(command)[:2] for command in workflow_commands(report)] == [("error", "conformance: incomplete")]
    with report_of([result_of("a/b/r")], exit_code=3) as report:
        title = "conformance: a required shell is missing"
        assert [parsed(command)[:2] for command in workflow_commands(report)] == [("error", title)]


@pytest.mark.parametrize(("count", "shown"), [(SHOWN, SHOWN), (SHOWN + 1, SHOWN), (SHOWN * 3, SHOWN)])
def test_what_github_would_not_show_is_counted(count: int, shown: int) -> None:
    lines = [result_of(f"a/{number}/r", "fail", came=1) for number in range(count)]
    lines += [result_of(f"b/{number}/r", "fixed", provisional=True) for number in range(count)]
    with report_of(lines) as report:
        told = [parsed(command) for command in workflow_commands(report)]
    for kind in ("error", "warning"):
        messages = [message for found, _, message in told if found == kind]
        assert len(messages) == shown
        left = count - shown + 1
        assert (messages[-1] == f"and {left} more: the report has them all") == (count > SHOWN)


@given(hostile_reports())
@HOSTILE
def test_annotations_of_a_hostile_report_are_the_ones_that_are_meant(content: bytes) -> None:
    with indexed(content) as report:
        commands = list(workflow_commands(report))
        gating, errors = report.gating, report.counts().get("error", 0)
        findings = len(report.footer["findings"]) if report.footer else 1
    assert not moves_a_cursor("".join(commands))
    told = [parsed(command) for command in commands]
    assert sum(kind == "error" for kind, _, _ in told) == min(SHOWN, gating + errors + findings)
    assert not log_commands("".join(command.partition("::")[2].partition("::")[2] for command in commands))


# Markdown

OURS = re.compile(r"\s*(<details><summary>why</summary>|</details>)\s*")
MEANS_SOMETHING = re.compile(r"@|#|https?:|www\.|GH-|[<>\[\]*_~\\|`!]")


def tokens_of(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        yield token
        yield from token.children or ()


def test_markdown_says_first_what_is_wrong() -> None:
    lines = [
        result_of("a/a/r", "fail", came=1, environment="linux-x86_64/bash-5.1/local"),
        result_of("a/b/r", "error"),
        result_of("a/c/r"),
        result_of("a/d/s", "deviates", came=1),
    ]
    with report_of(lines, findings=["two routes disagree"]) as report:
        text = "".join(markdown(report))
    expected = [
        "### ❌ conformance: 1 error, 1 fail, 1 finding, in 4 results\n",
        "| 1 | pass | the exact exit status",
        "#### Findings: 1\n\n- `two routes disagree`\n",
        "#### Errors: 1\n\n- `a/b/r` on",
        (
            "#### Not as documented: 1\n\n"
            "- `a/a/r` on `linux-x86_64/bash-5.1/local`: expected `exited(0)`, came `exited(1)`\n"
        ),
        "  <details><summary>why</summary>\n\n  ```text\n  fail for a reason\n  ```\n\n  </details>\n",
        "| route | environment | pass | deviates | fail | error |\n",
        "| `r` | `linux-x86_64/bash-5.1/local` |  |  | 1 |  |\n",
    ]
    places = [text.find(part) for part in expected]
    assert -1 not in places, text
    assert places == sorted(places)


@pytest.mark.parametrize("reason", ["short", "long " * 5000, "``` " * 900])
def test_markdown_fits_a_comment_however_much_is_wrong(reason: str) -> None:
    lines = [result_of(f"a/{number}/r-{number}", "fail", came=1, reason=reason) for number in range(700)]
    with report_of(lines, findings=[reason] * 300) as report:
        text = "".join(markdown(report))
    assert len(text) <= COMMENT_CHARACTERS
    told = len(re.findall("^- `a/", text, re.MULTILINE))
    left = re.findall("^(?:- )?and (\\d+) more: the report has them all$", text, re.MULTILINE)
    assert str(700 - told) in left
    assert text.count("<details>") == text.count("</details>") == told
    assert sum(line.startswith("| `r-") for line in text.splitlines()) + int(left[-1]) == 700


@given(hostile_reports())
@HOSTILE
def test_markdown_of_a_hostile_report_means_nothing_of_it(content: bytes) -> None:
    with indexed(content) as report:
        text = "".join(markdown(report))
        wrong = sum(report.counts().get(kind, 0) for kind in ("error", "fail", "fixed"))
        columns = report.columns()
    assert not moves_a_cursor(text)
    assert not log_commands(text)
    found = Counter(token.type for token in tokens_of(text))
    assert not found.keys() & {"link_open", "image", "em_open", "strong_open", "s_open", "html_inline", "hr"}
    assert found["fence"] == wrong
    assert found["code_block"] == 0
    for token in tokens_of(text):
        if token.type == "html_block":
            assert OURS.fullmatch(token.content), token.content
        if token.type == "text":
            assert not MEANS_SOMETHING.search(token.content), token.content
    headings = found["heading_open"]
    rows = found["tr_open"]
    assert headings == len(
        re.findall(r"^#{3,4} (?:✅|❌|Findings|Errors|Not as|Documented|Routes)", text, re.MULTILINE)
    )
    assert rows == 1 + sum(1 for kind in report_kinds(content)) + (1 + len(columns) if columns else 0)


def report_kinds(content: bytes) -> set[str]:
    lines = [json.loads(line) for line in content.decode("utf-8").splitlines()]
    return {line["result"] for line in lines if line["kind"] == "result"}
