"""A report as Markdown: what a reader makes of it, whatever a report holds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hostile_reports import hostile_reports
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_reading import check_markdown
from report_files import result_of
from view_world import HOSTILE, indexed, report_of

from conformance.views.changes import COMMENT_CHARACTERS
from conformance.views.markdown import markdown

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
    check_markdown(text)
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
