"""What is pinned of the systems that can be installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import UsageError
from conformance.systems import InstallableSystem, find_system, folder_name, system_names

SYSTEMS = [pytest.param(find_system(name), id=name) for name in system_names()]
FROM_THE_REGISTRY = frozenset({"funding"})
"""What npm copies of packages into a lockfile, and never asks for anything."""


def content(system: InstallableSystem, file: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((system.folder / file).read_text(encoding="utf-8"))
    return value


def texts(value: Any) -> Iterator[str]:
    """Yield all keys and texts in `value` that count for an installation."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in FROM_THE_REGISTRY:
                yield key
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def test_the_systems() -> None:
    assert system_names() == ("deepseek-harness", "launchers", "node-powershell")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_lockfile_pins_every_package_by_digest_and_says_nowhere_where_to_fetch_it(system: InstallableSystem) -> None:
    lock = content(system, "package-lock.json")
    assert lock["lockfileVersion"] == 3
    packages = {path: package for path, package in lock["packages"].items() if path}
    assert packages
    for path, package in packages.items():
        assert package["integrity"].startswith("sha512-"), path
        assert not package.get("link"), path
    for text in texts(lock):
        assert text != "resolved"
        assert "://" not in text


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_packages_that_adapters_import_are_named_in_the_versions_that_are_locked(system: InstallableSystem) -> None:
    packages = content(system, "package-lock.json")["packages"]
    assert system.packages
    assert packages[""]["dependencies"] == system.packages
    assert {name: packages[f"node_modules/{name}"]["version"] for name in system.packages} == system.packages


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_says_what_it_is(system: InstallableSystem) -> None:
    description = content(system, "package.json")
    assert description["name"] == system.name == system.folder.name
    assert description["private"]
    assert description["engines"] == {"node": ">=20"}
    assert "scripts" not in description
    assert system.summary
    assert system.homepage.startswith("https://")
    assert {path.name for path in system.folder.iterdir()} == {"package.json", "package-lock.json"}


def test_all_of_the_harness_are_of_one_version() -> None:
    harness = find_system("deepseek-harness").packages
    versions = {version for name, version in harness.items() if name.startswith("@deepseek-ai/dsh-")}
    assert versions == {"0.1.0-rc.8"}


@pytest.mark.parametrize("file", ["package.json", "package-lock.json"])
def test_other_packages_get_another_folder(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "npm" / "thing"
    described.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        (described / name).write_text("{}")
    monkeypatch.setattr("conformance.systems.data_folder", lambda _name: tmp_path)
    before = folder_name("thing")
    assert folder_name("thing") == before
    (described / file).write_text("{ }")
    assert folder_name("thing") != before


def test_an_unknown_system_is_told_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"^unknown system 'launcher': did you mean launchers\? The systems are deep"):
        find_system("launcher")
