"""bootstrap.py against fake programs: what it starts, what it leaves behind, what it passes on.

Nothing here installs anything. `World` holds a copy of bootstrap.py in a toy repository, a PATH with fakes
only, and a log in which every fake notes how it was called; a set-up is judged by that log, not by seconds.
"""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

BOOTSTRAP = Path(__file__).resolve().parents[1] / "bootstrap.py"
posix = pytest.mark.skipif(sys.platform == "win32", reason="the fake programs are sh scripts")
with_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this Python has no pip")

PROJECT = """\
[build-system]
requires = ["hatchling>=1.12"]
[project]
name = "toy"
dependencies = ["Click>=8.1"]
optional-dependencies.test = ["pytest_xdist>=3.1"]
"""

# Fake interpreter, for every role: the running one, the system's, and (through a link) the environment's.
PYTHON = """\
echo "python $*" >>"$WORLD/log"
for last; do :; done
case "$*" in
  *"-m venv"*) rm -rf "$last/bin"; mkdir -p "$last/bin"; ln -s "$0" "$last/bin/python" ;;
  *"pip download"*) [ -e "$WORLD/index" ] || { echo "ERROR: No matching distribution"; exit 1; } ;;
  *"pip install"*" -e "*)
    [ ! -e "$WORLD/kill" ] || kill -9 "$PPID"
    [ ! -e "$WORLD/broken" ] || { echo "ERROR: disk is full"; exit 1; }
    ln -s "$WORLD/conformance" "${0%/*}/conformance" ;;
  *"-m pytest"*) pwd; exit "${CODE:-0}" ;;
  *importlib.metadata*)
    shift 3; comma=
    printf '{'
    for name; do
      [ -e "$WORLD/records/$name" ] || continue
      printf '%s"%s": "%s"' "$comma" "$name" "$WORLD/records/$name"; comma=,
    done
    printf '}' ;;
esac
"""
CONFORMANCE = 'echo "conformance $*"; echo "pwsh=$CONFORMANCE_PWSH"; exit "${CODE:-0}"\n'
APT_GET = """\
echo "apt-get $*" >>"$WORLD/log"
if [ "$1" = update ]; then touch "$WORLD/lists"; exit; fi
[ -e "$WORLD/lists" ] || { echo "E: Unable to locate package"; exit 100; }
touch "$WORLD/records/pip" "$WORLD/records/hatchling" "$WORLD/records/click" "$WORLD/records/pytest-xdist"
"""
DOTNET = """\
echo "dotnet $*" >>"$WORLD/log"
for last; do :; done
echo half >"$last/pwsh"
[ ! -e "$WORLD/kill" ] || kill -9 "$PPID"
[ ! -e "$WORLD/broken" ] || { echo "error NU1301: no such source"; exit 1; }
"""
SUDO = 'while [ "$1" = -n ]; do shift; done; exec "$@"\n'

# Starts the copy of bootstrap.py with the fakes where the real one would find this machine's Pythons.
DRIVER = """\
import importlib.util, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has it ignored
world = os.environ["WORLD"]
sys.path.insert(0, world + "/repo")
import bootstrap
sys.executable = sys._base_executable = world + "/python"
bootstrap.SYSTEM_PYTHON = os.environ.get("SYSTEM_PYTHON", world + "/python")
importlib.util.find_spec = lambda name: None if name == os.environ.get("LACKS") else name
if "OLD" in os.environ:
    sys.version_info = (3, 6, 15)
sys.exit(bootstrap.main(sys.argv[1:]))
"""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", BOOTSTRAP)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bootstrap = load()


class World:
    """A toy repository, a cache and a machine that consists of fakes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache" / "shell-exit-conformance"
        for name in ("repo", "bin", "records", "home"):
            (folder / name).mkdir()
        shutil.copy(BOOTSTRAP, folder / "repo")
        (folder / "repo" / "pyproject.toml").write_text(PROJECT)
        (folder / "driver.py").write_text(DRIVER)
        (folder / "log").touch()
        for tool in ("sh", "env", "cat", "mkdir", "ln", "rm", "touch"):
            real = shutil.which(tool)
            assert real, tool
            (folder / "bin" / tool).symlink_to(real)
        self.program("python", PYTHON)
        self.program("conformance", CONFORMANCE)
        self.program("bin/pwsh", "")
        self.mark("index")

    def program(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def mark(self, name: str) -> None:
        (self.folder / name).touch()

    def unmark(self, name: str) -> None:
        (self.folder / name).unlink()

    def variables(self, extra: Mapping[str, str]) -> dict[str, str]:
        loader = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
        return {
            **loader,  # some builds of Python need it to start
            "PATH": str(self.folder / "bin"),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "WORLD": str(self.folder),
            **extra,
        }

    def launch(self, *arguments: str, **extra: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(self.folder / "driver.py"), *arguments],
            env=self.variables(extra),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, *arguments: str, stdin: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        with self.launch(*arguments, **extra) as process:
            out, err = process.communicate(stdin)
        assert "Traceback" not in err
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def events(self) -> list[str]:
        """Take what the fakes noted since the last call: the program and the word that tells the step."""
        words = ("venv", "download", "install", "update", "pytest")
        lines = (self.folder / "log").read_text().splitlines()
        (self.folder / "log").write_text("")
        calls = [line.split() for line in lines if line.startswith(("python ", "apt-get ", "dotnet "))]
        return [f"{call[0]} {next((word for word in words if word in call), '')}" for call in calls]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


# ---- what is passed on ----


@posix
def test_a_second_start_sets_nothing_up_and_says_nothing(world: World) -> None:
    first = world.start("run", "--a", "b c")
    assert first.stdout.startswith("conformance run --a b c\n")
    assert "setting up" in first.stderr
    assert world.events() == ["python download", "python venv", "python install", "python install"]
    second = world.start("run")
    assert (second.returncode, second.stderr) == (0, "")
    assert world.events() == []


@posix
@pytest.mark.parametrize("verb", ["run", "test"])
@pytest.mark.parametrize("code", [0, 2, 3, 7, 255])
def test_exit_codes_pass_through(world: World, verb: str, code: int) -> None:
    assert world.start(verb, CODE=str(code)).returncode == code


@posix
def test_exec_runs_anything_with_the_environment_first_on_path(world: World) -> None:
    result = world.start("exec", "sh", "-c", "command -v python; cat; exit 42", stdin="payload")
    environment = next(world.cache.glob("env-*-*"))
    assert result.stdout == f"{environment}/bin/python\npayload"
    assert result.returncode == 42
    assert world.start("exec", "conformance", "list").stdout.startswith("conformance list\n")


@posix
@pytest.mark.parametrize("name", ["TERM", "KILL", "PIPE"])
def test_a_signal_stays_a_signal(world: World, name: str) -> None:
    """PIPE: Python ignores it for itself, and what is ignored stays so across exec."""
    result = world.start("exec", "sh", "-c", f"kill -{name} $$; echo survived")
    assert (result.returncode, result.stdout) == (-getattr(signal, f"SIG{name}"), "")


@posix
def test_exec_tells_missing_from_not_executable(world: World) -> None:
    missing = world.start("exec", "no-such-command")
    assert (missing.returncode, missing.stderr.splitlines()[-1]) == (
        127,
        "bootstrap: command not found: no-such-command",
    )
    assert world.start("exec", str(world.folder / "driver.py")).returncode == 126


@posix
def test_tests_run_in_the_repository_with_a_worker_per_cpu(world: World) -> None:
    result = world.start("test", "-k", "x")
    assert result.stdout == f"{world.folder}/repo\n"
    assert (world.folder / "log").read_text().splitlines()[-1].startswith("python -m pytest -n ")


@pytest.mark.parametrize(
    "arguments", [["-n", "4"], ["-n0"], ["--numprocesses=2"], ["--dist", "no"], ["-p", "no:xdist"], ["--pdb"]]
)
def test_the_users_own_choice_of_workers_stands(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    assert bootstrap.worker_options(arguments) == []
    assert bootstrap.worker_options(["-k", "no"])[0] == "-n"
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(arguments))
    assert bootstrap.worker_options([]) == []


@pytest.mark.parametrize("arguments", [[], ["fly"], ["--fast", "run"], ["exec"], ["--yes"]])
def test_wrong_usage_is_2_in_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["--yes", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: ")


# ---- what unmakes an environment, and what repairs one ----


@posix
def test_another_pyproject_gets_another_environment(world: World) -> None:
    world.start("run")
    world.events()
    (world.folder / "repo" / "pyproject.toml").write_text(PROJECT + "# changed\n")
    world.start("run")
    assert "python install" in world.events()
    assert len(list(world.cache.glob("env-*.stamp"))) == 2


@posix
def test_a_set_up_killed_half_way_is_repaired(world: World) -> None:
    world.mark("kill")
    assert world.start("run").returncode == -signal.SIGKILL  # type: ignore[attr-defined, unused-ignore]
    [half] = world.cache.glob("env-*-*")
    world.unmark("kill")
    assert world.start("run", CODE="7").returncode == 7
    [whole] = world.cache.glob("env-*-*")
    assert whole != half


@posix
def test_an_environment_that_lost_a_part_is_rebuilt(world: World) -> None:
    world.start("run")
    next(world.cache.glob("env-*-*/bin/conformance")).unlink()
    assert world.start("run", CODE="7").returncode == 7
    assert len(list(world.cache.glob("env-*-*"))) == 1


@posix
def test_an_environment_nobody_uses_is_removed_by_the_next_set_up(world: World) -> None:
    world.start("run")
    [old] = world.cache.glob("env-*-*")
    os.utime(next(world.cache.glob("env-*.stamp")), (0, 0))
    (world.folder / "repo" / "pyproject.toml").write_text(PROJECT + "# changed\n")
    world.start("run")
    assert not old.exists()
    assert len(list(world.cache.glob("env-*-*"))) == 1


@posix
def test_starts_at_the_same_time_build_once(world: World) -> None:
    processes = [world.launch("run", CODE="7") for _ in range(3)]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [7, 7, 7]
    assert world.events().count("python venv") == 1


# ---- no index: Debian's packages ----


@posix
def test_without_an_index_debians_packages_serve(world: World) -> None:
    world.unmark("index")
    world.program("bin/apt-get", APT_GET)
    world.program("bin/sudo", SUDO)
    world.mark("records/pip")
    result = world.start("--yes", "run", CODE="7")
    assert result.returncode == 7
    assert "No matching distribution" in result.stderr
    assert "installing with apt-get: python3-click python3-hatchling python3-pytest-xdist\n" in result.stderr
    assert world.events() == [
        "python download",
        "python ",  # which of them are there?
        *("apt-get install", "apt-get update", "apt-get install"),
        "python ",
        *("python venv", "python install"),
    ]
    assert world.start("run").stderr == ""
    assert world.events() == []


@posix
def test_a_debian_package_that_goes_away_unmakes_the_environment(world: World) -> None:
    world.unmark("index")
    world.program("bin/apt-get", APT_GET)
    world.program("bin/sudo", SUDO)
    world.mark("lists")
    world.start("--yes", "run")
    world.unmark("records/click")
    result = world.start("--yes", "run", CODE="7")
    assert result.returncode == 7
    assert "installing with apt-get: python3-click\n" in result.stderr


@posix
def test_a_python_without_ensurepip_asks_no_index(world: World) -> None:
    world.program("bin/apt-get", APT_GET)
    world.program("bin/sudo", SUDO)
    world.mark("lists")
    assert world.start("--yes", "run", LACKS="ensurepip", CODE="7").returncode == 7
    assert "python download" not in world.events()


@posix
def test_a_python_without_pip_asks_with_that_of_the_environment(world: World) -> None:
    assert world.start("run", LACKS="pip", CODE="7").returncode == 7
    assert world.events() == ["python venv", "python download", "python install", "python install"]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", "it said nothing"),
        ("one\n  two\n\n", "two"),
        ("error NU1301: no such source\nbye", "error NU1301: no such source"),
        ("  ERROR: No match\n\nerror: failed\n\nnote: This error is not pip's\n", "ERROR: No match"),
        ("W: old\nE: Unable to locate package x\n", "E: Unable to locate package x"),
    ],
)
def test_the_line_that_tells(output: str, line: str) -> None:
    assert bootstrap.telling_line(output) == line


@posix
def test_no_index_and_no_debian_is_3_and_says_what_to_do(world: World) -> None:
    world.unmark("index")
    result = world.start("run")
    assert result.returncode == 3
    assert "PIP_FIND_LINKS" in result.stderr.splitlines()[-1]


@posix
def test_the_reason_of_a_failed_installation_is_told(world: World) -> None:
    world.mark("broken")
    result = world.start("run")
    assert result.returncode == 3
    assert "ERROR: disk is full" in result.stderr.splitlines()[-1]
    assert list(world.cache.glob("env-*.stamp")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no apt-get there")
@pytest.mark.parametrize(
    ("uid", "terminal", "answer", "yes", "prefix"),
    [
        (0, False, "", False, []),
        (0, True, "y", False, []),
        (0, True, "", True, []),
        (1000, True, "y", False, ["sudo"]),
        (1000, False, "", True, ["sudo", "-n"]),
        (0, True, "", False, None),
        (1000, True, "n", False, None),
        (1000, False, "", False, None),
    ],
)
def test_who_may_install_debian_packages(
    uid: int,
    terminal: bool,  # noqa: FBT001
    answer: str,
    yes: bool,  # noqa: FBT001
    prefix: list[str] | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    sudo = tmp_path / "sudo"
    sudo.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(sys, "stdin", Stream(answer + "\n"))
    monkeypatch.setattr(sys, "stderr", Stream())
    install = ["apt-get", "install", "-y", "python3-click"]
    if prefix is None:
        with pytest.raises(bootstrap.SetupError, match="run `apt-get install -y python3-click` as root"):
            bootstrap.ask_permission(install, yes=yes)
    else:
        assert bootstrap.ask_permission(install, yes=yes) == prefix


# ---- the real pip, against an index that is not there and a folder that is one ----


@with_pip
def test_a_dead_index_is_given_up_without_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    real = bootstrap.call

    def call(command: list[str], **options: object) -> tuple[int, str]:
        calls.append(command)
        answer: tuple[int, str] = real(command, **options)
        return answer

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, not listening: refuses
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
        monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "180")
        monkeypatch.setenv("PIP_RETRIES", "5")
        monkeypatch.setattr(bootstrap, "call", call)
        with pytest.raises(bootstrap.IndexUnusable, match="No matching distribution found"):
            bootstrap.probe_index(sys.executable, ["no-such-tool"])
    [command] = calls
    assert command[command.index("--retries") + 1] == "0"
    assert command[command.index("--timeout") + 1] == "3"


@with_pip
def test_a_folder_of_wheels_is_an_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "toytool-1.0-py3-none-any.whl", "w") as wheel:
        record = "toytool-1.0.dist-info"
        wheel.writestr(f"{record}/METADATA", "Metadata-Version: 2.1\nName: toytool\nVersion: 1.0\n")
        wheel.writestr(f"{record}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{record}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    bootstrap.probe_index(sys.executable, ["toytool>=1"])


# ---- PowerShell ----


@posix
def test_pwsh_is_installed_once_and_handed_to_the_child(world: World) -> None:
    world.unmark("bin/pwsh")
    world.program("bin/dotnet", DOTNET)
    shim = world.cache / f"pwsh-{bootstrap.PWSH_VERSION}" / "pwsh"
    assert f"pwsh={shim}\n" in world.start("run").stdout
    assert shim.exists()
    assert "dotnet install" in world.events()
    again = world.start("run")
    assert f"pwsh={shim}\n" in again.stdout
    assert again.stderr == ""
    assert world.events() == []


@posix
def test_a_pwsh_on_path_or_of_the_user_is_left_alone(world: World) -> None:
    world.program("bin/dotnet", DOTNET)
    assert "pwsh=\n" in world.start("run").stdout
    world.unmark("bin/pwsh")
    assert "pwsh=/opt/mine\n" in world.start("run", CONFORMANCE_PWSH="/opt/mine").stdout
    assert "dotnet install" not in world.events()


@posix
def test_a_pwsh_installation_killed_half_way_is_repaired(world: World) -> None:
    world.start("run")
    world.unmark("bin/pwsh")
    world.program("bin/dotnet", DOTNET)
    world.mark("kill")
    assert world.start("run").returncode == -signal.SIGKILL  # type: ignore[attr-defined, unused-ignore]
    assert list(world.cache.glob("pwsh-*")) == []
    world.unmark("kill")
    assert world.start("run", CODE="7").returncode == 7
    assert [path.name for path in world.cache.glob("p*")] == [f"pwsh-{bootstrap.PWSH_VERSION}"]


@posix
@pytest.mark.parametrize("dotnet", ["missing", "broken"])
def test_without_pwsh_it_says_so_and_goes_on(world: World, dotnet: str) -> None:
    world.start("run")
    world.unmark("bin/pwsh")
    if dotnet == "broken":
        world.program("bin/dotnet", DOTNET)
        world.mark("broken")
    result = world.start("run", CODE="3")
    assert (result.returncode, result.stdout) == (3, "conformance run\npwsh=\n")
    assert "install PowerShell 7 or the .NET SDK 10" in result.stderr.splitlines()[-1]
    assert ("NU1301" in result.stderr) == (dotnet == "broken")
    assert list(world.cache.glob("p*")) == []


# ---- the cache ----


@posix
def test_the_cache_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    cache = bootstrap.open_cache()
    assert cache.stat().st_mode & 0o777 == 0o700
    cache.chmod(0o777)
    with pytest.raises(bootstrap.SetupError, match="can be written by other users"):
        bootstrap.open_cache()
    cache.chmod(0o755)
    bootstrap.open_cache()
    owner = os.geteuid()  # type: ignore[attr-defined, unused-ignore]
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(bootstrap.SetupError, match=f"belongs to user id {owner}"):
        bootstrap.open_cache()


@posix
def test_an_open_cache_runs_nothing(world: World) -> None:
    world.start("run")
    world.cache.chmod(0o777)
    result = world.start("run")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (3, "", 1)


@posix
def test_a_cache_that_cannot_be_made_is_told_in_one_sentence(world: World) -> None:
    result = world.start("run", XDG_CACHE_HOME=str(world.folder / "log"))
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)


def test_a_relative_cache_directory_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert tmp_path in [bootstrap.cache_base(), *bootstrap.cache_base().parents]


# ---- interpreters ----


@posix
def test_an_old_interpreter_hands_over_to_a_newer_one(world: World) -> None:
    world.program("bin/python3.13", "exit 127\n")  # as pyenv's do
    world.program("bin/python3.12", 'case $1 in -c) exit 0;; esac; echo "$@"; exit 7\n')
    result = world.start("run", "x", OLD="1", SYSTEM_PYTHON="/none")
    assert (result.returncode, result.stderr) == (7, "")
    assert result.stdout == f"{world.folder}/repo/bootstrap.py run x\n"


@posix
def test_an_old_interpreter_alone_says_what_to_install(world: World) -> None:
    result = world.start("run", OLD="1", SYSTEM_PYTHON="/none")
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)
    assert "this is Python 3.6.15" in result.stderr
    assert "apt-get install python3" in result.stderr


def test_old_interpreters_can_read_the_file() -> None:
    """No newer syntax at all, and no annotation that Python 3.6 could not evaluate."""
    import ast

    tree = ast.parse(BOOTSTRAP.read_text(encoding="utf-8"), feature_version=(3, 6))
    for node in ast.walk(tree):
        annotations = [node.annotation] if isinstance(node, ast.arg | ast.AnnAssign) else []
        annotations += [node.returns] if isinstance(node, ast.FunctionDef) else []
        assert not any(isinstance(annotation, ast.Subscript | ast.BinOp) for annotation in annotations)


@posix
def test_ctrl_c_during_set_up_is_130(world: World) -> None:
    world.program("python", 'kill -INT "$PPID"; exec cat "$WORLD/fifo"\n')
    os.mkfifo(world.folder / "fifo")  # type: ignore[attr-defined, unused-ignore]  # nobody writes: the step lasts until it is killed
    result = world.start("run")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (130, "bootstrap: interrupted")


@posix
def test_the_project_file_is_expected_beside_bootstrap(world: World) -> None:
    (world.folder / "repo" / "pyproject.toml").unlink()
    result = world.start("run")
    assert (result.returncode, result.stderr.count("\n")) == (3, 1)
    assert "start it from a clone" in result.stderr
