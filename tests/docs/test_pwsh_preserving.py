"""docs/pwsh-preserving.md quotes the wrapper that is shipped, all of it and in its order."""

from __future__ import annotations

import re

from contract_page import DOCS

from conformance.paths import data_folder

HEAD_COMMENT = re.compile(r"<#.*?#>", re.DOTALL)


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_the_page_quotes_the_shipped_wrapper_and_nothing_else() -> None:
    wrapper = (data_folder("matrices") / "pwsh-preserving.ps1").read_text(encoding="utf-8")
    page = (DOCS / "pwsh-preserving.md").read_text(encoding="utf-8")
    quotes = re.findall(r"^```powershell\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert lines_of("\n".join(quotes)) == lines_of(HEAD_COMMENT.sub("", wrapper, count=1))
    assert len(quotes) > 5, "a quote with its explanation for each part"
