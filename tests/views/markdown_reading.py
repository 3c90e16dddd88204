"""What a reader of Markdown sees: the tags that it becomes, and the text that is no code."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from hostile_reports import log_commands, moves_a_cursor
from markdown_it import MarkdownIt

MARKDOWN_TAGS = {
    "h3", "h4", "p", "ul", "li", "details", "summary", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "a",
    "blockquote",
}  # fmt: skip
VOID = {"br", "hr", "img", "input"}


@dataclass
class Seen(HTMLParser):
    """The tags of a page, the addresses of its links, its text outside code, and that within."""

    tags: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened, f"</{tag}> ends nothing"
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        (self.code if {"code", "a"} & set(self.opened) else self.text).append(data)


def read_markdown(text: str) -> Seen:
    """Return what `text` becomes where raw HTML is let through, as on GitHub; every tag must be closed in its place."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    seen = Seen()
    seen.feed(html)
    seen.close()
    assert seen.opened == [], f"left open: {seen.opened}"
    return seen


def check_markdown(text: str) -> None:
    """Check that nothing of `text` is markup but ours, and that it commands nobody who reads it."""
    seen = read_markdown(text)
    assert seen.tags <= MARKDOWN_TAGS
    assert seen.attributes <= {"href", "open", "class", "style"}
    assert all(link.startswith(("https://", "http://")) for link in seen.links)
    prose = "".join(seen.text)
    assert not re.search(r"@\w|#\d|GH-\d|www\.", prose), "GitHub would make a mention or a reference of it"
    assert not moves_a_cursor(text)
    assert not log_commands(text)
