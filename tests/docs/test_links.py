"""Links between the documents lead somewhere, and a reader of the README finds every document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract_page import DOCS

README = DOCS.parent / "README.md"
PAGES = [README, *sorted(DOCS.glob("*.md"))]

_LINK = re.compile(r"\]\((?!https?://)(?P<file>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def links(page: Path) -> Iterator[tuple[Path, str | None]]:
    for link in _LINK.finditer(_BLOCK.sub("", page.read_text(encoding="utf-8"))):
        yield (page.parent / link["file"]).resolve() if link["file"] else page, link["anchor"]


def anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.+)$", _BLOCK.sub("", text), re.MULTILINE)
    made_by_github = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    return made_by_github | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{page.name}: {target.name} is not there"
        if anchor is not None:
            assert anchor in anchors(target), f"{page.name}: {target.name} has no #{anchor}"


def test_the_readme_names_every_document() -> None:
    named = {target for target, _ in links(README)}
    assert set(DOCS.glob("*.md")) <= named
