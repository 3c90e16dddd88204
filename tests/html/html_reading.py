"""A page, read as a browser would read it, as far as `html.parser` can."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = ("meta", "input", "wbr", "link", "br")
CODE = ("script", "style")


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    content: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.content)

    def all(self) -> Iterator[Element]:
        """Yield it and what is in it."""
        yield self
        for part in self.content:
            if isinstance(part, Element):
                yield from part.all()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].content.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")


@dataclass(frozen=True)
class ReadPage:
    source: str
    root: Element

    def elements(self, tag: str, class_: str = "") -> list[Element]:
        return [
            element
            for element in self.root.all()
            if element.tag == tag and (not class_ or class_ in (element.attributes.get("class") or "").split())
        ]

    def texts_of(self, tag: str, class_: str = "") -> list[str]:
        return [element.text for element in self.elements(tag, class_)]

    def text_of(self, tag: str) -> str:
        (text,) = self.texts_of(tag)
        return text

    def items(self, id_: str) -> list[str]:
        """Return the items of the list with that id, none where it is not there."""
        lists = [element for element in self.elements("ul") if element.attributes.get("id") == id_]
        return [part.text for one in lists for part in one.content if isinstance(part, Element)]

    @property
    def links(self) -> list[str | None]:
        return [element.attributes.get("href") for element in self.elements("a")]

    @property
    def policy(self) -> str:
        (meta,) = (
            element for element in self.elements("meta")
            if element.attributes.get("http-equiv") == "Content-Security-Policy"
        )  # fmt: skip
        return str(meta.attributes["content"])

    def texts_of_code(self, tag: str) -> list[str]:
        """Return the programs or styles, without the data."""
        return [element.text for element in self.elements(tag) if element.attributes.get("type") is None]

    def data(self, id_: str) -> Any:
        (data,) = (element for element in self.elements("script") if element.attributes.get("id") == id_)
        return json.loads(data.text)


def read_page(source: str) -> ReadPage:
    """Read a whole page; whatever is opened in it must be closed."""
    reader = _Reader()
    reader.feed(source)
    reader.close()
    assert len(reader.open) == 1
    return ReadPage(source, reader.open[0])
