"""Reads docs/contract.md: its rules, and the examples that it says were run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.catalog.fixtures import read_fixtures
from conformance.model import Fixture

DOCS = Path(__file__).resolve().parents[2] / "docs"
"""Beside the tests, in the checkout and in the sdist; no wheel holds either."""

_RULE = re.compile(r'^### <a id="rule-(?P<anchor>[\d.]+)"></a>(?P<number>[\d.]+) (?P<title>.+)$', re.MULTILINE)
_END_OF_RULE = re.compile(r"^#{1,3} ", re.MULTILINE)
_FIELD = re.compile(r"^- \*\*(?P<name>[^*]+):\*\* (?P<text>.+?)(?=^- |^$|\Z)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```(?P<dialect>sh|bash|pwsh)\n(?P<body>.*?)\n```\n\n(?P<told>.+?)(?=\n\n|\n*\Z)", re.M | re.S)
_TOLD = re.compile(r"(?:With (?P<given>.+?), gives|Gives) (?P<outcomes>.+)\.")
_OUTCOME = re.compile(r"(?P<expects>`[^`]+`(?:, then `[^`]+`)*) on (?P<routes>[a-z0-9-]+(?:(?:, | and )[a-z0-9-]+)*)")
_NEXT_BODY = "\n#---- next body ----\n"
_URL = re.compile(r"\]\((https://[^)\s]+)\)")
_CODE = re.compile(r"`([^`]+)`")

FIELDS = ("Source", "When it is broken", "Fixtures")


class PageError(Exception):
    """The page cannot be read as rules and examples; the message says where."""


@dataclass(frozen=True)
class Example:
    """Bodies, and what the page says that each route makes of them. What is told is in the words of fixture files."""

    name: str
    dialect: str
    bodies: tuple[str, ...]
    """One, or those that a session is given one after the other."""
    given: tuple[str, ...]
    outcomes: Mapping[str, tuple[str, ...]]
    """Route -> what an expectation of a fixture would say of each body, as the inside of an inline table."""


@dataclass(frozen=True)
class Rule:
    """One rule of the page, with what must stand under it."""

    number: str
    anchor: str
    title: str
    fields: Mapping[str, str]
    examples: tuple[Example, ...]

    @property
    def urls(self) -> list[str]:
        return _URL.findall(self.fields["Source"])

    @property
    def fixtures(self) -> list[str]:
        """The ids of fixtures that hold the rule, or patterns of them."""
        return _CODE.findall(self.fields["Fixtures"])


def read_rules(page: str) -> tuple[Rule, ...]:
    """Return the rules of `page`, in their order.

    Raises PageError where a rule lacks something, or a block of code is no example.
    """
    return tuple(_rule(heading, page) for heading in _RULE.finditer(page))


def _rule(heading: re.Match[str], page: str) -> Rule:
    number = heading["number"]
    end = _END_OF_RULE.search(page, heading.end())
    text = page[heading.end() : end.start() if end else len(page)]
    fields = {field["name"]: " ".join(field["text"].split()) for field in _FIELD.finditer(text)}
    if tuple(fields) != FIELDS:
        raise PageError(f"rule {number} has {', '.join(fields) or 'nothing'}, but needs {', '.join(FIELDS)}")
    blocks = list(_EXAMPLE.finditer(text))
    if not blocks or text.count("```") != 2 * len(blocks):
        raise PageError(f"rule {number}: each block of code needs a dialect, and below it what it gives on which route")
    examples = tuple(_example(f"{number}-{index}", block) for index, block in enumerate(blocks, 1))
    return Rule(number, heading["anchor"], heading["title"], fields, examples)


def _example(name: str, block: re.Match[str]) -> Example:
    told = _TOLD.fullmatch(" ".join(block["told"].split()))
    if told is None:
        raise PageError(f"example {name}: {block['told']!r} does not say 'Gives `exit = 7` on ROUTE.'")
    bodies = tuple(block["body"].split(_NEXT_BODY))
    outcomes: dict[str, tuple[str, ...]] = {}
    for part in told["outcomes"].split("; "):
        outcome = _OUTCOME.fullmatch(part)
        if outcome is None:
            raise PageError(f"example {name}: {part!r} is not of the form '`exit = 7` on ROUTE'")
        expects = tuple(_CODE.findall(outcome["expects"]))
        if len(expects) != len(bodies):
            raise PageError(f"example {name}: {part!r} tells of {len(expects)} bodies, and there are {len(bodies)}")
        outcomes |= dict.fromkeys(re.split(", | and ", outcome["routes"]), expects)
    return Example(name, block["dialect"], bodies, tuple(_CODE.findall(told["given"] or "")), outcomes)


def fixture_of(example: Example, route: str, folder: Path) -> Fixture:
    """Return the fixture that `example` is on `route`, written down in `folder` as any fixture is.

    Raises CatalogError where the page says something that no fixture could.
    """
    started = "yes" if "{{" in example.bodies[0] else "unprovable: an example of a page leaves no mark"
    steps = [
        (
            f"body.{example.dialect} = {json.dumps(body, ensure_ascii=False)}",
            f'expect = [{{ reason = "r", {expect} }}]',
        )
        for body, expect in zip(example.bodies, example.outcomes[route], strict=True)
    ]
    lines = (
        "[[fixture]]",
        'id = "example"',
        'summary = "s"',
        'source = "https://example.org"',
        f"started = {json.dumps(started)}",
        *example.given,
        *(line for step in steps for line in (*(["[[fixture.step]]"] if len(steps) > 1 else []), *step)),
    )
    (folder / "contract.toml").write_text("\n".join(lines), encoding="utf-8")
    (fixture,) = read_fixtures(folder)
    return fixture
