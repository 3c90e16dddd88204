"""What the local runner does in its own way on POSIX."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conformance import witness
from conformance.errors import InexpressibleError
from conformance.runners.natives import rendered_body
from conformance.shells import shell_variables

TEMPORARY_VARIABLES = ("TMPDIR",)
NO_SESSIONS = ""
"""Why sessions cannot be held: they can."""
FULL = "/dev/full"
"""Linux and some BSDs have it: every write fails as on a disk without room."""

NATIVE_SCRIPT = """#!/bin/sh
# Leaves its mark in the witness record $2 and exits with $1.
printf 'native %s\\n' "$1" >>"$2"
exit "$1"
"""
_WITNESS = """#!/bin/sh
exec {python} -I -S {program} "$@"
"""


def child_environment(home: Path, temporary: Path) -> dict[str, str]:
    """Return the environment of every child: small, and the same on every machine but for PATH and folders.

    `TERM` and `NO_COLOR` are left out on purpose: set, they hide losses (escape sequences around a hook's JSON).
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        **shell_variables(),
    }


def make_home(home: Path) -> None:
    """Make the home folder of hooks."""
    home.mkdir()


def plain_temporary_folder() -> str:
    """Return a folder whose name needs no quotes in any shell, so that `{{native:7}}` may stand inside any.

    If possible it lies outside the user's home: its path is in the bytes that shells print, and so in reports.
    """
    usual = Path(tempfile.gettempdir())
    plain = [path for path in (usual, Path("/tmp"), Path("/var/tmp")) if re.fullmatch(r"[\w./-]+", str(path))]
    outside = []
    with suppress(RuntimeError):  # this user has no home
        outside = [path for path in plain if not path.is_relative_to(Path.home()) and os.access(path, os.W_OK)]
    return str([*outside, *plain][0])


def wired(argv: tuple[str, ...], wiring: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command that runs `argv` with the standard streams of `wiring` closed or full.

    Raises InexpressibleError where this system has no file that is always full.
    """
    if "full" in wiring.values() and not Path(FULL).exists():
        raise InexpressibleError(f"this system has no {FULL}")
    operators = {"stdin": "<", "stdout": ">", "stderr": "2>"}
    redirections = " ".join(f"{operators[name]}{FULL if end == 'full' else '&-'}" for name, end in wiring.items())
    return ("/bin/sh", "-c", f'exec "$@" {redirections}', "sh", *argv)


class ProgramsInFolder:
    """The commands that start two small programs, which lie in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def native(self, code: str, record: str) -> str:
        """Return the command that exits with `code`."""
        return f"{self._folder}/native {code} {record}"

    def witness(self, record: str) -> str:
        """Return the command that starts the witness."""
        return f"{self._folder}/witness {record}"


class Natives(ProgramsInFolder):
    """Two small scripts of `/bin/sh` in a place's folder."""

    def __init__(self, folder: Path) -> None:
        """Write the scripts into `folder`."""
        super().__init__(str(folder))
        _write_program(folder / "native", NATIVE_SCRIPT)
        program = shlex.quote(str(Path(witness.__file__).resolve()))
        _write_program(folder / "witness", _WITNESS.format(python=shlex.quote(sys.executable), program=program))

    def body(self, text: str, dialect: str, record: Path) -> str:
        """Return the body `text` with its templates rendered."""
        return rendered_body(text, dialect, self, record)


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def home_pattern() -> str:
    """Return a regular expression for the user's home folder where it stands in a text."""
    return rf"(?<![\w/]){re.escape(str(Path.home()))}(?=/|$|:)"
