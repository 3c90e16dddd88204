"""docs/contract.md: each rule has its ground, is held by fixtures, and its examples do what the page says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from contract_page import DOCS, Example, PageError, Rule, fixture_of, read_rules

from conformance.catalog import Catalog, load_catalog
from conformance.model import Case
from conformance.observation import Result, ResultKind
from conformance.pytest_plugin.items import Workshop

PAGE = (DOCS / "contract.md").read_text(encoding="utf-8")
RULES = read_rules(PAGE)
RUNS = [(example, route) for rule in RULES for example in rule.examples for route in example.outcomes]
ROUTES = {route.id: route for route in load_catalog(["full", "sessions"]).routes}
FIXTURES = load_catalog(["full", "windows"]).fixtures

LAST_PUBLISHED = {1: 3, 2: 4, 3: 9, 4: 3, 5: 3, 6: 5, 7: 4, 8: 3, 9: 3, 10: 2, 11: 5}
"""Section -> its last rule. People may have cited them: more may come behind, and none may go or change its meaning."""


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    with closing(Workshop()) as workshop:
        yield workshop


def run(example: Example, route: str, workshop: Workshop, folder: Path) -> Result:
    fixture = fixture_of(example, route, folder)
    return workshop.engine(Catalog((fixture,), (), "")).execute(Case(fixture, ROUTES[route]))


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are written for a POSIX system")
@pytest.mark.parametrize(("example", "route"), RUNS, ids=[f"{example.name}-{route}" for example, route in RUNS])
def test_an_example_does_what_the_page_says(example: Example, route: str, workshop: Workshop, tmp_path: Path) -> None:
    result = run(example, route, workshop, tmp_path)
    if result.kind in (ResultKind.UNAVAILABLE, ResultKind.SKIPPED):
        pytest.skip(result.reason)
    assert result.kind is ResultKind.PASS, result.reason


@pytest.mark.parametrize("rule", RULES, ids=[rule.number for rule in RULES])
def test_a_rule_has_its_ground_and_fixtures_that_hold_it(rule: Rule) -> None:
    assert rule.urls, "name a public source"
    assert rule.fixtures, "name the fixtures that hold the rule"
    for glob in rule.fixtures:
        assert any(fnmatchcase(fixture.id, glob) for fixture in FIXTURES), f"{glob} matches no fixture"


def test_every_topic_of_the_catalogue_is_held_by_a_rule() -> None:
    globs = [glob for rule in RULES for glob in rule.fixtures]
    held = {fixture.id.partition("/")[0] for fixture in FIXTURES if any(fnmatchcase(fixture.id, g) for g in globs)}
    assert {fixture.id.partition("/")[0] for fixture in FIXTURES} == held, "name each topic under the rule it holds"


def test_rules_can_be_cited_for_ever() -> None:
    numbers = [rule.number for rule in RULES]
    assert sorted(numbers, key=lambda number: [*map(int, number.split("."))]) == numbers
    assert numbers == list(dict.fromkeys(numbers))
    assert [rule.anchor for rule in RULES] == numbers
    published = {f"{section}.{rule}" for section, last in LAST_PUBLISHED.items() for rule in range(1, last + 1)}
    assert published <= set(numbers)


def test_the_page_opens_with_a_link_to_every_rule() -> None:
    for rule in RULES:
        assert f"[{rule.number}](#rule-{rule.number}) {rule.title}\n" in PAGE


GOOD = """
### <a id="rule-1.1"></a>1.1 A rule

- **Source:** [here](https://example.org/source)
- **When it is broken:** harm.
- **Fixtures:** `exit-codes/exit-7`

```sh
echo hello
exit 7
```

Gives `exit = 7, stdout = "hello\\n"` on sh-command.
"""


def only_example(page: str) -> Example:
    (rule,) = read_rules(page)
    (example,) = rule.examples
    return example


@pytest.mark.skipif(sys.platform == "win32", reason="the example is one of /bin/sh")
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("hello", "hello", ""),
        ("Gives `exit = 7,", "Gives `exit = 0,", "expected exited(0), came exited(7)"),
        ("exit 7\n", "exit 0\n", "expected exited(7), came exited(0)"),
        ("echo hello", "echo help", "stdout"),
        ("echo hello", "echo hello; echo oh >&2", "stderr"),
    ],
)
def test_an_example_that_is_wrong_is_caught(
    before: str, after: str, said: str, workshop: Workshop, tmp_path: Path
) -> None:
    result = run(only_example(GOOD.replace(before, after)), "sh-command", workshop, tmp_path)
    assert result.kind is (ResultKind.FAIL if said else ResultKind.PASS)
    assert said in result.reason


SESSION = GOOD.replace("exit 7\n", "leak=7\n#---- next body ----\nexit $leak\n").replace(
    '`exit = 7, stdout = "hello\\n"` on sh-command', '`exit = 0, stdout = "hello\\n"`, then `exit = 7` on bash-session'
)


@pytest.mark.skipif(sys.platform == "win32", reason="sessions are held on POSIX")
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("leak=7", "leak=7", ""),
        ("leak=7", "leak=0", "Step 2 of 2: expected exited(7), came exited(0)"),
        ("`exit = 0, ", "`exit = 42, ", "Step 1 of 2: expected exited(42), came exited(0)"),
    ],
)
def test_an_example_of_two_bodies_is_handed_to_one_session(
    before: str, after: str, said: str, workshop: Workshop, tmp_path: Path
) -> None:
    result = run(only_example(SESSION.replace(before, after)), "bash-session", workshop, tmp_path)
    assert result.kind is (ResultKind.FAIL if said else ResultKind.PASS)
    assert said in result.reason


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("- **Source:** [here](https://example.org/source)\n", "", "needs Source"),
        ("- **When it is broken:** harm.\n", "", "needs Source, When it is broken"),
        ("- **Fixtures:** `exit-codes/exit-7`\n", "", "needs Source"),
        ("```sh\n", "```ruby\n", "rule 1.1: each block of code needs a dialect"),
        ("\n```sh\necho hello\nexit 7\n```\n\nGives", "\nGives", "rule 1.1: each block of code"),
        ("Gives", "It gives", "example 1.1-1"),
        (" on sh-command", " in sh-command", "example 1.1-1"),
        ("sh-command.\n", "sh-command; and 0 elsewhere.\n", "'and 0 elsewhere' is not of the form"),
        ("exit 7\n", "exit 7\n#---- next body ----\nexit 0\n", "tells of 1 bodies, and there are 2"),
    ],
)
def test_a_page_that_says_less_than_it_must_is_refused(before: str, after: str, said: str) -> None:
    with pytest.raises(PageError, match=said):
        read_rules(GOOD.replace(before, after))
