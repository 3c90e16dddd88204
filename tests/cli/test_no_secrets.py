"""Nothing private is in any output: what stands in the environment, and what the home and the host are called."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest import COMMAND, command_environment

SECRET = "s3cr3t-" + "x9k2q"  # in two parts, so that this file cannot be what is found
ROUTE = """
fixtures = ["exit-codes/exit-7", "bytes/nul"]
[[route]]
id = "mine"
kind = "one-shot"
dialects = ["bash", "sh"]
argv = ["{{{{bash}}}}", "{folder}/launch.sh", "{{{{body_file}}}}"]
source = "https://example.org/mine"
"""
LAUNCH = 'bash "$1"; exit 0\n'
CASE = "exit-codes/exit-7/mine"


def on_a_host_called(name: str) -> list[str]:
    """Return what a command begins with that is to run on a host of that name; nothing where that is not allowed."""
    words = ["unshare", "--uts", "sh", "-c", f'hostname {name} && exec "$@"', "sh"]
    if shutil.which("unshare") is None or shutil.which("hostname") is None:
        return []
    tried = subprocess.run([*words, "hostname"], capture_output=True, text=True, check=False)
    return words if tried.stdout.strip() == name else []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a user whose name is secret, who has a route there."""
    home = tmp_path / SECRET
    project = home / "project"
    project.mkdir(parents=True)
    (project / "launch.sh").write_text(LAUNCH, encoding="utf-8")
    (project / "mine.toml").write_text(ROUTE.format(folder=project), encoding="utf-8")
    (home / "tmp").mkdir()
    return home


def outputs(home: Path) -> Iterator[tuple[Sequence[str], tuple[int, ...]]]:
    """Yield every command whose output may be passed on, with the codes that it may exit with."""
    report = str(home / "project" / "report.jsonl")
    route = ("--route", str(home / "project" / "mine.toml"))
    yield ["run", *route, "--report", report], (1,)
    yield ["run", *route, "--json"], (1,)
    yield ["report", report], (0,)
    for view in ("html", "markdown", "junit", "csv", "badge"):
        yield ["report", report, f"--{view}", "-"], (0,)
    yield ["report", report, "--annotations"], (0,)
    yield ["merge", report, "-o", str(home / "project" / "merged.jsonl"), *route], (0,)
    for form in ([], ["--json"], ["--markdown"]):
        yield ["diff", report, str(home / "project" / "merged.jsonl"), *form], (0,)
    yield ["cite", CASE, *route], (0,)
    yield ["cite", CASE, "--report", report, *route], (0,)
    yield ["explain", CASE, *route], (1,)
    yield ["explain", CASE, *route, "--json"], (1,)
    yield ["verify", CASE, *route, "-n", "1"], (0,)
    yield ["baseline", "update", *route, report, "--reason", "r", "--url", "https://example.org", "--dry-run"], (0, 1)
    yield ["agree", "mine", "mine2", "--report", report], (2,)
    yield ["doctor", "--json"], (0, 1, 3)


def leaks(home: Path, commands: Iterable[tuple[Sequence[str], tuple[int, ...]]]) -> list[Sequence[str]]:
    """Run `commands` where all that is private is called by the secret, and return those that tell it."""
    names = ("TOKEN", "GITHUB_TOKEN", "USER", "LOGNAME", "HOSTNAME", "AWS_SECRET_ACCESS_KEY")
    places = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "XDG_CACHE_HOME": str(home / "cache")}
    environment = command_environment({**dict.fromkeys(names, SECRET), **places})
    prefix = on_a_host_called(SECRET) if sys.platform == "linux" else []
    found: list[Sequence[str]] = []
    for arguments, codes in commands:
        finished = subprocess.run(
            [*prefix, *arguments],
            cwd=home / "project",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert finished.returncode in codes, finished.stderr.decode()
        if SECRET.encode() in finished.stdout + finished.stderr:
            found.append(arguments)
    files = (home / "project").glob("*.jsonl")
    return found + [[file.name] for file in files if SECRET.encode() in file.read_bytes()]


def test_nothing_private_is_in_any_output(home: Path) -> None:
    commands = (([*COMMAND, *arguments], codes) for arguments, codes in outputs(home))
    assert leaks(home, commands) == []


@pytest.mark.parametrize(
    "telltale", ["import os; print(os.environ['TOKEN'])", "import tempfile; print(tempfile.gettempdir())"]
)
def test_the_search_finds_what_is_told(telltale: str, home: Path) -> None:
    command = [sys.executable, "-c", telltale]
    assert leaks(home, [(command, (0,))]) == [command]
