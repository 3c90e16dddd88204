"""A matrix that extends another takes over its routes, deviations and required shells."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalog import load_catalog
from conformance.errors import CatalogError
from conformance.model import ONE_SHOT


def ids(*matrices: str) -> set[str]:
    return {case.id for case in load_catalog(matrices).cases()}


def test_full_is_every_fixture_on_the_routes_of_core_and_on_more() -> None:
    core, full = load_catalog(["core"]), load_catalog(["full"])
    assert {route.id for route in full.routes} > {route.id for route in core.routes}
    assert {str(d.origin) for d in full.deviations} > {str(d.origin) for d in core.deviations}
    assert full.required == core.required
    assert ids("core") < ids("full") == ids("core", "full") == ids("full", "core")
    meets = {
        (fixture.id, route.id)
        for fixture in full.fixtures
        for route in full.routes
        if fixture.dialects & {*route.dialects} and (route.kind != ONE_SHOT or not fixture.needs_session)
    }
    assert {(case.fixture.id, case.route.id) for case in full.cases()} == meets


def test_a_matrix_of_the_users_may_extend_one_of_its_own(tmp_path: Path) -> None:
    route = '[[route]]\nid = "r"\nkind = "one-shot"\ndialects = ["sh"]\nargv = ["sh", "{{body_file}}"]\nsource = "https://example.org"\n'
    (tmp_path / "base.toml").write_text('fixtures = ["exit-codes/exit-0"]\n' + route)
    (tmp_path / "more.toml").write_text('extends = "base.toml"\nfixtures = ["exit-codes/exit-7"]\n')
    assert ids(str(tmp_path / "base.toml")) == {"exit-codes/exit-0/r"}
    assert ids(str(tmp_path / "more.toml")) == {"exit-codes/exit-0/r", "exit-codes/exit-7/r"}


def test_a_chain_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text('extends = "full"\nfixtures = ["exit-codes/exit-7"]\n')
    with pytest.raises(CatalogError, match=r"chain.toml:2: 'full' extends 'core' itself. Name that one."):
        load_catalog([str(path)])
