"""Text of others is readable and harmless wherever it is printed."""

from __future__ import annotations

import json

import pytest
from hostile_reports import TEXTS, log_commands, moves_a_cursor
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.report.codec import json_text
from conformance.views.text import printable


@given(TEXTS, st.sampled_from(["", "  ", "FAIL ", "    | ", "x\n"]))
@settings(max_examples=500, deadline=None)
def test_nothing_commands_a_terminal_or_a_ci_system(text: str, before: str) -> None:
    shown = before + printable(text)
    assert not moves_a_cursor(shown)
    assert not log_commands(shown)


@given(TEXTS, st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_nor_where_a_terminal_breaks_the_line_at_a_blank(text: str, word: int) -> None:
    words = printable(text).split(" ")
    assert not log_commands(" ".join(words[:word]) + "\n" + " ".join(words[word:]))


@given(TEXTS)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Environment]::Exit(7) and std::exit", "[Environment]::Exit(7) and std::exit"),
        ("# a comment\n## b\n#[c]", "# a comment\n## b\n#[c]"),
        ("été, 日本\ttab", "été, 日本\ttab"),
        ("a\n ::error::b", "a\n \\x3a:error::b"),
        ("a ##[error]b", "a \\x23#[error]b"),
        ("###[error]", "#\\x23#[error]"),
        ("a\x1b[31m\u202e\udc80", "a\\x1b[31m\\u202e\\udc80"),
        (": > file", ": > file"),
    ],
)
def test_only_what_does_something_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(TEXTS)
def test_json_for_a_log_means_the_same(text: str) -> None:
    shown = json_text({"a": [text, "###[error]"]}, indent=1)
    assert json.loads(shown) == {"a": [text, "###[error]"]}
    assert not log_commands(shown)
    assert shown.isascii()
