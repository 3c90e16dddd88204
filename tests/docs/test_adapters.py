"""docs/adapters.md tells the whole protocol, and its examples keep to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import call_cli
from contract_page import DOCS

from conformance.paths import schema_file
from conformance.schema import validator
from conformance.starting import NAME, starting_files

PAGE = (DOCS / "adapters.md").read_text(encoding="utf-8")
SCHEMA = json.loads(schema_file("adapter").read_text(encoding="utf-8"))
EXAMPLES = {
    "python": ("example.py", (sys.executable, "-B")),
    "js": ("example.mjs", ("node",)),
    "powershell": ("example.ps1", (os.environ.get("CONFORMANCE_PWSH") or "pwsh", "-NoLogo", "-NoProfile", "-File")),
}
"""By what the page calls each language: a name for its file, and what runs it."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(sys.platform == "win32", reason="the examples run bodies through bash")
@pytest.mark.parametrize("language", EXAMPLES)
def test_each_example_keeps_to_the_protocol_in_twenty_lines(language: str, tmp_path: Path) -> None:
    name, command = EXAMPLES[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing")
    (example,) = blocks(language)
    assert example.count("\n") <= 20
    (tmp_path / name).write_text(example)
    checked = call_cli("adapter", "check", "--json", "--", *command, tmp_path / name)
    findings = json.loads(checked.out)["findings"]
    assert checked.code == 0
    assert [finding for finding in findings if finding["state"] != "ok"] == []


def test_the_page_quotes_the_route_file_and_its_deviation() -> None:
    files = starting_files("python", NAME)
    route, deviation = blocks("toml")
    assert route == files.texts()[files.route]
    assert route.endswith("".join(f"# {line}\n" for line in deviation.splitlines()))


def properties(value: Any) -> Iterator[str]:
    """Yield every key that the schema knows, and every value that it names."""
    if isinstance(value, dict):
        yield from value.get("properties", {})
        yield from (word for word in value.get("enum", ()) if isinstance(word, str))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from properties(inner)


@pytest.mark.parametrize("word", sorted(set(properties(SCHEMA["$defs"]))))
def test_the_page_tells_every_key_and_word_of_the_schema(word: str) -> None:
    assert re.search(rf'`"?{word}"?`|"{word}"', PAGE)


def test_the_lines_on_the_page_fit_the_schema() -> None:
    (hello, request, reply), (unavailable,) = (
        [json.loads(line) for line in block.splitlines()] for block in blocks("json")
    )
    statuses = [json.loads(text) for text in re.findall(r'^\| `(\{"kind".*?\})`', PAGE, re.MULTILINE)]
    lines = {"hello": [hello, unavailable], "request": [request], "reply": [reply], "status": statuses}
    for definition, values in lines.items():
        for value in values:
            validator("adapter", definition).validate(value)
    kinds = {kind["properties"]["kind"]["const"] for kind in SCHEMA["$defs"]["status"]["oneOf"]}
    assert {status["kind"] for status in statuses} == kinds
