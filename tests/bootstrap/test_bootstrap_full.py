"""`bootstrap.py test full`: the tests with every source there is, one stage after the other."""

from __future__ import annotations

import os
import signal

import pytest
from bootstrap_world import DOTNET, World, bootstrap, posix, world_fixture  # noqa: F401

DEBIAN, INDEX = bootstrap.SOURCES["debian"], bootstrap.SOURCES["index"]


@pytest.fixture(name="debian")
def debian_fixture(world: World) -> World:
    world.become_debian()
    return world


def count_runs(world: World) -> int:
    return world.events().count("python pytest")


@posix
def test_both_sources_are_tested_each_in_an_environment_of_its_own(debian: World) -> None:
    result = debian.start("--yes", "test", "full", "-k", "x")
    assert result.returncode == 0
    runs = [line for line in (debian.folder / "log").read_text().splitlines() if " -m pytest " in line]
    assert [line.split(" -n ")[1].split(" ", 1)[1] for line in runs] == ["-k x", "-k x"]
    assert result.stdout == f"{debian.folder}/repo\n" * 2
    assert f"stage 1 of 2: the tests with {DEBIAN}\n" in result.stderr
    assert f"stage 2 of 2: the tests with {INDEX}\n" in result.stderr
    assert result.stderr.endswith(f"test full: passed with {DEBIAN}, passed with {INDEX}\n")
    assert len(list(debian.cache.glob("env-*.stamp"))) == 2


@posix
@pytest.mark.parametrize(("codes", "code", "runs"), [(("1", "0"), 1, 1), (("0", "5"), 5, 2)])
def test_the_first_failure_ends_it_with_its_exit_code(
    codes: tuple[str, str], code: int, runs: int, debian: World
) -> None:
    result = debian.start("--yes", "test", "full", CODE=codes[0], LATER=codes[1])
    assert result.returncode == code
    assert result.stderr.endswith(f"failed with {[DEBIAN, INDEX][runs - 1]}\n")
    assert count_runs(debian) == runs


@posix
def test_an_index_that_is_missing_is_skipped_with_the_reason(debian: World) -> None:
    debian.unmark("index")
    result = debian.start("--yes", "test", "full")
    assert result.returncode == 0
    assert "skipped: no Python package index answers (ERROR: No matching distribution)" in result.stderr
    assert result.stderr.endswith(f"test full: passed with {DEBIAN}, skipped with {INDEX}\n")
    assert count_runs(debian) == 1


@posix
def test_debian_packages_that_cannot_be_installed_are_skipped_with_the_reason(debian: World) -> None:
    debian.program("bin/apt-get", 'echo "E: Could not open lock file - open (13: Permission denied)"; exit 100\n')
    result = debian.start("--yes", "test", "full")
    assert result.returncode == 0
    assert "skipped: apt-get failed (E: Could not open lock file" in result.stderr
    assert result.stderr.endswith(f"test full: skipped with {DEBIAN}, passed with {INDEX}\n")
    assert count_runs(debian) == 1


@posix
def test_versions_of_the_index_that_do_not_fit_are_a_failure(debian: World) -> None:
    """The index is there: that the newest versions cannot be installed together must not look like a pass."""
    python = (debian.folder / "python").read_text()
    install = '  *"pip install"*'
    clash = '  *"pip install -q --no-build-isolation"*) echo "ERROR: ResolutionImpossible"; exit 1 ;;\n'
    debian.program("python", python.replace(install, clash + install))
    result = debian.start("--yes", "test", "full")
    assert (result.returncode, count_runs(debian)) == (3, 1)
    assert "ERROR: ResolutionImpossible" in result.stderr.splitlines()[-1]


@posix
def test_without_debian_only_the_index_is_tested(world: World) -> None:
    result = world.start("test", "full")
    assert result.returncode == 0
    assert result.stderr.endswith(f"test full: passed with {INDEX}\n")
    assert count_runs(world) == 1


@posix
def test_without_any_source_it_is_3(world: World) -> None:
    world.unmark("index")
    result = world.start("test", "full")
    assert (result.returncode, count_runs(world)) == (3, 0)
    assert "no stage could run" in result.stderr.splitlines()[-1]


@posix
def test_powershell_is_set_up_once_for_all_stages(debian: World) -> None:
    debian.program("bin/dotnet", DOTNET)
    debian.start("--yes", "--pwsh", "7.5.1", "test", "full")
    assert debian.events().count("dotnet install") == 1
    assert debian.pwsh("7.5.1").exists()


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_reaches_the_tests_and_ends_all(name: str, code: int, debian: World) -> None:
    os.mkfifo(debian.folder / "fifo")  # nobody writes: the tests last until they are killed
    with debian.launch("--yes", "test", "full") as process:
        assert process.stdout
        assert process.stdout.readline() == f"{debian.folder}/repo\n"
        process.send_signal(getattr(signal, name))
        process.communicate()
    assert process.returncode == code
    assert count_runs(debian) == 1
