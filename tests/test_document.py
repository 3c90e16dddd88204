"""Sections of text, for a terminal and as Markdown: whatever they hold stays in its place."""

from __future__ import annotations

import re

import pytest

from conformance.views.document import Fields, Section, Sentences, Table, Verbatim, as_markdown, as_text

HOSTILE = "`a` ``b`` *c* _d_ <e> @f #1 |\x1b[31m\u202e \\ [g](h) &amp; ~~i~~"


def sections(text: str) -> list[Section]:
    return [
        Section(
            text,
            (
                Sentences(text),
                Fields(((text, text), ("  nested", text))),
                Verbatim(text, text),
                Table(("a", text), ((text, "b"),)),
            ),
        )
    ]


@pytest.mark.parametrize("text", [HOSTILE, "- a", "1. a", "# a", "> a", "=", "`", "``` ```", "a\nb"])
def test_nothing_is_markup(text: str) -> None:
    shown = as_markdown(sections(text))
    assert all(char.isprintable() or char == "\n" for char in shown)
    outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", shown)
    outside = re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "CODE", outside)
    outside = outside.replace("\\|", "")
    assert not set(outside) & set("*_<>@\\[&~`"), outside
    for line in outside.splitlines():
        assert re.fullmatch(r"(### .*|( {2})?- .*|\|.*\||[^\W_][\w ]*:?|)", line), line
        assert not re.match(r"\W*\d\. ", line)


def test_plain_words_and_links_are_left_as_they_are() -> None:
    shown = as_markdown(
        [Section("A title", (Fields((("source", "https://example.org/a_b#c"), ("it is", "7 of 8, (x)"))),))]
    )
    assert shown == "### A title\n\n- source: <https://example.org/a_b#c>\n- it is: 7 of 8, (x)\n"


@pytest.mark.parametrize("ticks", [1, 2, 3, 4, 7])
def test_a_fence_is_longer_than_what_it_holds(ticks: int) -> None:
    text = "a\n" + "`" * ticks + "\nb"
    shown = as_markdown([Section("t", (Verbatim("v", text),))])
    fence = "`" * max(3, ticks + 1)
    assert shown.endswith(f"\n{fence}text\n{text}\n{fence}\n")


def test_a_terminal_gets_lines_that_cannot_play_with_it() -> None:
    shown = as_text(sections(HOSTILE))
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert shown.count(r"\x1b[31m\u202e") == 9
