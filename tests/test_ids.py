"""Case ids: permanent, made of few characters, and the same whatever is selected."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.catalog import load_catalog
from conformance.errors import NothingSelectedError
from conformance.model import Case, EnvironmentKey
from conformance.selection import Selection


@cache
def shipped() -> tuple[Case, ...]:
    return load_catalog(["full"]).cases()


IDS = st.deferred(lambda: st.sampled_from([case.id for case in shipped()]))


def test_ids_have_few_characters_are_unique_and_sorted() -> None:
    ids = [case.id for case in shipped()]
    assert ids
    for id_ in ids:
        assert re.fullmatch(r"[A-Za-z0-9/.+-]+", id_)
        assert id_.count("/") == 2
    assert ids == sorted(set(ids))


def test_an_id_names_its_fixture_its_route_and_a_runner_that_is_not_local() -> None:
    case = shipped()[0]
    assert case.id == f"{case.fixture.id}/{case.route.id}"
    assert Case(case.fixture, case.route, "docker").id == f"{case.id}+docker"


@st.composite
def globs(draw: st.DrawFn) -> str:
    """Return a glob that matches at least one id, or a part of an id."""
    id_ = draw(IDS)
    start = draw(st.integers(0, len(id_) - 1))
    end = draw(st.integers(start + 1, len(id_)))
    return draw(
        st.sampled_from(
            [id_, id_[start:end], f"*{id_[start:end]}*", f"{id_[:start]}*", f"?{id_[1:end]}*", f"*{id_[end:]}"]
        )
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(globs(), min_size=1, max_size=3))
def test_k_selects_a_part_in_the_same_order_with_the_same_ids(patterns: list[str]) -> None:
    selected = Selection(ids=tuple(patterns))(shipped())
    known = {case.id for case in shipped()}
    wild = [pattern if pattern in known or set(pattern) & set("*?[") else f"*{pattern}*" for pattern in patterns]
    assert list(selected) == [case for case in shipped() if any(fnmatchcase(case.id, pattern) for pattern in wild)]
    assert selected


@settings(max_examples=60, deadline=None)
@given(
    ids=st.lists(globs(), max_size=2),
    routes=st.lists(st.deferred(lambda: st.sampled_from(sorted({case.route.id for case in shipped()}))), max_size=2),
    fixtures=st.lists(st.sampled_from(["bytes/*", "exit-codes/*", "exit-7", "*"]), max_size=2),
)
def test_every_part_of_a_selection_narrows_it(ids: list[str], routes: list[str], fixtures: list[str]) -> None:
    def selected(selection: Selection) -> set[str]:
        try:
            return {case.id for case in selection(shipped())}
        except NothingSelectedError:
            return set()

    parts = [Selection(ids=tuple(ids)), Selection(routes=tuple(routes)), Selection(fixtures=tuple(fixtures))]
    whole = Selection(ids=tuple(ids), routes=tuple(routes), fixtures=tuple(fixtures))
    assert selected(whole) == set.intersection(*map(selected, parts))
    assert selected(parts[1]) == {case.id for case in shipped() if not routes or case.route.id in routes}


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        ("exit-codes/exit-7/bash-command", True),
        ("exit-7/bash", True),
        ("exit-codes/*/bash-command", True),
        ("exit-codes/exit-[78]/*", True),
        ("exit-7*", False),
        ("*/exit-7", False),
        ("EXIT-7", False),
    ],
)
def test_a_glob_without_wildcards_matches_anywhere_and_one_with_them_the_whole_id(glob: str, matches: bool) -> None:  # noqa: FBT001
    wanted = [case for case in shipped() if case.id == "exit-codes/exit-7/bash-command"]
    if matches:
        assert Selection(ids=(glob,))(wanted) == tuple(wanted)
    else:
        with pytest.raises(NothingSelectedError):
            Selection(ids=(glob,))(wanted)


def test_an_empty_selection_takes_all_and_selects_nothing_from_nothing() -> None:
    assert Selection()(shipped()) == shipped()
    with pytest.raises(NothingSelectedError, match="no case matches the matrix"):
        Selection()([])


def test_an_exact_id_selects_itself_alone() -> None:
    def fixtures(pattern: str) -> set[str]:
        return {case.fixture.id for case in Selection(fixtures=(pattern,))(shipped())}

    assert fixtures("exit-codes/exit-2") == {"exit-codes/exit-2"}
    assert fixtures("exit-codes/exit-25") == {"exit-codes/exit-255"}


@pytest.mark.parametrize(
    "key",
    [
        EnvironmentKey("linux", "x86_64", "bash", "5.2.15", "local"),
        EnvironmentKey("macos", "arm64", "pwsh", "7.6.0-preview.1", "docker"),
        EnvironmentKey("linux", "x86_64", "my-own-tool", "unknown", "local"),
        EnvironmentKey("windows", "amd64", "run-3.sh", "unknown", "local"),
        EnvironmentKey("linux", "x86_64", "sh-5", "unknown", "local"),
        EnvironmentKey("linux", "x86_64", "", "unknown", "local"),
    ],
)
def test_an_environment_key_is_read_back(key: EnvironmentKey) -> None:
    assert EnvironmentKey.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "linux/bash-5.2.15/local", "linux-x86_64/bash/local", "linux-x86_64/bash-5.2.15"])
def test_what_is_no_environment_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no environment key"):
        EnvironmentKey.parse(text)
