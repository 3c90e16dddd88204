"""What the tests of sessions share: sessions of real shells, and bodies for them in a folder of the test's own."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from conformance.model import Seconds
from conformance.paths import data_folder
from conformance.payload import EMPTY, Payload
from conformance.process import Completed, Markers, Session, SwappedStreams, open_session, prepared_for_children
from conformance.process.launch import TOKEN_VARIABLE, Cancellation, Launch

MEBIBYTE = 1024 * 1024
AT_ONCE = Seconds(0.01)
LONG = Seconds(120.0)
FOREVER = 3600

SH_SESSION = """
exec 3<&0 4>&1 </dev/null >/dev/null
while read -r id folder directory <&3; do
    exec 5<"$folder/stdin" 6>"$folder/stdout" 7>"$folder/stderr"
    echo "$id opened" >&4
    (cd "$directory" && . "$folder/body") <&5 >&6 2>&7 3<&- 4>&- 5<&- 6>&- 7>&-
    status=$?
    exec 5<&- 6>&- 7>&-
    echo "$id exited $status" >&4
done
"""
"""Each body has a subshell of its own, and the environment of the session."""


@dataclass(frozen=True)
class World:
    """Opens sessions and has bodies performed by them."""

    folder: Path
    cancellation: Cancellation

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], TOKEN_VARIABLE: uuid.uuid4().hex}

    def launch(
        self,
        *argv: str,
        stdin: Payload = EMPTY,
        stdout: Payload | None = EMPTY,
        stderr: Payload | None = EMPTY,
        deadline: float = LONG,
        linger: float = LONG,
        started: Path | None = None,
    ) -> Launch:
        """Return a launch with a directory of its own; with `started` its deadline counts from that file on."""
        directory = self.folder / f"work-{secrets.token_hex(4)}"
        directory.mkdir()
        return Launch(
            argv=argv,
            environment=self.environment(),
            directory=directory,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            deadline=AT_ONCE if started is not None else Seconds(deadline),
            linger=Seconds(linger),
            started_file=started,
            start_allowance=LONG if started is not None else 0.0,
        )

    def open(self, *argv: str) -> AbstractContextManager[Session]:
        return open_session(self.launch(*argv), self.cancellation)

    def shipped(self) -> AbstractContextManager[Session]:
        """Open the session of bash that is shipped."""
        return self.open(bash(), "--noprofile", "--norc", str(data_folder("matrices") / "bash-session.bash"))

    def sh(self, program: str) -> AbstractContextManager[Session]:
        """Open a session that is a text of sh."""
        return self.open("/bin/sh", "-c", program)

    def talk(self, body: str, launch: Launch, identity: str = "") -> SwappedStreams:
        folder = self.folder / (identity or secrets.token_hex(6))
        folder.mkdir()
        (folder / "body").write_text(body)
        (folder / "environment").write_text("".join(f"{name}={value}\0" for name, value in launch.environment.items()))
        return SwappedStreams(folder)

    def perform(self, session: Session, body: str, launch: Launch | None = None) -> Completed:
        launch = launch or self.launch()
        return session.perform(launch, self.talk(body, launch))

    def pid(self, name: str) -> int:
        """Return the pid that a body wrote into the file `name`."""
        return int((self.folder / name).read_text())


def bash() -> str:
    found = shutil.which("bash")
    assert found is not None
    return found


def markers(body: str, nonce: str, *, begin: bool = False, by_lines: bool = False) -> Markers:
    """Return a body for a shell of sh, whose end marker is `nonce:CODE` and a line break."""
    first = f"echo {nonce}-begin\n" if begin else ""
    return Markers(
        request=f'{first}{body}\necho "{nonce}:$?"\n'.encode(),
        begin=f"{nonce}-begin\n".encode() if begin else b"",
        end=re.compile(rf"{nonce}:(?P<code>[0-9]+)\n".encode()),
        by_lines=by_lines,
    )


@contextmanager
def opened_world(folder: Path) -> Iterator[World]:
    """Return a world, after which no process and no zombie may be left."""
    children = {child.pid for child in psutil.Process().children()}
    with closing(Cancellation()) as cancellation, prepared_for_children():
        yield World(folder, cancellation)
        left = [child for child in psutil.Process().children() if child.pid not in children]
        assert left == [], "no process and no zombie may be left"


def descriptors() -> set[str]:
    assert sys.platform == "linux"
    return set(os.listdir("/proc/self/fd"))  # noqa: PTH208
