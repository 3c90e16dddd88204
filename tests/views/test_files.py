"""CSV, the badge and annotations: what their readers make of them, whatever a report holds."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hostile_reports import hostile_reports, log_commands, moves_a_cursor
from hypothesis import given
from report_files import Line, result_of
from view_world import HOSTILE, indexed, report_of

from conformance.views.annotations import SHOWN, workflow_commands
from conformance.views.badge import badge
from conformance.views.csv_table import COLUMNS, FORMULA, csv_table

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
    assert rows[0] == list(COLUMNS)
    assert len(rows) == 1 + len(lines) == text.count("\n")
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
    assert value["schemaVersion"] == 1
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
    for command in commands:
        assert re.fullmatch(r"::(error|warning) title=[^:,\r\n]*::[^\r\n]*\n", command)
        assert "##[" not in command
    told = [parsed(command) for command in commands]
    assert sum(kind == "error" for kind, _, _ in told) == min(SHOWN, gating + errors + findings)
    assert not log_commands("".join(command.partition("::")[2].partition("::")[2] for command in commands))
