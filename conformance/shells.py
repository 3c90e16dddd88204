"""Find the shells of this machine and make sure that they are what they are called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import ShellError

SHELL_NAMES = frozenset({"bash", "cmd", "dash", "powershell", "pwsh", "sh"})
PROGRAM_NAMES = frozenset({"node", "python"})
"""The programs beside shells that adapters are written for."""
PROBE_SECONDS = 120
_WSL_FOLDERS = re.compile(r"(?i)\\(System32|SysWOW64|Sysnative|Microsoft\\WindowsApps)\\?$")
_PROGRAM_FOLDERS = ("PROGRAMFILES", "PROGRAMW6432", "PROGRAMFILES(X86)")


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


def find_program(name: str) -> Path:
    """Return the program called `name`: Node.js from PATH, or the Python that this code runs in.

    Raises MissingShellError where it is not there.
    """
    if name == "python":
        return Path(sys.executable)
    found = shutil.which(name)
    if found is None:
        raise MissingShellError(f"{name} is not on PATH: install Node.js 20 or newer")
    return Path(found).absolute()


def probe_shell(name: str, environment: Mapping[str, str]) -> Shell:
    """Return the shell called `name`, having run it once in `environment`.

    Raises MissingShellError where there is none, ShellError where the program found is not that shell.
    """
    if name == "pwsh":
        return _probe_pwsh(environment)
    if name == "powershell":
        return _probe_windows_powershell(environment)
    return _probe_cmd(environment) if name == "cmd" else _probe_posix(name, environment)


def _probe_posix(name: str, environment: Mapping[str, str]) -> Shell:
    on_path, found_by = _posix_shell(name, environment.get("PATH"))
    if on_path is None:
        raise MissingShellError(f"{name} is not on PATH: install it")
    path = Path(on_path).absolute()
    script = 'printf "%s" "is-a-shell ${BASH_VERSION:-}"; exit 7'
    completed = _run([on_path, "-c", script], environment)
    found = re.fullmatch(r"is-a-shell (?P<version>\d+(?:\.\d+)*)?.*", completed.stdout)
    if found is None or completed.returncode != 7:
        raise ShellError(
            f"{on_path} is not a POSIX shell: `-c '{script}'` exited {completed.returncode} "
            f"and printed {completed.stdout!r}"
        )
    return Shell(_identity(path, found["version"]), found["version"] or _packaged_version(path), path, found_by)


def _posix_shell(name: str, search_path: str | None) -> tuple[str | None, str]:
    """Return the program called `name`, and how it was found."""
    if sys.platform != "win32":
        return shutil.which(name, path=search_path), "PATH"
    on_path = shutil.which(name, path=path_without_wsl(search_path or ""))
    if on_path is not None:
        return on_path, "PATH"
    return shell_of_git(name, search_path), "Git for Windows"


def path_without_wsl(search_path: str) -> str:
    r"""Return `search_path` without the folders of Windows itself, whose bash.exe starts a Linux beside it.

    Source: https://learn.microsoft.com/windows/wsl/basic-commands
    """
    folders = search_path.split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not re.search(_WSL_FOLDERS, folder))


def shell_of_git(name: str, search_path: str | None) -> str | None:
    """Return the shell called `name` that came with Git for Windows."""
    roots = [Path(os.environ[variable]) / "Git" for variable in _PROGRAM_FOLDERS if variable in os.environ]
    git = shutil.which("git", path=search_path)
    if git is not None:
        completed = _run([git, "--exec-path"], os.environ)
        roots = [*Path(completed.stdout.strip()).parents, *roots]  # it lies in <root>/mingw64/libexec/git-core
    programs = (root / folder / f"{name}.exe" for root in roots for folder in ("bin", "usr/bin"))
    return next((str(program) for program in programs if program.is_file()), None)


def _identity(path: Path, bash_version: str | None) -> str:
    """Return what the shell at `path` is; the sh.exe of Git for Windows is a bash and no link to one."""
    if sys.platform == "win32" and bash_version:
        return "bash"
    return path.resolve().name.removesuffix(".exe")


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


def _probe_cmd(environment: Mapping[str, str]) -> Shell:
    path = environment.get("COMSPEC")
    if sys.platform != "win32" or path is None:
        raise MissingShellError("cmd is a shell of Windows alone: run its cases there")
    completed = _run([path, "/d", "/c", "ver & exit 7"], environment)
    version = re.search(r"\d+\.\d+\.\d+(\.\d+)?", completed.stdout)
    if version is None or completed.returncode != 7:
        raise ShellError(
            f"COMSPEC gives {path}, which is not cmd: `ver & exit 7` exited {completed.returncode} "
            f"and printed {completed.stdout[:80]!r}. Correct it."
        )
    return Shell("cmd", version[0], Path(path), "COMSPEC")


def _probe_windows_powershell(environment: Mapping[str, str]) -> Shell:
    program = shutil.which("powershell", path=environment.get("PATH"))
    if sys.platform != "win32" or program is None:
        raise MissingShellError("powershell (Windows PowerShell 5.1) is a shell of Windows alone: run its cases there")
    return Shell(
        "powershell", _powershell_version(program, f"PATH gives {program}", environment), Path(program), "PATH"
    )


def _probe_pwsh(environment: Mapping[str, str]) -> Shell:
    program, found = named_pwsh(environment)
    path = program_behind_shim(Path(program).absolute())
    return Shell("pwsh", _powershell_version(str(path), f"{found} gives {program}", environment), path, found)


def named_pwsh(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the program that is to be pwsh, which may be a shim, and how it was found.

    Raises MissingShellError where there is none, ShellError where CONFORMANCE_PWSH names none.
    """
    chosen = os.environ.get("CONFORMANCE_PWSH")
    found = "CONFORMANCE_PWSH" if chosen else "PATH"
    program = shutil.which(chosen or "pwsh", path=environment.get("PATH"))
    if program is None and chosen:
        raise ShellError(f"CONFORMANCE_PWSH={chosen} is not a program that can be run: correct it or unset it")
    if program is None:
        raise MissingShellError(
            "pwsh is not on PATH: start through `python3 bootstrap.py`, which installs it, or set CONFORMANCE_PWSH"
        )
    return program, found


def _powershell_version(program: str, named: str, environment: Mapping[str, str]) -> str:
    command = [
        program,
        "-NoLogo",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        "$PSVersionTable.PSVersion.ToString()",
    ]
    completed = _run(command, environment)
    version = completed.stdout.strip()
    if completed.returncode != 0 or not re.fullmatch(r"\d+\.\d+\.\d+(\.\d+)?(-[\w.]+)?", version):
        raise ShellError(
            f"{named}, which is not PowerShell: asked for its version it exited {completed.returncode} "
            f"and printed {completed.stdout[:80]!r} {completed.stderr[:200]!r}. Correct it or unset it."
        )
    return version


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


def shell_variables() -> dict[str, str]:
    """Return the variables that shells get on every system: their language, no telemetry, and the .NET runtime."""
    variables = {
        "LANG": "C.UTF-8",
        "POWERSHELL_TELEMETRY_OPTOUT": "1",
        "POWERSHELL_UPDATECHECK": "Off",
        "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    }
    root = dotnet_root()
    return {**variables, "DOTNET_ROOT": root} if root else variables


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
