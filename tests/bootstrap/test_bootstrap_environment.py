"""The environment of bootstrap.py: from an index, from Debian's packages, and when it is built anew."""

from __future__ import annotations

import errno
import io
import os
import signal
import socket
import sys
import zipfile
from pathlib import Path

import pytest
from bootstrap_world import (  # noqa: F401
    PROJECT,
    Handler,
    Server,
    World,
    bootstrap,
    half,
    posix,
    server_fixture,
    silence,
    status,
    with_pip,
    world_fixture,
)

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
    assert world.start("run").returncode == -signal.SIGKILL
    [broken] = world.cache.glob("env-*-*")
    world.unmark("kill")
    assert world.start("run", CODE="7").returncode == 7
    [repaired] = world.cache.glob("env-*-*")
    assert repaired != broken


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


def test_a_finished_environment_serves_from_a_cache_that_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def utime(path: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system", path)

    (tmp_path / "env-key.stamp").write_text(str(tmp_path))
    monkeypatch.setattr(os, "utime", utime)
    assert bootstrap.find_environment(tmp_path, "key") == tmp_path


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
    world.become_debian()
    world.unmark("lists")
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
    world.become_debian()
    world.start("--yes", "run")
    world.unmark("records/click")
    result = world.start("--yes", "run", CODE="7")
    assert result.returncode == 7
    assert "installing with apt-get: python3-click\n" in result.stderr


@posix
def test_a_python_without_ensurepip_asks_no_index(world: World) -> None:
    world.become_debian()
    assert world.start("--yes", "run", LACKS="ensurepip", CODE="7").returncode == 7
    assert "python download" not in world.events()


@posix
def test_a_python_without_pip_asks_with_that_of_the_environment(world: World) -> None:
    assert world.start("run", LACKS="pip", CODE="7").returncode == 7
    steps = ("venv", "ensurepip", "download", "install", "install")
    assert world.events() == [f"python {step}" for step in steps]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", "it said nothing"),
        ("one\n  two\n\n", "two"),
        ("error NU1301: no such source\nbye", "error NU1301: no such source"),
        ("  ERROR: No match\n\nerror: failed\n\nnote: This error is not pip's\n", "ERROR: No match"),
        ("error: retrying\nUnhandled exception: refused\nand an error trace", "Unhandled exception: refused"),
        ("W: old\nE: Unable to locate package x\n", "E: Unable to locate package x"),
        (
            "Could not fetch URL u: no (Caused by E('<C object at 0x7f>: refused')) - skipping\nERROR: No match",
            "E('refused')) - skipping",
        ),
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
    world.mark("broken", "ERROR: no wheel fits\n")
    result = world.start("run")
    assert result.returncode == 3
    assert "ERROR: no wheel fits" in result.stderr.splitlines()[-1]
    assert list(world.cache.glob("env-*")) == []


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


# ---- where the user says what to fill it from ----


@posix
def test_from_debian_asks_no_index(world: World) -> None:
    world.become_debian()
    assert world.start("--yes", "--from", "debian", "run", CODE="7").returncode == 7
    assert "python download" not in world.events()


@posix
def test_from_index_never_turns_to_debian(world: World) -> None:
    world.become_debian()
    world.unmark("index")
    result = world.start("--yes", "--from=index", "run")
    assert result.returncode == 3
    assert "PIP_FIND_LINKS" in result.stderr.splitlines()[-1]
    assert world.events() == ["python download"]


@posix
def test_from_debian_without_debian_is_3(world: World) -> None:
    result = world.start("--from", "debian", "run")
    assert result.returncode == 3
    assert "there is no apt-get" in result.stderr.splitlines()[-1]


@posix
def test_every_source_has_an_environment_of_its_own(world: World) -> None:
    world.become_debian()
    for source in ([], ["--from", "index"], ["--from", "debian"]):
        assert world.start("--yes", *source, "run", CODE="7").returncode == 7
    assert len(list(world.cache.glob("env-*.stamp"))) == 3
    world.events()
    for source in ([], ["--from", "index"], ["--from", "debian"]):
        assert world.start(*source, "run").stderr == ""
    assert world.events() == []


# ---- the real pip, against indexes that do not serve and a folder that does ----


def complaint_about(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return why the index at `url` does not serve."""
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "180")
    monkeypatch.setenv("PIP_RETRIES", "5")
    with pytest.raises(bootstrap.IndexMissing) as caught:
        bootstrap.probe_index(sys.executable, ["toytool>=1"])
    return str(caught.value)


@with_pip
def test_a_dead_index_is_given_up_without_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    real = bootstrap.call

    def call(command: list[str], **options: object) -> tuple[int, str]:
        calls.append(command)
        answer: tuple[int, str] = real(command, **options)
        return answer

    monkeypatch.setattr(bootstrap, "call", call)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, not listening: refuses
        reason = complaint_about(f"http://127.0.0.1:{closed.getsockname()[1]}/simple", monkeypatch)
    assert "Connection refused" in reason
    [command] = calls
    assert command[command.index("--retries") + 1] == "0"
    assert command[command.index("--timeout") + 1] == "3"


@with_pip
@pytest.mark.parametrize("code", [404, 500])
def test_an_index_with_an_error_is_no_index(code: int, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = status(code)
    assert f"{code} " in complaint_about(server.url, monkeypatch)


@with_pip
def test_an_index_that_hangs_is_no_index(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = silence
    monkeypatch.setattr(bootstrap, "PROBE_SECONDS", 1)
    assert "no answer in 1 seconds" in complaint_about(server.url, monkeypatch)


@with_pip
def test_an_index_that_serves_half_a_file_is_no_index(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    page = b'<a href="/toytool-1.0-py3-none-any.whl">toytool-1.0-py3-none-any.whl</a>'

    def answer(handler: Handler) -> None:
        if handler.path.endswith(".whl"):
            half(bytes(1000))(handler)
        else:
            handler.begin(len(page), 200, ("Content-Type", "text/html"))
            handler.wfile.write(page)

    server.answer = answer
    assert "toytool" in complaint_about(server.url, monkeypatch)
    assert "/toytool-1.0-py3-none-any.whl" in server.paths


@with_pip
def test_a_proxy_that_refuses_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = status(407)
    monkeypatch.setenv("https_proxy", server.url)
    assert "Proxy" in complaint_about("https://index.invalid/simple", monkeypatch)


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
