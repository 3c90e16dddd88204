"""docs/baselines.md: the example on the page is what really comes of it."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from pathlib import Path

import pytest
from conftest import call_cli
from contract_page import DOCS

PAGE = (DOCS / "baselines.md").read_text(encoding="utf-8")
ROUTE = """
[[route]]
id = "mytool"
kind = "one-shot"
dialects = ["sh"]
argv = ["/bin/sh", "-c", 'sh -c "$1" && exit 0; exit 1', "sh", "{{body}}"]
source = "https://example.org/mytool"
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(sys.platform == "win32", reason="the launcher is run by /bin/sh")
def test_the_example_is_what_comes_of_it(tmp_path: Path) -> None:
    (tmp_path / "mytool.toml").write_text(ROUTE)
    (session,), (baseline,) = blocks("console"), blocks("toml")
    first, second = re.split(r"^\$ ", session.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    update, _, told = second.partition("\n")
    with contextlib.chdir(tmp_path):
        assert call_cli(*shlex.split(first)[1:]).code == 1
        updated = call_cli(*shlex.split(update)[1:])
        assert (updated.code, updated.out) == (0, told)
        assert (tmp_path / "mytool.baseline.toml").read_text() == baseline
        assert call_cli(*shlex.split(first)[1:]).code == 0
