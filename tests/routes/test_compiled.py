"""Hosts of pwsh sessions are compiled once, kept where nobody else can change them, and refused where somebody can."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.errors import HarnessError
from conformance.routes.compiled import compiled_host
from conformance.shells import Shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the compiler is a script of /bin/sh")

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}
COMPILES = """for last do :; done
echo once >>"$(dirname "$0")/starts"
cat "$source" >"$last"
"""


class Compiler:
    """A pwsh that does what a text of sh says; `$source` and the last argument are the two files."""

    def __init__(self, folder: Path, text: str = COMPILES) -> None:
        self.program = folder / "pwsh"
        self.program.write_text(f'#!/bin/sh\neval "source=\\${{$(($# - 1))}}"\n{text}\n')
        self.program.chmod(0o755)
        self.folder = folder

    def host(self, source: str = "class A;", version: str = "7.6.9") -> Path:
        return compiled_host(source, Shell("pwsh", version, self.program, "PATH"), ENVIRONMENT)

    def complaint(self) -> str:
        with pytest.raises(HarnessError) as raised:
            self.host()
        assert "\n" not in str(raised.value)
        return str(raised.value)

    @property
    def starts(self) -> int:
        return len((self.folder / "starts").read_text().splitlines())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, which is not made yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "shell-exit-conformance"


def test_a_host_is_compiled_once_for_each_source_and_version(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path)
    host = compiler.host()
    assert host.read_text() == "class A;"
    assert compiler.host() == host
    assert compiler.starts == 1
    others = {compiler.host("class B;"), compiler.host(version="7.4.14")}
    assert len({host, *others}) == 3
    assert compiler.starts == 3


def test_nobody_else_can_read_or_change_what_is_kept(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        host = Compiler(tmp_path).host()
    finally:
        os.umask(before)
    for path in (host, host.parent, host.parent.parent):
        assert path.stat().st_mode & 0o077 == 0, path
    assert list(host.parent.iterdir()) == [host]


def test_two_at_once_both_get_a_whole_host(tmp_path: Path) -> None:
    # Each waits until both have found no host, so that both compile.
    both = 'd=$(dirname "$0"); touch "$d/here.$$"; until [ "$(ls "$d" | grep -c here)" = 2 ]; do :; done'
    compiler = Compiler(tmp_path, f"{both}\n{COMPILES}")
    with ThreadPoolExecutor(2) as pool:
        hosts = [pool.submit(compiler.host), pool.submit(compiler.host)]
    assert {host.result().read_text() for host in hosts} == {"class A;"}
    assert compiler.starts == 2
    assert len(list(hosts[0].result().parent.iterdir())) == 1


@pytest.mark.parametrize("which", ["cache", "folder", "host"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_what_others_can_write_is_refused(which: str, mode: int, tmp_path: Path) -> None:
    compiler = Compiler(tmp_path)
    host = compiler.host()
    path = {"cache": host.parents[1], "folder": host.parent, "host": host}[which]
    path.chmod(path.stat().st_mode | mode)
    assert compiler.complaint().startswith(f"{path} can be written by other users: run chmod go-w on it, or ")


@pytest.mark.parametrize("which", ["cache", "folder", "host"])
def test_a_link_is_refused_wherever_it_leads(which: str, tmp_path: Path) -> None:
    compiler = Compiler(tmp_path)
    host = compiler.host()
    path = {"cache": host.parents[1], "folder": host.parent, "host": host}[which]
    path.symlink_to(path.rename(tmp_path / "elsewhere"))
    assert compiler.complaint().startswith(f"{path} is a link, ")


def test_what_belongs_to_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = Compiler(tmp_path)
    host = compiler.host()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    cache = host.parents[1]
    assert compiler.complaint().startswith(f"{cache} belongs to user id {owner}, expected your own ({owner + 1}): ")


def test_nothing_is_compiled_into_a_cache_that_others_can_write(cache: Path, tmp_path: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert "can be written by other users" in Compiler(tmp_path).complaint()
    assert not (tmp_path / "starts").exists()


def test_a_cache_that_cannot_be_made_is_told(cache: Path, tmp_path: Path) -> None:
    cache.parent.write_text("a file")
    complaint = Compiler(tmp_path).complaint()
    assert complaint.startswith(f"the compiled host of pwsh sessions cannot be kept: {cache.parent}: ")
    assert complaint.endswith("Make the folder writable, or set XDG_CACHE_HOME to a folder of your own.")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("echo '(2,29): error CS1002: ; expected' >&2; echo more >&2; exit 1", "(2,29): error CS1002: ; expected"),
        ("exit 3", "it exited 3 without a word"),
        ("exit 0", "it made no file"),
    ],
)
def test_a_source_that_does_not_compile_is_told_in_one_sentence(text: str, complaint: str, tmp_path: Path) -> None:
    compiler = Compiler(tmp_path, text)
    assert compiler.complaint() == (
        f"the host of pwsh sessions does not compile with {compiler.program} 7.6.9: {complaint}. "
        "Leave its routes out, or use another pwsh (CONFORMANCE_PWSH)."
    )
    assert not list((tmp_path / "cache" / "shell-exit-conformance" / "pwsh-hosts").iterdir())


def test_a_pwsh_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path)
    compiler.program.chmod(0o644)
    assert "it cannot be started: Permission denied. " in compiler.complaint()
