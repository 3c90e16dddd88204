"""A small harness for tests of the host of pwsh sessions: it starts one, and speaks its protocol."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.paths import data_folder
from conformance.routes.compiled import compiled_host
from conformance.shells import Shell, probe_shell, shell_variables

REPLY_SECONDS = 120
QUIET = ("-NoLogo", "-NoProfile", "-NonInteractive")
WRAPPER = data_folder("matrices") / "pwsh-preserving.ps1"
HAS_PWSH = bool(os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh"))


@dataclass(frozen=True)
class Outcome:
    """What came of one body. `ended` tells that the body ended the process, as subprocess reports it."""

    code: int
    stdout: bytes
    stderr: bytes
    ended: bool = False


class Machine:
    """A home, a real pwsh and the compiled host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "home").mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder),
            **shell_variables(),
        }
        self.pwsh: Shell = probe_shell("pwsh", self.environment)
        source = (data_folder("matrices") / "pwsh-session.cs").read_text(encoding="utf-8")
        self.host = compiled_host(source, self.pwsh, self.environment)

    def one_shot(self, body: str, stdin: bytes, directory: Path) -> Outcome:
        """Run `body` in a process of its own, through the wrapper."""
        file = self.folder / "one-shot.ps1"
        file.write_text(body, encoding="utf-8")
        completed = subprocess.run(
            [self.pwsh.path, *QUIET, "-File", WRAPPER, file],
            input=stdin,
            capture_output=True,
            env=self.environment,
            cwd=directory,
            check=False,
        )
        return Outcome(completed.returncode, completed.stdout, completed.stderr)


class HostSession:
    """A session of `mode`. One that a body has ended is started anew for the next."""

    def __init__(self, machine: Machine, mode: str) -> None:
        self._machine = machine
        self._mode = mode
        self._requests = 0
        self._replies = b""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The pwsh, started if need be."""
        if self._process is None:
            script = data_folder("matrices") / "pwsh-session.ps1"
            self._replies = b""
            self._process = subprocess.Popen(
                [self._machine.pwsh.path, *QUIET, "-File", script, self._machine.host, WRAPPER, self._mode],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._machine.environment,
                cwd=self._machine.folder,
                start_new_session=True,
                bufsize=0,
            )
        return self._process

    def send(self, data: bytes) -> None:
        """Write to the requests."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def reply(self) -> str | None:
        """Return the next reply, or None when the process has ended."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self._replies:
            ready, _, _ = select.select([descriptor], [], [], REPLY_SECONDS)
            assert ready, "the session does not reply"
            part = os.read(descriptor, 4096)
            if not part:
                return None
            self._replies += part
        line, _, self._replies = self._replies.partition(b"\n")
        return line.decode()

    def close(self) -> tuple[int, bytes, str]:
        """End the requests; return the exit code, the replies that nobody read, and the session's own messages."""
        process, self._process = self.process, None
        out, err = process.communicate(timeout=REPLY_SECONDS)
        return process.returncode, self._replies + out, err.decode()

    def run(
        self,
        body: str | bytes,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> Outcome:
        """Run `body` and return what came of it, when all its output has ended."""
        with self.started(body, environment, directory) as request:
            request.feed(stdin)
            return request.outcome()

    @contextmanager
    def started(
        self, body: str | bytes, environment: Mapping[str, str] | None = None, directory: Path | None = None
    ) -> Iterator[Request]:
        """Hand over `body`, to be fed and finished inside."""
        self._requests += 1
        folder = self._machine.folder / f"{self._mode}-{self._requests}"
        (folder / "work").mkdir(parents=True)
        (folder / "body").write_bytes(body if isinstance(body, bytes) else body.encode())
        variables = {**self._machine.environment, **(environment or {})}
        block = "".join(f"{name}={value}\0" for name, value in variables.items())
        (folder / "environment").write_bytes(os.fsencode(block))
        for name in ("stdin", "stdout", "stderr"):
            os.mkfifo(folder / name)
        with Request(self, f"request-{self._requests}", folder) as request:
            self.send(f"{request.id} {folder} {directory or folder / 'work'}\n".encode())
            request.await_opened()
            yield request
        shutil.rmtree(folder)

    def gone(self) -> int:
        """Return how the process ended, and forget it."""
        process, self._process = self.process, None
        with process:
            return process.wait(REPLY_SECONDS)


class Request:
    """One body that runs."""

    def __init__(self, session: HostSession, id_: str, folder: Path) -> None:
        self.id = id_
        self.folder = folder
        self._session = session
        self._pool = ThreadPoolExecutor(3)
        self._ends = [os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK) for name in ("stdout", "stderr")]
        self._stdin_held = os.open(folder / "stdin", os.O_RDWR)

    def __enter__(self) -> Request:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def await_opened(self) -> None:
        reply = self._session.reply()
        assert reply == f"{self.id} opened", reply or self._session.close()
        for end in self._ends:
            os.set_blocking(end, True)
        self._outputs = [self._pool.submit(_read_all, end) for end in self._ends]
        self._stdin = os.open(self.folder / "stdin", os.O_WRONLY)
        os.close(self._stdin_held)

    def feed(self, stdin: bytes) -> None:
        self._pool.submit(_write_all, self._stdin, stdin)

    def outcome(self) -> Outcome:
        """Wait for the reply and for the end of both outputs."""
        code = self.code()
        stdout, stderr = self.outputs()
        if code is None:
            return Outcome(self._session.gone(), stdout, stderr, ended=True)
        return Outcome(code, stdout, stderr)

    def code(self) -> int | None:
        """Wait for the reply; None is the end of the process."""
        reply = self._session.reply()
        if reply is None:
            return None
        id_, word, code = reply.split(" ")
        assert (id_, word) == (self.id, "exited"), reply
        return int(code)

    def outputs(self) -> tuple[bytes, bytes]:
        """Wait for the end of standard output and error, and return all of them."""
        stdout, stderr = (output.result(REPLY_SECONDS) for output in self._outputs)
        return stdout, stderr


def _read_all(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def _write_all(descriptor: int, data: bytes) -> None:
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            rest = memoryview(data)
            while rest:
                rest = rest[stream.write(rest) :]
    except BrokenPipeError:
        pass  # the body did not want it all
