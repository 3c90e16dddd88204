"""The shells of this machine: which program each name leads to, what that really is, and how to get one that works."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from conformance.doctor.finding import Finding, State
from conformance.doctor.installation import bootstrap_command
from conformance.errors import ShellError
from conformance.runners import Runner
from conformance.shells import MissingShellError, Shell, dotnet_root, named_pwsh, program_behind_shim

EXAMINED = ("bash", "sh", "pwsh", "cmd", "powershell") if sys.platform == "win32" else ("bash", "sh", "dash", "pwsh")
INSTALLERS = {
    "apt-get": "apt-get install {}",
    "dnf": "dnf install {}",
    "apk": "apk add {}",
    "pacman": "pacman -S {}",
    "zypper": "zypper install {}",
    "brew": "brew install {}",
}
TOOL = "dotnet tool install PowerShell --version 7.6.9 --tool-path"
TOOL_FOLDER = Path(".local", "share", "powershell")
MANUAL = "https://learn.microsoft.com/powershell/scripting/install/installing-powershell"
OF_WINDOWS = {
    "bash": "winget install Git.Git",
    "sh": "winget install Git.Git",
    "cmd": r"set COMSPEC=%SystemRoot%\System32\cmd.exe",
    "powershell": r"set PATH=%PATH%;%SystemRoot%\System32\WindowsPowerShell\v1.0",
}
_REQUIRED = "the core matrix requires it, so a run without it ends with 3"
_NO_CASES = "cases that need it are unavailable"
_BROKEN = "every case that starts it is an error of the machine, and says nothing of a route"


def shell_finding(name: str, runner: Runner, required: Collection[str], environment: Mapping[str, str]) -> Finding:
    """Look for the shell called `name`, in the caller's `environment`."""
    id_ = f"shell/{name}"
    try:
        shell = runner.shell(name)
    except MissingShellError as error:
        state, why = (State.BROKEN, _REQUIRED) if name in required else (State.WARNING, _NO_CASES)
        return Finding(id_, state, str(error), why, _installing(name, environment))
    except ShellError as error:
        return Finding(id_, State.BROKEN, str(error), _BROKEN, _mending(name, str(error), environment))
    identity = shell.name if shell.name == name else f"{name} is {shell.name}"
    need = ", required by the core matrix" if name in required else ""
    found = f"{identity} {shell.version}, {shell.path}, from {shell.found}{_behind_shim(shell, environment)}{need}"
    return Finding(id_, State.OK, found)


def _behind_shim(shell: Shell, environment: Mapping[str, str]) -> str:
    if shell.name != "pwsh":
        return ""
    named = Path(named_pwsh(environment)[0]).absolute()
    return "" if program_behind_shim(named) == named else f" (the real program behind the .NET tool shim {named})"


def _installing(name: str, environment: Mapping[str, str]) -> str:
    """Return the command that installs the shell called `name`."""
    search_path = environment.get("PATH")
    if name == "pwsh":
        return bootstrap_command("run") or _installing_pwsh(search_path)
    if sys.platform == "win32":
        return OF_WINDOWS[name]
    # What it is installed by may lie outside of a PATH that lacks a shell.
    folders = os.pathsep.join(filter(None, [search_path, "/usr/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"]))
    package = "dash" if name == "sh" else name
    installers = (text for program, text in INSTALLERS.items() if shutil.which(program, path=folders))
    return next(installers, "install the package {}").format(package)


def _installing_pwsh(search_path: str | None) -> str:
    if sys.platform == "win32":
        return "winget install Microsoft.PowerShell"
    if shutil.which("dotnet", path=search_path):
        folder = f"~/{TOOL_FOLDER}"
        return f"{TOOL} {folder} && export CONFORMANCE_PWSH={folder}/pwsh"
    return f"install PowerShell ({MANUAL}), then export CONFORMANCE_PWSH=/path/to/pwsh"


def _mending(name: str, error: str, environment: Mapping[str, str]) -> str:
    """Return the command that puts another program in the place of the one that gave `error`."""
    if name == "pwsh":
        return _mending_pwsh(error, environment)
    others = programs_called(name, environment.get("PATH"))[1:]
    if others:
        return f"export PATH={shlex.quote(str(others[0].parent))}:$PATH"
    return _installing(name, environment)


def _mending_pwsh(error: str, environment: Mapping[str, str]) -> str:
    chosen = environment.get("CONFORMANCE_PWSH")
    if "libicu" in error:
        return "apt-get install libicu-dev" if shutil.which("apt-get") else "install the package libicu"
    root = dotnet_root()
    if "DOTNET_ROOT" in error or (root is not None and not Path(root).is_dir()):
        return "export DOTNET_ROOT=DIR, with DIR the folder of the .NET runtime that `dotnet --list-runtimes` names"
    on_path = programs_called("pwsh", environment.get("PATH"))
    others = on_path if chosen else on_path[1:]
    if others:
        return f"export CONFORMANCE_PWSH={shlex.quote(str(others[0]))}"
    if chosen:
        return "; ".join(filter(None, ["unset CONFORMANCE_PWSH", bootstrap_command("run")]))
    return f"export CONFORMANCE_PWSH=/path/to/pwsh, after: {_installing('pwsh', environment)}"


def programs_called(name: str, search_path: str | None) -> list[Path]:
    """Return every program called `name` on `search_path`, in its order, each once."""
    found: dict[Path, Path] = {}
    for folder in (search_path or os.defpath).split(os.pathsep):
        program = shutil.which(name, path=folder) if folder else None
        if program is not None:
            found.setdefault(Path(program).resolve(), Path(program))
    return list(found.values())
