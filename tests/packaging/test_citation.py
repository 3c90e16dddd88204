"""`CITATION.cff` has what its format requires, and says of this version what the package says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import conformance

CHECKOUT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (CHECKOUT / "CITATION.cff").exists(), reason="there is no checkout here")


def top_level(text: str) -> dict[str, str]:
    """Return the keys of the file; below one that begins a list, its lines are the value.

    The file has no more of YAML than that: no anchors, no texts of several lines, and quotes around what needs them.
    """
    found: dict[str, str] = {}
    key = ""
    for line in text.splitlines():
        begun = re.fullmatch(r'([a-z-]+):(?: ("[^"\\]*"|[^\s":#][^":#]*))?', line)
        inside = re.fullmatch(r'  (?:- |  )(?:[a-z-]+: )?("[^"\\]*"|[^\s":#][^":#]*)', line)
        assert (begun or inside) is not None, f"not as simple as it should be: {line!r}"
        if begun is not None:
            key = begun[1]
            assert key not in found
            found[key] = (begun[2] or "").strip('"')
        else:
            found[key] += line + "\n"
    return found


def test_it_has_what_the_format_requires_and_names_nobody() -> None:
    """The format: https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md"""
    found = top_level((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert found.keys() >= {"cff-version", "message", "title", "authors"}
    assert found["cff-version"] == "1.2.0"
    assert found["type"] == "software"
    assert found["authors"] == '  - name: "The conformance contributors"\n'
    assert all(found.values())


def test_it_says_what_the_package_says() -> None:
    found = top_level((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert found["version"] == conformance.__version__
    assert found["license"] == project["license"]["text"]
    assert re.findall(r"- (\S+)\n", found["keywords"]) == project["keywords"]
