"""A set-up of bootstrap.py that is killed, or whose disk gets full, at any of its steps: the next start ends well."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest
from bootstrap_world import (
    DOTNET,
    Server,
    World,
    bootstrap,
    posix,
    pwsh_archive,
    server_fixture,  # noqa: F401
    whole,
    world_fixture,  # noqa: F401
)

SEED = 20
TENTHS = range(10)
VERSION = bootstrap.PWSH_ARCHIVE
ARCHIVE = pwsh_archive(VERSION)


@pytest.fixture(name="empty")
def empty_fixture(world: World, server: Server) -> World:
    """A world in which everything is still to be set up, PowerShell from its archive."""
    world.unmark("bin/pwsh")
    world.pin(VERSION, ARCHIVE)
    server.answer = whole(ARCHIVE)
    return world


def steps_of_a_set_up(kind: str, server: Server, folder: Path) -> list[str]:
    """Return the steps of a whole set-up at which `kind` can happen."""
    folder.mkdir()
    world = World(folder)
    world.unmark("bin/pwsh")
    world.pin(VERSION, ARCHIVE)
    assert world.start("run", FAULT=f"{kind}:0", CONFORMANCE_PWSH_ARCHIVES=server.url).returncode == 0
    return (folder / "steps").read_text().splitlines()


def chosen(tenth: int, steps: list[str]) -> int:
    """Return the number, counted from 1, of a step in that tenth of the set-up."""
    begin, end = (len(steps) * border // 10 for border in (tenth, tenth + 1))
    return random.Random(f"{SEED} {tenth}").randrange(begin, end) + 1


def check_next_start(world: World, server: Server) -> None:
    """The start after a fault ends well and leaves what a start without a fault leaves."""
    variables = {"CODE": "7", "CONFORMANCE_PWSH_ARCHIVES": server.url}
    result = world.start("run", **variables)
    assert (result.returncode, result.stdout) == (7, f"conformance run\npwsh={world.pwsh(VERSION)}\n")
    [environment] = world.cache.glob("env-*-*")
    names = {environment.name, environment.name.rsplit("-", 1)[0] + ".stamp", f"pwsh-{VERSION}", "lock"}
    assert {path.name for path in world.cache.iterdir()} == names
    world.events()
    downloads = len(server.paths)
    again = world.start("run", **variables)
    assert (again.returncode, again.stderr, again.stdout) == (7, "", result.stdout)
    assert (world.events(), len(server.paths)) == ([], downloads)


def test_the_steps_are_those_of_a_set_up(empty: World, server: Server, tmp_path: Path) -> None:
    """What the tests below choose from: the programs, the chunks, the files, the renaming, the stamp, the command."""
    steps = steps_of_a_set_up("list", server, tmp_path / "dry")
    assert len(steps) > 30
    assert {"subprocess.Popen", "chunk", "open", "os.mkdir", "os.chmod", "os.rename", "os.remove"} <= set(steps)
    assert steps[-1] == "os.exec"


@posix
@pytest.mark.parametrize("tenth", TENTHS)
def test_a_start_that_is_killed_does_not_harm_the_next(
    tenth: int, empty: World, server: Server, tmp_path: Path
) -> None:
    steps = steps_of_a_set_up("list", server, tmp_path / "dry")
    number = chosen(tenth, steps)
    killed = empty.start("run", FAULT=f"kill:{number}", CONFORMANCE_PWSH_ARCHIVES=server.url)
    context = f"seed {SEED}: killed before step {number} of {len(steps)}, {steps[number - 1]}"
    assert killed.returncode == -signal.SIGKILL, context
    try:
        check_next_start(empty, server)
    except AssertionError as error:
        error.add_note(context)
        raise


@posix
@pytest.mark.parametrize("tenth", TENTHS)
def test_a_disk_that_gets_full_is_one_sentence_and_does_not_harm_the_next_start(
    tenth: int, empty: World, server: Server, tmp_path: Path
) -> None:
    steps = steps_of_a_set_up("full", server, tmp_path / "dry")
    number = chosen(tenth, steps)
    full = empty.start("run", FAULT=f"full:{number}", CONFORMANCE_PWSH_ARCHIVES=server.url)
    context = f"seed {SEED}: full at step {number} of {len(steps)}, {steps[number - 1]}"
    assert (full.returncode, full.stdout) == (3, ""), context
    assert "No space left on device" in full.stderr.splitlines()[-1], context
    assert "free some space" in full.stderr.splitlines()[-1], context
    try:
        check_next_start(empty, server)
    except AssertionError as error:
        error.add_note(context)
        raise


NO_SPACE = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"


@posix
@pytest.mark.parametrize("step", ["pip download", "ensurepip", "pip install", "dotnet"])
def test_a_disk_that_gets_full_for_a_program_is_no_reason_for_another_source(
    step: str, empty: World, server: Server
) -> None:
    """Neither Debian's packages nor the archive of PowerShell would fit."""
    empty.become_debian()
    empty.program("bin/dotnet", DOTNET)
    if step == "dotnet":
        empty.start("run", CONFORMANCE_PWSH="/opt/mine")
    if step == "pip download":
        python = (empty.folder / "python").read_text()
        empty.program("python", python.replace("ERROR: No matching distribution", NO_SPACE.strip()))
        empty.unmark("index")
    empty.mark("no-pip" if step == "ensurepip" else "broken", NO_SPACE)
    result = empty.start("--yes", "run", CONFORMANCE_PWSH_ARCHIVES=server.url)
    assert (result.returncode, result.stdout) == (3, "")
    assert "free some space" in result.stderr.splitlines()[-1]
    assert "apt-get install" not in empty.events()
    assert server.paths == []
