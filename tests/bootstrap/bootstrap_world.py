"""Machines that consist of fakes, for the tests of bootstrap.py.

Nothing here installs anything. `World` holds a copy of bootstrap.py in a toy repository, a PATH with fakes
only, and a log in which every fake notes how it was called; a set-up is judged by that log, not by seconds.
`Server` stands for whatever would be downloaded from.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

BOOTSTRAP = Path(__file__).resolve().parents[2] / "bootstrap.py"
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
# LATER is the exit code of all test runs but the first.
PYTHON = """\
echo "python $*" >>"$WORLD/log"
for last; do :; done
case "$*" in
  *"-m venv"*) rm -rf "$last/bin"; mkdir -p "$last/bin"; ln -s "$0" "$last/bin/python" ;;
  *"-m ensurepip"*) [ ! -e "$WORLD/no-pip" ] || { cat "$WORLD/no-pip"; exit 1; } ;;
  *"pip download"*) [ -e "$WORLD/index" ] || { echo "ERROR: No matching distribution"; exit 1; } ;;
  *"pip install"*" -e "*)
    [ ! -e "$WORLD/kill" ] || kill -9 "$PPID"
    [ ! -e "$WORLD/broken" ] || { cat "$WORLD/broken"; exit 1; }
    ln -s "$WORLD/conformance" "${0%/*}/conformance" ;;
  *"-m pytest"*)
    pwd
    [ ! -e "$WORLD/fifo" ] || exec cat "$WORLD/fifo"
    [ ! -e "$WORLD/tested" ] || exit "${LATER:-0}"
    touch "$WORLD/tested"
    exit "${CODE:-0}" ;;
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
printf '#!/bin/sh\\necho %s\\n' "$5" >"$last/pwsh"
[ ! -e "$WORLD/kill" ] || kill -9 "$PPID"
[ ! -e "$WORLD/broken" ] || { cat "$WORLD/broken"; exit 1; }
chmod +x "$last/pwsh"
"""
SUDO = 'while [ "$1" = -n ]; do shift; done; exec "$@"\n'

# Starts the copy of bootstrap.py with the fakes where the real one would find this machine's Pythons.
# FAULT=KIND:N makes something happen at the N-th step of the set-up, a step being whatever changes the cache
# or starts a program; what a step is follows from the auditing events of Python.
DRIVER = """\
import importlib.util, json, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has it ignored
world = os.environ["WORLD"]
sys.path.insert(0, world + "/repo")
import bootstrap
sys.executable = sys._base_executable = world + "/python"
bootstrap.SYSTEM_PYTHON = os.environ.get("SYSTEM_PYTHON", world + "/python")
importlib.util.find_spec = lambda name: None if name == os.environ.get("LACKS") else name
if "OLD" in os.environ:
    sys.version_info = (3, 6, 15)
bootstrap.archive_platform = lambda: os.environ.get("SYSTEM", "linux-x64")
bootstrap.PWSH_DIGESTS = open(world + "/pins").read()
for name, value in json.loads(os.environ.get("SETTINGS", "{}")).items():
    setattr(bootstrap, name, value)

def is_step(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "chunk"):
        return True
    changes = ("os.mkdir", "os.rename", "os.remove", "os.chmod", "shutil.rmtree")
    writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    return (event in changes or writes) and str(arguments[0]).startswith(os.environ["XDG_CACHE_HOME"])

def fail(event, arguments):
    global count
    takes_room = event in ("open", "os.rename") or event == "os.mkdir" and not os.path.exists(arguments[0])
    if not is_step(event, arguments) or kind == "full" and not takes_room:
        return
    count += 1
    if kind == "list" or kind == "full" and number == 0:
        os.write(steps, (event + "\\n").encode())
    if count == number and kind == "full":
        raise OSError(28, os.strerror(28))
    if count == number:
        os.kill(os.getpid(), signal.SIGKILL)

if "FAULT" in os.environ:
    import http.client
    read = http.client.HTTPResponse.read
    http.client.HTTPResponse.read = lambda *arguments: sys.audit("chunk") or read(*arguments)
    kind, _, number = os.environ["FAULT"].partition(":")
    number, count = int(number), 0
    steps = os.open(world + "/steps", os.O_WRONLY | os.O_CREAT)
    sys.addaudithook(fail)
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
        (folder / "pins").touch()
        for tool in ("sh", "env", "cat", "chmod", "mkdir", "ln", "rm", "touch"):
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

    def mark(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text)

    def unmark(self, name: str) -> None:
        (self.folder / name).unlink()

    def become_debian(self) -> None:
        """Get apt-get, which may be used and whose lists are there."""
        self.program("bin/apt-get", APT_GET)
        self.program("bin/sudo", SUDO)
        self.mark("lists")

    def pin(self, version: str, archive: bytes) -> None:
        with (self.folder / "pins").open("a") as pins:
            pins.write(f"{version} linux-x64 {hashlib.sha256(archive).hexdigest()}\n")

    def pwsh(self, version: str) -> Path:
        return self.cache / f"pwsh-{version}" / "pwsh"

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
        words = ("venv", "ensurepip", "download", "install", "update", "pytest")
        lines = (self.folder / "log").read_text().splitlines()
        (self.folder / "log").write_text("")
        calls = [line.split() for line in lines if line.startswith(("python ", "apt-get ", "dotnet "))]
        return [f"{call[0]} {next((word for word in words if word in call), '')}" for call in calls]


@pytest.fixture(name="world")
def world_fixture(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


class Server(ThreadingHTTPServer):
    """An HTTP server on loopback that answers every request as the test says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.answer: Callable[[Handler], None] = status(404)
        self.paths: list[str] = []
        self.over = threading.Event()
        """Set when the test has ended; what does not answer waits for it."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: the client may leave at any time."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.server.answer(self)

    do_CONNECT = do_GET  # noqa: N815 - what a proxy is asked

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""

    def begin(self, length: int, code: int = 200, *headers: tuple[str, str]) -> None:
        self.send_response(code)
        for name, value in (("Content-Length", str(length)), *headers):
            self.send_header(name, value)
        self.end_headers()


def status(code: int) -> Callable[[Handler], None]:
    return lambda handler: handler.begin(0, code)


def whole(content: bytes) -> Callable[[Handler], None]:
    def answer(handler: Handler) -> None:
        handler.begin(len(content))
        handler.wfile.write(content)

    return answer


def half(content: bytes) -> Callable[[Handler], None]:
    def answer(handler: Handler) -> None:
        handler.begin(len(content))
        handler.wfile.write(content[: len(content) // 2])

    return answer


def half_and_silence(content: bytes) -> Callable[[Handler], None]:
    def answer(handler: Handler) -> None:
        half(content)(handler)
        handler.wfile.flush()
        handler.server.over.wait()

    return answer


def silence(handler: Handler) -> None:
    handler.server.over.wait()


@pytest.fixture(name="server")
def server_fixture() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def tar(members: Mapping[str, str], *others: tarfile.TarInfo) -> bytes:
    """Return a .tar.gz with files by name and content, and other members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode("latin-1"))
            archive.addfile(member, io.BytesIO(content.encode("latin-1")))
        for member in others:
            archive.addfile(member)
    return buffer.getvalue()


def pwsh_archive(version: str, *, says: str = "") -> bytes:
    """Return a release archive of some chunks, whose pwsh runs `says` (by default it tells `version`)."""
    bulk = random.Random(version).randbytes(200_000).decode("latin-1")
    script = f"#!/bin/sh\n{says or 'echo ' + version}\n"
    return tar({"pwsh": script, "Modules/Some/Some.psd1": "@{}", "System.dll": bulk})
