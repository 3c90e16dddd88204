"""The catalogue that is shipped: it loads, all of it is used, and every statement in it has its ground."""

from __future__ import annotations

import pytest

from conformance.catalog import Catalog, covers, load_catalog, matrix_names

MANY = 50


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(matrix_names())


@pytest.mark.parametrize("name", matrix_names())
def test_every_matrix_loads_alone(name: str) -> None:
    assert load_catalog([name]).fixtures


def test_there_are_as_many_fixtures_as_were_promised(catalog: Catalog) -> None:
    assert len(catalog.fixtures) >= MANY
    topics = {fixture.id.partition("/")[0] for fixture in catalog.fixtures}
    assert topics >= {"exit-codes", "native-codes", "errors", "mixtures", "text", "bytes", "processes"}


def test_every_route_meets_fixtures(catalog: Catalog) -> None:
    met = {case.route.id for case in catalog.cases()}
    assert met == {route.id for route in catalog.routes}


def test_every_fixture_meets_a_route(catalog: Catalog) -> None:
    assert {case.fixture.id for case in catalog.cases()} == {fixture.id for fixture in catalog.fixtures}


ONLY_ON_WINDOWS = {"cmd", "powershell5"}
"""The dialects whose shells nobody of us has seen: what is expected of them is documented, and provisional."""


def test_every_expectation_has_a_reason_a_source_and_was_seen(catalog: Catalog) -> None:
    for fixture in catalog.fixtures:
        assert fixture.summary.strip(), fixture.origin
        assert fixture.source.startswith(("https://", "http://")), fixture.origin
        for step in fixture.steps:
            for expectation in step.expectations:
                assert expectation.reason.strip(), expectation.origin
                assert expectation.url.startswith(("https://", "http://")), expectation.origin
                of_windows = expectation.condition.os == "windows" or fixture.dialects <= ONLY_ON_WINDOWS
                assert expectation.seen or of_windows, expectation.origin


def test_every_dialect_was_seen_in_a_shell_of_its_own(catalog: Catalog) -> None:
    """An expectation that holds for PowerShell must be one that a real pwsh was seen to give."""
    for fixture in catalog.fixtures:
        seen = {
            (sighting.shell, sighting.os) for step in fixture.steps for e in step.expectations for sighting in e.seen
        }
        for dialect, shell in (("sh", "dash"), ("sh", "bash"), ("bash", "bash"), ("pwsh", "pwsh")):
            if dialect in fixture.dialects and not (shell == "dash" and fixture.needs_session):  # no session is of dash
                assert (shell, "linux") in seen, fixture.origin


def test_every_deviation_has_its_ground_and_its_cases(catalog: Catalog) -> None:
    for deviation in catalog.deviations:
        assert deviation.reason.strip(), deviation.origin
        assert deviation.url.startswith(("https://", "http://")), deviation.origin
        assert any(covers(deviation, case) for case in catalog.cases()), deviation.origin


def test_every_origin_names_the_line_of_the_id(catalog: Catalog) -> None:
    from conformance.paths import data_folder

    root = data_folder("fixtures").parent
    for fixture in catalog.fixtures:
        lines = (root / fixture.origin.file).read_text(encoding="utf-8").splitlines()
        assert lines[fixture.origin.line - 1] == "[[fixture]]"
        name = fixture.id.partition("/")[2]
        assert f'id = "{name}"' in lines[fixture.origin.line : fixture.origin.line + 3]


def test_the_routes_of_windows_run_its_own_dialects_and_nothing_is_claimed_to_be_seen_there(catalog: Catalog) -> None:
    windows = load_catalog(["windows"])
    assert {dialect for route in windows.routes for dialect in route.dialects} == ONLY_ON_WINDOWS
    assert {case.dialect for case in windows.cases()} == ONLY_ON_WINDOWS
    assert windows.required == {"cmd", "powershell"}
    seen = {
        sighting
        for fixture in catalog.fixtures
        for step in fixture.steps
        for expectation in step.expectations
        for sighting in expectation.seen
    }
    assert {sighting.os for sighting in seen} == {"linux"}


def test_core_and_full_have_no_route_of_windows() -> None:
    for case in load_catalog(["full"]).cases():
        assert case.dialect not in ONLY_ON_WINDOWS, case.id


def test_the_digest_depends_on_what_is_loaded() -> None:
    assert load_catalog(["core"]).digest == load_catalog(["core"]).digest != load_catalog(["telling"]).digest
