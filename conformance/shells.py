"""Find the shells of this machine and make sure that they are what they are called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import ShellError

SHELL_NAMES = frozenset({"bash", "dash", "sh", "pwsh"})
PROBE_SECONDS = 120


class MissingShellError(ShellError):
    """The shell is not installed, so that its cases are unavailable."""


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell that was probed."""

    name: str
    """What it is, whatever it was asked for as: `/bin/sh` is `dash` on Debian."""
    version: str
    path: Path
    found: str
    """How it was found, for the report's header."""


def probe_shell(name: str, environment: Mapping[str, str]) -> Shell:
    """Return the shell called `name`, having run it once in `environment`.

    Raises MissingShellError where there is none, ShellError where the program found is not that shell.
    """
    return _probe_pwsh(environment) if name == "pwsh" else _probe_posix(name, environment)


def _probe_posix(name: str, environment: Mapping[str, str]) -> Shell:
    on_path = shutil.which(name, path=environment.get("PATH"))
    if on_path is None:
        raise MissingShellError(f"{name} is not on PATH: install it")
    path = Path(on_path).absolute()
    identity = path.resolve().name
    script = 'printf "%s" "is-a-shell ${BASH_VERSION:-}"; exit 7'
    completed = _run([on_path, "-c", script], environment)
    found = re.fullmatch(r"is-a-shell (?P<version>\d+(?:\.\d+)*)?.*", completed.stdout)
    if found is None or completed.returncode != 7:
        raise ShellError(
            f"{on_path} is not a POSIX shell: `-c '{script}'` exited {completed.returncode} "
            f"and printed {completed.stdout!r}"
        )
    return Shell(identity, found["version"] or _packaged_version(path), path, "PATH")


def _packaged_version(path: Path) -> str:
    """Ask the package database, since dash and most other small shells do not tell their version."""
    dpkg = shutil.which("dpkg-query")
    if dpkg is None:
        return "unknown"
    package = path.resolve().name
    completed = subprocess.run(
        [dpkg, "--show", "--showformat=${Version}", package],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    found = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", completed.stdout)
    return found[1] if completed.returncode == 0 and found else "unknown"


def _probe_pwsh(environment: Mapping[str, str]) -> Shell:
    chosen = os.environ.get("CONFORMANCE_PWSH")
    found = "CONFORMANCE_PWSH" if chosen else "PATH"
    program = shutil.which(chosen or "pwsh", path=environment.get("PATH"))
    if program is None and chosen:
        raise ShellError(f"CONFORMANCE_PWSH={chosen} is not a program that can be run: correct it or unset it")
    if program is None:
        raise MissingShellError(
            "pwsh is not on PATH: start through `python3 bootstrap.py`, which installs it, or set CONFORMANCE_PWSH"
        )
    path = program_behind_shim(Path(program).absolute())
    command = [
        str(path),
        "-NoLogo",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        "$PSVersionTable.PSVersion.ToString()",
    ]
    completed = _run(command, environment)
    version = completed.stdout.strip()
    if completed.returncode != 0 or not re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", version):
        raise ShellError(
            f"{found} gives {program}, which is not PowerShell: asked for its version it exited {completed.returncode} "
            f"and printed {completed.stdout[:80]!r} {completed.stderr[:200]!r}. Correct it or unset it."
        )
    return Shell("pwsh", version, path, found)


def program_behind_shim(program: Path) -> Path:
    """Return the real pwsh behind the shim that `dotnet tool install` writes; any other program as it is.

    The shim starts pwsh as a second process: it turns death by signal n into exit 128+n, and killing it leaves pwsh
    running.
    """
    platform = "win" if os.name == "nt" else "unix"
    for shim in (program, program.resolve()):
        real = sorted(shim.parent.glob(f".store/powershell/*/powershell/*/tools/*/any/{platform}/{shim.name}"))
        if real and os.access(real[-1], os.X_OK):
            return real[-1]
    return program


def dotnet_root() -> str | None:
    """Return the folder of the .NET runtime, which the real pwsh of a .NET tool does not find by itself."""
    if "DOTNET_ROOT" in os.environ:
        return os.environ["DOTNET_ROOT"]
    dotnet = shutil.which("dotnet")
    return str(Path(dotnet).resolve().parent) if dotnet else None


def _run(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except OSError as error:
        raise ShellError(f"{command[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ShellError(f"{command[0]} did not answer within {PROBE_SECONDS} seconds: is it a shell?") from error
