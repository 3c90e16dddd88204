"""Fingerprints: the table that tells policies apart, and what is read from result lines."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from result_lines import codes, line, silent_line, without

from conformance.catalog import Catalog, load_catalog, matrix_names
from conformance.condition import Facts
from conformance.model import Route
from conformance.observation import ResultKind
from conformance.precedence import expectation_for
from conformance.report.findings import judge_run
from conformance.report.fingerprint import Fingerprint, describe, fingerprint_of, telling_fixtures
from conformance.report.policies import BY_DIALECT, NONE, POLICIES, POWERSHELL, SMALL_SHELLS, Telling
from conformance.report.traits import TRAITS
from conformance.status import Exited, ExitStatus, Signalled, TimedOut

TABLES = {"pwsh": POWERSHELL, "sh": SMALL_SHELLS}
Table = tuple[Telling, ...]


@cache
def shipped() -> Catalog:
    return load_catalog(matrix_names())


def route(id_: str) -> Route:
    return next(route for route in shipped().routes if route.id == id_)


def read(route_: Route, lines: list[dict[str, Any]]) -> Fingerprint:
    return fingerprint_of(
        route_, {fixture.id: fixture for fixture in shipped().fixtures}, {line["id"]: line for line in lines}
    )


def as_policy(table: Table, policy: str, changes: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the code of each fixture in `table` for a route of `policy`, but for `changes`."""
    found = {row.fixture: row.codes[policy] for row in table}
    assert found.keys() >= (changes or {}).keys()
    return found | dict(changes or {})


# The table.


@pytest.mark.parametrize("dialect", TABLES)
def test_every_two_policies_are_told_apart(dialect: str) -> None:
    columns = {policy: as_policy(TABLES[dialect], policy) for policy in TABLES[dialect][0].codes}
    for one, other in itertools.combinations(columns, 2):
        assert columns[one] != columns[other], (one, other)


@pytest.mark.parametrize("reading", ["last-statement", "last-native"])
@pytest.mark.parametrize("dialect", TABLES)
def test_the_readings_of_the_contract_are_those_of_the_catalogue(dialect: str, reading: str) -> None:
    shell = {"pwsh": "pwsh", "sh": "bash"}[dialect]
    facts = Facts("linux", dialect, shell, "5.2.15", "local", reading)
    fixtures = {fixture.id: fixture for fixture in shipped().fixtures}
    for row in TABLES[dialect]:
        if reading in row.codes:
            expectation = expectation_for(fixtures[row.fixture].steps[0].expectations, facts)
            assert expectation is not None
            assert expectation.status == Exited(row.codes[reading]), row.fixture


def test_the_core_matrix_asks_for_all_that_tells_a_policy() -> None:
    core = {case.fixture.id for case in load_catalog(["core"]).cases()}
    assert {row.fixture for table in BY_DIALECT.values() for row in table} <= core


def test_every_fixture_that_tells_something_is_shipped_and_every_policy_explained() -> None:
    ids = {fixture.id for fixture in shipped().fixtures}
    assert {fixture for question in TRAITS for fixture in question.fixtures} <= ids
    assert {policy for table in BY_DIALECT.values() for row in table for policy in row.codes} == POLICIES.keys()


def test_a_route_can_state_every_policy_and_that_it_has_none(tmp_path: Path) -> None:
    for policy in (*POLICIES, NONE):
        (tmp_path / "r.toml").write_text(STATED.format(policy))
        assert load_catalog([], [tmp_path / "r.toml"]).routes[0].fingerprint == policy


def test_the_routes_of_core_and_full_state_what_they_are() -> None:
    routes = {route.id: route.fingerprint for route in load_catalog(["full"]).routes}
    assert None not in routes.values()
    told_apart = {routes[id_] for id_ in ("pwsh-command", "pwsh-file", "pwsh-epilogue", "pwsh-preserving")}
    assert told_apart == POLICIES.keys()


# What is read.


@pytest.mark.parametrize(
    ("id_", "table", "policy"),
    [("pwsh-command", POWERSHELL, policy) for policy in POWERSHELL[0].codes]
    + [("bash-command", SMALL_SHELLS, policy) for policy in SMALL_SHELLS[0].codes],
)
def test_a_policy_is_known_by_its_codes(id_: str, table: Table, policy: str) -> None:
    found = read(route(id_), codes(id_, as_policy(table, policy)))
    assert (found.name, found.complete) == (policy, True)


DSH_LINE = {"errors/failing-cmdlet": 0, "mixtures/native-2-then-throw": 2}
MARKER = {**DSH_LINE, "native-codes/not-found": 0, "errors/throw": 0}


@pytest.mark.parametrize("changes", [DSH_LINE, MARKER], ids=["the line of deepseek-harness", "a marker with the code"])
def test_a_policy_of_its_own_is_told_by_what_it_departs_from(changes: dict[str, int]) -> None:
    found = read(route("pwsh-command"), codes("pwsh-command", as_policy(POWERSHELL, "last-native", changes)))
    assert found.name == NONE
    words = describe(found)
    assert words.startswith(f"{NONE}: as last-native, but ")
    assert words.count("exited(") == len(changes)
    for fixture, code in changes.items():
        assert fixture in words
        assert f"exited({code})" in words


@pytest.mark.parametrize("came", [TimedOut(), Signalled(9)], ids=str)
def test_what_is_no_exit_code_is_of_no_policy(came: ExitStatus) -> None:
    lines = codes("bash-command", as_policy(SMALL_SHELLS, "last-statement"))
    lines[0] = line(lines[0]["id"], came, Exited(0))
    assert read(route("bash-command"), lines).name == NONE


def test_what_was_not_asked_is_named() -> None:
    found = read(route("bash-command"), codes("bash-command", as_policy(SMALL_SHELLS, "last-statement")))
    assert {"errors/throw", "mixtures/native-2-then-cmdlet", "bytes/formatted-object"} <= set(found.not_asked)
    assert set(found.not_asked).isdisjoint(telling_fixtures(route("dash-command"))[: len(SMALL_SHELLS)])
    assert not read(route("pwsh-command"), []).not_asked


def test_policies_that_could_not_be_told_apart_are_all_named() -> None:
    few = {"exit-codes/exit-7": 7, "native-codes/native-7": 7}
    found = read(route("powershell5-command"), codes("powershell5-command", few))
    assert found.name == "last-statement or last-native"
    assert not found.complete
    assert read(route("pwsh-command"), []).name == "nothing was seen"


def test_a_route_of_several_dialects_is_read_by_the_first() -> None:
    both = replace(route("pwsh-command"), dialects=("pwsh", "sh"))
    assert [row.telling for row in read(both, []).rows] == list(POWERSHELL)
    turned = replace(both, dialects=("sh", "pwsh"))
    assert [row.telling for row in read(turned, []).rows] == list(SMALL_SHELLS)


def test_what_is_expected_or_documented_has_no_say() -> None:
    came = as_policy(POWERSHELL, "exit-only")
    expected = as_policy(POWERSHELL, "last-statement")
    lines = [line(f"{id_}/pwsh-file", Exited(code), Exited(expected[id_])) for id_, code in came.items()]
    assert read(route("pwsh-file"), lines).name == "exit-only"


# What is stated.

STATED = """
[[route]]
id = "mine"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "{{{{body}}}}"]
source = "https://example.org"
fingerprint = "{}"
"""


@pytest.mark.parametrize(
    ("stated", "seen", "changes", "as_stated"),
    [
        ("last-statement", "last-statement", {}, True),
        ("last-statement", "exit-only", {}, False),
        ("last-native", "last-statement", {}, False),
        (NONE, "last-statement", {}, False),
        (NONE, "last-statement", {"native-codes/native-7": 3}, True),
        ("last-statement", "last-statement", {"native-codes/native-7": 3}, False),
    ],
)
def test_a_route_that_is_another_than_stated_fails_the_run(
    stated: str,
    seen: str,
    changes: dict[str, int],
    as_stated: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    (tmp_path / "r.toml").write_text(STATED.format(stated))
    catalog = load_catalog([], [tmp_path / "r.toml"])
    lines = codes("mine", as_policy(SMALL_SHELLS, seen, changes))
    findings = judge_run(lines, catalog)
    assert bool(findings) is not as_stated
    for finding in findings:
        assert f'{tmp_path / "r.toml"}:2: the route mine states fingerprint = "{stated}"' in finding
        assert "`conformance fingerprint mine` shows all of it" in finding


@pytest.mark.parametrize("kind", [None, ResultKind.SKIPPED, ResultKind.UNAVAILABLE, ResultKind.ERROR, "provisional"])
def test_a_run_that_lacks_one_telling_result_judges_no_fingerprint(
    kind: ResultKind | str | None, tmp_path: Path
) -> None:
    (tmp_path / "r.toml").write_text(STATED.format("last-native"))
    catalog = load_catalog([], [tmp_path / "r.toml"])
    lines = codes("mine", as_policy(SMALL_SHELLS, "last-statement"))
    assert len(judge_run(lines, catalog)) == 1
    for index, one in enumerate(lines):
        part = without(lines, index)
        if isinstance(kind, ResultKind):
            part.append(silent_line(one["id"], kind))
        elif kind == "provisional":
            part.append({**one, "provisional": True})
        assert judge_run(part, catalog) == []


# Traits.


def trait_of(name: str, *lines: dict[str, Any]) -> list[tuple[bool | None, str]]:
    """Return what is told of a trait, whatever is not run left out."""
    found = read(route("pwsh-command"), list(lines))
    (trait,) = (trait for trait in found.traits if trait.name == name)
    return [(note.kept, note.words) for note in trait.notes if note.words != "not run"]


def came(fixture: str, status: ExitStatus, expected: ExitStatus | None = None, **lost: str) -> dict[str, Any]:
    return line(f"{fixture}/pwsh-command", status, expected, lost=lost)


NATIVE_7 = came("native-codes/native-7", Exited(1), Exited(7))
EXIT_2 = came("exit-codes/exit-2", Exited(2))
READ = "bytes/stdin-64k-plus-1-read"
NO_MATTER = (True, "no effect on the status")
LOST = "stdout is lost as a whole"
KILLED = ("native-codes/killed-by-kill", Signalled(9))


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("comments", [NATIVE_7, came("text/comment-own-line", Exited(1), Exited(7))], NO_MATTER),
        (
            "comments",
            [NATIVE_7, came("text/comment-same-line", Exited(0), Exited(7))],
            (False, "exited(0) in the place of exited(1)"),
        ),
        (
            "return",
            [NATIVE_7, came("mixtures/native-7-then-return", Exited(7))],
            (False, "exited(7) in the place of exited(1)"),
        ),
        ("exit 2 and 255", [EXIT_2], (True, "exact")),
        ("exit 2 and 255", [came("exit-codes/exit-255", Exited(1), Exited(255))], (False, "exited(1)")),
        ("signals", [came(*KILLED)], (True, "signalled(9 SIGKILL)")),
        (
            "signals",
            [came(KILLED[0], Exited(137), KILLED[1])],
            (True, "exited(137), which is 128 and the signal's number"),
        ),
        ("signals", [came(KILLED[0], Exited(1), KILLED[1])], (False, "lost: exited(1)")),
        ("hangs", [came("processes/hang", TimedOut())], (True, "it runs until its deadline and is killed there")),
        ("hangs", [came("processes/hang", Exited(0), TimedOut())], (False, "exited(0) before its deadline")),
        ("stdin", [came(READ, Exited(7))], (True, "64 KiB + 1 arrive whole")),
        ("stdin", [came(READ, Exited(7), stdin="nothing came")], (False, "nothing came")),
        ("stdin", [came(READ, TimedOut(), Exited(7))], (False, "it hung")),
        ("unread stdin", [EXIT_2, came("bytes/stdin-1m-unread", Exited(2))], NO_MATTER),
        (
            "unread stdin",
            [EXIT_2, came("bytes/stdin-1m-unread", TimedOut(), Exited(2))],
            (False, "timed_out in the place of exited(2)"),
        ),
        ("stdout", [came("bytes/nul", Exited(7))], (True, "exact")),
        ("stdout", [came("bytes/nul", Exited(7), stdout=LOST)], (False, LOST)),
        ("stderr", [came("bytes/nul", Exited(7), stdout=LOST)], (True, "exact")),
        (
            "stdin",
            [silent_line("bytes/stdin-64k-plus-1-read/pwsh-command", ResultKind.SKIPPED)],
            (None, "skipped: for a reason"),
        ),
    ],
)  # fmt: skip
def test_a_trait_says_what_came(name: str, lines: list[dict[str, Any]], told: tuple[bool | None, str]) -> None:
    assert trait_of(name, *lines) == [told]


def test_a_stream_that_is_lost_in_some_fixtures_says_in_which() -> None:
    found = read(
        route("pwsh-command"),
        [came("bytes/nul", Exited(7)), came("bytes/invalid-utf-8", Exited(7), stdout="stdout was changed on the way")],
    )
    (trait,) = (trait for trait in found.traits if trait.name == "stdout")
    notes = {note.words: note.fixtures for note in trait.notes}
    assert notes["exact"] == ("bytes/nul",)
    assert notes["stdout was changed on the way"] == ("bytes/invalid-utf-8",)
