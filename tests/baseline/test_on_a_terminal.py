"""On a terminal the reasons of new entries are asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from baseline_world import World, body, entry
from conftest import COMMAND, command_environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")

LOSES = "[ $code -eq 7 ] && code=1; [ $code -eq 2 ] && code=0"


def answered(world: World, *answers: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Update the baseline on a terminal on which `answers` are typed, and return the exit code and what was shown."""
    import pty  # there is none on Windows

    controller, terminal = pty.openpty()
    os.write(controller, "".join(f"{answer}\n" for answer in answers).encode() + b"\x04")  # and no more is typed
    completed = subprocess.run(
        [*COMMAND, "baseline", "update", "--route", "mytool.toml", "report.jsonl", *options],
        cwd=world.folder,
        env=command_environment({"TERM": "dumb"}),
        stdin=terminal,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(terminal)
    os.close(controller)
    return completed.returncode, completed.stderr


def test_each_group_is_shown_and_asked_for_once(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES)
    code, shown = answered(
        world, "first", "https://example.org/first", " ", "second", "x.org", "https://example.org/second"
    )
    assert code == 0, shown
    for group in ("{ exit = 0 }: exit-codes/exit-2", "{ exit = 1 }: exit-codes/exit-7, native-codes/native-7"):
        assert shown.count(f"deviation of mytool: {group}\n") == 1
    assert "a text that is not empty is expected" in shown
    assert "'x.org' is no http or https address." in shown
    first = entry("{ exit = 0 }", "exit-codes/exit-2").replace("mytool loses it", "first").replace("mytool/1", "first")
    second = entry("{ exit = 1 }", "exit-codes/exit-7", "native-codes/native-7")
    second = second.replace("mytool loses it", "second").replace("mytool/1", "second")
    assert body(world.text()) == f"{first}\n{second}"


def test_what_options_say_is_not_asked_for(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES)
    code, shown = answered(world, "https://example.org/1", "https://example.org/2", options=("--reason", "all of it"))
    assert (code, shown.count("reason:"), shown.count("URL of")) == (0, 0, 2), shown
    assert world.text().count('reason = "all of it"') == 2


def test_without_an_answer_nothing_is_written(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES)
    code, shown = answered(world, "only this")
    assert code == 130, shown
    assert "Traceback" not in shown
    assert not world.baseline.exists()
