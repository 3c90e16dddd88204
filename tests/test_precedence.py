"""Of the statements that match a case the most specific one holds, and a tie names both."""

from __future__ import annotations

import itertools
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.condition import Condition, Facts
from conformance.errors import CatalogError
from conformance.model import Deviation, Expectation, ObservedPattern, Origin
from conformance.precedence import deviation_for, expectation_for
from conformance.status import Exited

FACTS = Facts(os="linux", dialect="pwsh", shell="pwsh", version="7.6.9", runner="local", judged_by="last-native")
MATCHING = {
    "os": "linux",
    "dialect": "pwsh",
    "shell": "pwsh",
    "version": ">=7.4",
    "runner": "local",
    "judged_by": "last-native",
}
OTHER = {
    "os": "macos",
    "dialect": "sh",
    "shell": "bash",
    "version": "<7",
    "runner": "docker",
    "judged_by": "last-statement",
}


def expectation(line: int, **when: str) -> Expectation:
    return Expectation(Exited(0), None, None, None, Condition(**when), "", "", (), Origin("topic.toml", line))


def deviation(line: int, routes: tuple[str, ...], fixtures: tuple[str, ...], **when: str) -> Deviation:
    observed = (ObservedPattern(Exited(1), None, None, None),)
    return Deviation(routes, fixtures, (), observed, Condition(**when), "", "", Origin("core.toml", line))


CONDITIONS = st.fixed_dictionaries({}, optional={key: st.sampled_from([MATCHING[key], OTHER[key]]) for key in MATCHING})


@settings(max_examples=150, deadline=None)
@given(st.lists(CONDITIONS, max_size=5))
def test_the_one_with_most_keys_holds(conditions: list[dict[str, str]]) -> None:
    expectations = [expectation(line, **when) for line, when in enumerate(conditions, start=1)]
    matching = [
        e for e, when in zip(expectations, conditions, strict=True) if all(MATCHING[key] == when[key] for key in when)
    ]
    most = max((e.condition.keys for e in matching), default=None)
    best = [e for e in matching if e.condition.keys == most]
    if len(best) > 1:
        with pytest.raises(CatalogError) as caught:
            expectation_for(expectations, FACTS)
        assert sum(f"{e.origin}:" in str(caught.value) for e in best) == 2
    else:
        assert expectation_for(expectations, FACTS) == (best[0] if best else None)
        assert expectation_for(reversed(expectations), FACTS) == (best[0] if best else None)


def test_a_tie_names_both_and_says_what_to_do() -> None:
    tied = [expectation(3, os="linux"), expectation(9, shell="pwsh"), expectation(1)]
    with pytest.raises(
        CatalogError, match=r"^topic\.toml:\d: ties with topic\.toml:\d: .* Add a key to the `when`"
    ) as caught:
        expectation_for(tied, FACTS)
    assert "topic.toml:3" in str(caught.value)
    assert "topic.toml:9" in str(caught.value)


def test_a_tie_below_the_most_specific_does_not_matter() -> None:
    best = expectation(5, os="linux", shell="pwsh")
    assert expectation_for([expectation(1), expectation(2), expectation(3, os="linux"), best], FACTS) is best


def test_every_key_of_a_condition_decides_alone() -> None:
    assert Condition().matches(FACTS)
    assert {field.name for field in fields(Condition)} == set(MATCHING)
    for key in MATCHING:
        assert Condition(**{key: MATCHING[key]}).matches(FACTS)
        assert not Condition(**{key: OTHER[key]}).matches(FACTS)


@pytest.mark.parametrize(
    ("version", "wanted", "matches"),
    [
        ("7.4.0", ">=7.4", True),
        ("7.10.1", ">=7.4", True),
        ("7.3.9", ">=7.4", False),
        ("7.6.0-preview.2", ">=7.5", True),
        ("5.2.15", ">=5,<6", True),
        ("unknown", ">=0", False),
        ("unknown", "!=7", False),
    ],
)
def test_versions_are_compared_as_versions(version: str, wanted: str, matches: bool) -> None:  # noqa: FBT001
    facts = Facts("linux", "pwsh", "pwsh", version, "local", "last-native")
    assert Condition(version=wanted).matches(facts) is matches


def test_an_exact_fixture_beats_an_exact_route_beats_keys_beat_nothing() -> None:
    ranked = [
        deviation(1, ("pwsh-*",), ("errors/*",)),
        deviation(2, ("pwsh-*",), ("errors/*",), os="linux"),
        deviation(3, ("pwsh-*",), ("errors/*",), os="linux", shell="pwsh"),
        deviation(4, ("pwsh-file",), ("errors/*",)),
        deviation(5, ("pwsh-file",), ("errors/*",), os="linux"),
        deviation(6, ("pwsh-*",), ("errors/throw",)),
        deviation(7, ("pwsh-file",), ("errors/throw",)),
        deviation(8, ("pwsh-file",), ("errors/throw",), os="linux"),
    ]
    for one, other in itertools.combinations(ranked, 2):
        for both in ([one, other], [other, one]):
            assert deviation_for(both, "errors/throw", "pwsh-file", FACTS) is other
    assert deviation_for(ranked, "errors/throw", "pwsh-file", FACTS) is ranked[-1]


def test_tied_deviations_name_both() -> None:
    both = [deviation(4, ("pwsh-file",), ("errors/*",)), deviation(12, ("pwsh-file",), ("errors/t*",))]
    with pytest.raises(CatalogError) as caught:
        deviation_for(both, "errors/throw", "pwsh-file", FACTS)
    assert "core.toml:4" in str(caught.value)
    assert "core.toml:12" in str(caught.value)


def test_a_deviation_under_another_condition_does_not_hold() -> None:
    assert deviation_for([deviation(4, ("*",), ("*",), os="macos")], "errors/throw", "pwsh-file", FACTS) is None
