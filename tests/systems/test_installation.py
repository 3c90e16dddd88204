"""Systems are installed whole or not at all, from what is pinned, and whatever goes wrong is told with a way out."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Finished, run_cli

from conformance.errors import HarnessError
from conformance.systems import MissingSystemError, find_system
from conformance.systems.installation import ABANDONED_SECONDS, install
from conformance.systems.installed import installed_folder, is_installed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the npm of these tests is a script of /bin/sh")

INSTALLS = "mkdir node_modules && cp package.json package-lock.json node_modules"
LAUNCHERS = find_system("launchers")
REGISTRY = "the registry that npm is configured for (`npm config get registry`)"


class Npm:
    """An npm that notes how it is called and does what a text of sh says, in the folder that is to be filled."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.program = folder / "bin" / "npm"
        self.program.parent.mkdir()
        self.calls = folder / "calls"
        self.cache = folder / "cache" / "shell-exit-conformance"
        self.variables = {
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)
        self.does(INSTALLS)

    def does(self, text: str) -> None:
        self.program.write_text(f'#!/bin/sh\necho "$*" >>{self.calls}\n{text}\n')
        self.program.chmod(0o755)

    def complains(self, stderr: str, code: int = 1) -> str:
        """Fail so, and return what the user is told."""
        message = self.program.with_name("message")
        message.write_text(stderr)
        self.does(f"cat {message} >&2; exit {code}")
        return self.complaint()

    def complaint(self) -> str:
        with pytest.raises(HarnessError) as raised:
            install(LAUNCHERS)
        assert "\n" not in str(raised.value)
        assert not self.kept()
        return str(raised.value)

    def kept(self) -> list[Path]:
        systems = self.cache / "systems"
        return sorted(systems.iterdir()) if systems.exists() else []

    def started(self) -> list[list[str]]:
        return [call.split() for call in self.calls.read_text().splitlines()] if self.calls.exists() else []

    def run(self, *arguments: str) -> Finished:
        return run_cli("systems", "install", *arguments, env=self.variables)


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    return Npm(tmp_path, monkeypatch)


def test_what_is_pinned_is_installed_once_and_no_script_is_run(npm: Npm) -> None:
    folder = install(LAUNCHERS)
    for file in ("package.json", "package-lock.json"):
        assert (folder / "node_modules" / file).read_bytes() == (LAUNCHERS.folder / file).read_bytes()
    assert npm.kept() == [folder]
    assert installed_folder("launchers") == install(LAUNCHERS) == folder
    ((verb, *options),) = npm.started()
    assert verb == "ci"
    assert "--ignore-scripts" in options


def test_what_is_not_installed_is_told_with_the_command_that_installs_it(npm: Npm) -> None:
    with pytest.raises(MissingSystemError, match=r"^launchers is not installed: run `conformance systems install "):
        installed_folder("launchers")
    assert not is_installed("launchers")
    assert not npm.cache.exists()


def test_nobody_else_can_get_at_what_is_installed(npm: Npm) -> None:
    before = os.umask(0)
    try:
        folder = install(LAUNCHERS)
    finally:
        os.umask(before)
    for path in (folder, folder.parent, npm.cache):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("which", ["cache", "systems", "launchers"])
def test_what_others_can_change_is_refused(which: str, npm: Npm) -> None:
    folder = install(LAUNCHERS)
    path = {"cache": npm.cache, "systems": folder.parent, "launchers": folder}[which]
    path.chmod(0o770)
    for use in (installed_folder, is_installed):
        with pytest.raises(HarnessError, match=f"^{path} can be written by other users: run chmod go-w on it, or "):
            use("launchers")


def test_two_at_once_both_get_a_whole_system(npm: Npm) -> None:
    # Each waits until both have found none, so that both install.
    both = (
        f'touch "{npm.program.parent}/here.$$"; until [ "$(ls {npm.program.parent} | grep -c here)" = 2 ]; do :; done'
    )
    npm.does(f"{both}; {INSTALLS}")
    with ThreadPoolExecutor(2) as pool:
        folders = [future.result() for future in [pool.submit(install, LAUNCHERS) for _ in range(2)]]
    assert folders[0] == folders[1]
    assert (folders[0] / "node_modules" / "package.json").exists()
    assert len(npm.started()) == 2
    assert npm.kept() == [folders[0]]


def test_what_was_killed_leaves_nothing_that_passes_for_a_system(npm: Npm) -> None:
    npm.does("mkdir node_modules; kill -9 $PPID")
    assert npm.run("launchers").code == -signal.SIGKILL
    assert not is_installed("launchers")
    (part,) = npm.kept()
    npm.does(INSTALLS)
    folder = install(LAUNCHERS)
    assert npm.kept() == [folder, part], "it may still be at work"
    shutil.rmtree(folder)
    long_ago = part.stat().st_mtime - ABANDONED_SECONDS - 60
    os.utime(part, (long_ago, long_ago))
    assert install(LAUNCHERS) == folder
    assert npm.kept() == [folder]


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_an_interrupted_installation_ends_npm_and_leaves_nothing(name: str, npm: Npm) -> None:
    npm.does(f"kill -{name} $PPID; exec sleep 60")
    finished = npm.run("launchers")
    assert finished.code == 130
    assert "Traceback" not in finished.err
    assert npm.kept() == []


OFFLINE = f"{REGISTRY} does not answer. Mend the network or npm's settings"
OLD_NODE = """npm error code EBADENGINE
npm error engine Unsupported engine
npm error notsup Required: {"node":">=20"}
npm error notsup Actual:   {"node":"v18.0.0"}
"""


@pytest.mark.parametrize(
    ("stderr", "told", "said"),
    [
        (
            "npm error code ENOTFOUND\nnpm error network request to x failed\nnpm error network",
            OFFLINE,
            "network request to x failed",
        ),
        (
            "npm ERR! code ECONNREFUSED\nnpm ERR! syscall connect\nnpm ERR! FetchError: request failed, reason: so.\n",
            OFFLINE,
            "FetchError: request failed, reason: so",
        ),
        (
            "npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write\n",
            "there is no room for it. Make room, or set XDG_CACHE_HOME to a folder on another disk",
            "nospc ENOSPC: no space left on device, write",
        ),
        (
            OLD_NODE,
            "this Node.js or npm is not one that it runs on. Install Node.js 20 or newer (https://nodejs.org)",
            'Required: {"node":">=20"}; Actual:   {"node":"v18.0.0"}',
        ),
        (
            "npm error code EINTEGRITY\nnpm error Integrity checksum failed: wanted this but got that\n",
            f"{REGISTRY} served something else than what is pinned, which was thrown away. Have npm ask another",
            "Integrity checksum failed: wanted this but got that",
        ),
        (
            "npm error code E404\nnpm error 404 Not Found - GET https://r.example/execa\n",
            f"{REGISTRY} does not have all of it. Have npm ask another, such as https://registry.npmjs.org/",
            "404 Not Found - GET https://r.example/execa",
        ),
    ],
    ids=["offline", "offline, old npm", "full disk", "old node", "other content", "lacking"],
)
def test_what_npm_complains_of_is_told_with_a_way_out(stderr: str, told: str, said: str, npm: Npm) -> None:
    assert npm.complains(stderr) == f"launchers cannot be installed: {told} (npm said: {said})."


@pytest.mark.parametrize(
    ("stderr", "code", "told"),
    [
        ("npm error code ENEW\nnpm error something new\n", 1, "exited 1: something new. Mend that, and run"),
        ("env: 'node': No such file or directory\n", 127, "exited 127: env: 'node': No such file or directory. Mend "),
        ("", 3, "exited 3: no word. Mend that, and run the same command again."),
    ],
)
def test_anything_else_is_told_in_its_own_words(stderr: str, code: int, told: str, npm: Npm) -> None:
    assert f"launchers cannot be installed: npm ({npm.program}) {told}" in npm.complains(stderr, code)


@pytest.mark.parametrize("tag", ["npm warn", "npm WARN"])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("ENOSPC: no space left on device, write", "there is no room for it. Make room, or set XDG_CACHE_HOME"),
        ("EACCES: permission denied, open 'x'", "exited 0: EACCES: permission denied, open 'x'. Mend that"),
    ],
)
def test_files_that_npm_could_not_write_are_no_installation_though_it_exits_0(
    tag: str, error: str, told: str, npm: Npm
) -> None:
    warning = f"{tag} deprecated x@1: old\n{tag} tar TAR_ENTRY_ERROR {error}\n"
    npm.program.with_name("warning").write_text(warning * 3)
    npm.does(f"{INSTALLS}; cat {npm.program.parent}/warning >&2")
    assert told in npm.complaint()


def test_a_warning_is_no_failure(npm: Npm) -> None:
    npm.does(f"{INSTALLS}; echo 'npm warn deprecated x@1: old' >&2")
    assert install(LAUNCHERS).is_dir()


def test_an_npm_that_does_nothing_has_installed_nothing(npm: Npm) -> None:
    npm.does("exit 0")
    assert "installed nothing. Try another npm." in npm.complaint()


def test_an_npm_that_cannot_be_started(npm: Npm) -> None:
    npm.program.write_text("#!/nonexistent\n")
    assert f"npm ({npm.program}) cannot be started: No such file or directory. Install Node.js 20" in npm.complaint()


def test_no_npm(npm: Npm, monkeypatch: pytest.MonkeyPatch) -> None:
    npm.program.unlink()
    monkeypatch.setenv("PATH", str(npm.program.parent))
    told = "npm is not on PATH. Install Node.js 20 or newer (https://nodejs.org), which brings npm."
    assert npm.complaint() == f"launchers cannot be installed: {told}"


def test_a_cache_that_cannot_be_written_is_told(npm: Npm) -> None:
    npm.cache.parent.write_text("a file")
    complaint = npm.complaint()
    assert complaint.startswith(f"the packages of launchers cannot be kept: {npm.cache.parent}: ")
    assert complaint.endswith("Make the folder writable, or set XDG_CACHE_HOME to a folder of your own.")
    assert npm.started() == []


def test_a_full_disk_is_told(npm: Npm, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_bytes(path: Path, _data: bytes) -> int:
        raise OSError(28, os.strerror(28), str(path))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    assert "package.json: No space left on device. Make room there, or set XDG_CACHE_HOME" in npm.complaint()


# The command.


def test_the_command_says_what_it_does_and_that_it_is_done(npm: Npm) -> None:
    finished = npm.run("launchers", "node-powershell", "launchers")
    assert (finished.code, finished.err) == (0, "")
    said, done, *more = finished.out.splitlines()
    for part in ("npm fetches cross-spawn 7.0.6, ", "from the registry that it is", "runs no install scripts", "cache"):
        assert part in said
    assert done == "launchers is installed."
    assert len(more) == 2
    assert len(npm.started()) == 2


def test_all_that_are_not_installed_yet_are_installed(npm: Npm) -> None:
    install(LAUNCHERS)
    finished = npm.run("all")
    assert finished.code == 0
    assert [line for line in finished.out.splitlines() if line.endswith(" is installed.")] == [
        f"{name} is installed." for name in ("deepseek-harness", "launchers", "node-powershell")
    ]
    assert len(npm.started()) == 3
    assert npm.run("all").out.count("npm") == 0
    assert len(npm.started()) == 3


def test_a_failure_is_one_sentence_and_exit_code_3(npm: Npm) -> None:
    npm.does("echo 'npm error code ENOTFOUND' >&2; exit 1")
    finished = npm.run("launchers")
    assert finished.code == 3
    assert finished.err.startswith("conformance: launchers cannot be installed: the registry ")
    assert finished.err.count("\n") == 1
    assert "is installed" not in finished.out


def test_nothing_is_installed_where_a_name_is_unknown(npm: Npm) -> None:
    finished = npm.run("launchers", "nosuch")
    assert (finished.code, finished.out) == (2, "")
    assert "unknown system 'nosuch'" in finished.err
    assert npm.started() == []


REAL_NPM = shutil.which("npm")


@pytest.mark.skipif(REAL_NPM is None, reason="npm is missing")
def test_a_real_npm_installs_what_the_lockfile_pins(tmp_path: Path) -> None:
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "npm_config_cache": str(tmp_path / "npm")}
    finished = run_cli("systems", "install", "node-powershell", env=variables)
    if any(lack in finished.err for lack in ("does not answer", "refuses to serve", "not one that it runs on")):
        pytest.skip(finished.err)
    assert finished.code == 0, finished.err
    (folder,) = (tmp_path / "cache" / "shell-exit-conformance" / "systems").iterdir()
    assert '"version": "5.0.1"' in (folder / "node_modules" / "node-powershell" / "package.json").read_text()
    again = run_cli("systems", "install", "node-powershell", env={**variables, "PATH": str(tmp_path)})
    assert (again.code, again.out, again.err) == (0, "node-powershell is installed.\n", "")
