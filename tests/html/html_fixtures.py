"""The browser that all tests of the page share. They load this module as a plug-in of pytest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, find_browser, running_browser
from html_world import Show, Shown, write_everything, write_page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium or Chrome is on PATH, in which the page could be looked at")
    with running_browser(program) as running:
        yield running


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Open pages in tabs of their own. In none may anything go wrong or go out."""
    with ExitStack() as tabs:
        opened = []

        def open_page(address: str, fragment: str = "", **surroundings: Any) -> Shown:
            tab = tabs.enter_context(browser.tab(**surroundings))
            opened.append(Shown(tab, address))
            tab.open(address + fragment)
            return opened[-1]

        yield open_page
        for shown in opened:
            shown.tab.evaluate("1")  # what happened before this is answered has been told
            assert shown.tab.problems == []
            assert {url.partition("#")[0] for url in shown.tab.requests} <= {shown.address, "about:blank"}


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report that has everything."""
    return write_everything(tmp_path_factory.mktemp("everything") / "report.jsonl")


@pytest.fixture(scope="session")
def everything_address(everything: Path) -> str:
    return write_page(everything)


@pytest.fixture
def shown(show: Show, everything_address: str) -> Shown:
    return show(everything_address)
