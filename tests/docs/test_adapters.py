"""docs/adapters.md tells the whole protocol, and quotes what `conformance init adapter` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from contract_page import DOCS

from conformance.paths import schema_file
from conformance.schema import validator
from conformance.starting import LANGUAGES, NAME, starting_files

PAGE = (DOCS / "adapters.md").read_text(encoding="utf-8")
SCHEMA = json.loads(schema_file("adapter").read_text(encoding="utf-8"))
CODE = {"python": "python", "node": "js", "powershell": "powershell"}
"""What the page calls each language."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_quotes_the_shipped_program(language: str) -> None:
    files = starting_files(language, NAME)
    assert blocks(CODE[language]) == [files.texts()[files.program]]


def test_the_page_quotes_the_route_file_and_its_deviation() -> None:
    files = starting_files("python", NAME)
    route, deviation = blocks("toml")
    assert route == files.texts()[files.route]
    assert route.endswith("".join(f"# {line}\n" for line in deviation.splitlines()))
    argv = json.dumps(LANGUAGES["powershell"].argv(f"{{{{folder}}}}/{NAME}.ps1"))
    assert f"`argv` is `{argv}`" in PAGE


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
