"""`docs/coverage.md`: which public report each fixture answers, and which kinds of fault are out of its reach."""

from __future__ import annotations

import re
import tomllib
from itertools import groupby
from pathlib import Path

from conformance.catalog import Catalog
from conformance.model import Fixture

OUT_OF_REACH = Path(__file__).parent / "out-of-reach.toml"
_REPORT = re.compile(r"https://github\.com/([^/]+/[^/]+)/(?:issues|pull|discussions)/(\d+)")

INTRODUCTION = """\
# Which reports the fixtures answer

This page is made from the fixtures (`python3 -m docs coverage`); a test fails when it no longer agrees with them. A
report stands beside each fixture that shows the fault it tells of, or its nearest kin: run the fixture through your
launcher with `conformance try --fixture ID`, and you know whether you have it too. `conformance show ID` tells the rule
and its source.
"""
BEYOND = """
## What no route on Linux can show

| kind of fault | why not here | reports |
|---|---|---|
"""


def coverage_page(catalog: Catalog) -> str:
    """Return the page for all fixtures of `catalog`."""
    parts = [INTRODUCTION]
    answering = sorted((fixture for fixture in catalog.fixtures if reports_of(fixture)), key=lambda fixture: fixture.id)
    for topic, fixtures in groupby(answering, key=lambda fixture: fixture.id.partition("/")[0]):
        parts.append(f"\n## {topic}\n\n| fixture | what it shows | reports |\n|---|---|---|\n")
        parts += [
            f"| `{fixture.id}` | {_cell(fixture.summary)} | {', '.join(map(_link, reports_of(fixture)))} |\n"
            for fixture in fixtures
        ]
    parts.append(BEYOND)
    for kind in tomllib.loads(OUT_OF_REACH.read_text(encoding="utf-8"))["kind"]:
        reports = ", ".join(map(_link, kind["reports"]))
        parts.append(f"| {_cell(kind['summary'])} | {_cell(kind['because'])} | {reports} |\n")
    return "".join(parts)


def reports_of(fixture: Fixture) -> tuple[str, ...]:
    """Return the addresses of the reports that `fixture` answers: those it names, and its source where it is one."""
    source = (fixture.source,) if _REPORT.fullmatch(fixture.source) else ()
    return tuple(dict.fromkeys([*source, *fixture.reports]))


def _link(url: str) -> str:
    found = _REPORT.fullmatch(url)
    return f"[{found[1]}#{found[2]}]({url})" if found else f"<{url}>"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
