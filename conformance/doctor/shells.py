"""The shells of this machine: which program each name leads to, what that really is, and how to get one that works."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from conformance.doctor.commands import installing, replacing_pwsh, setting
from conformance.doctor.finding import Finding, State
from conformance.errors import ShellError
from conformance.runners import Runner
from conformance.shells import MissingShellError, Shell, named_pwsh, program_behind_shim

EXAMINED = ("bash", "sh", "pwsh", "cmd", "powershell") if sys.platform == "win32" else ("bash", "sh", "dash", "pwsh")
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
        return Finding(id_, state, str(error), why, installing(name, environment.get("PATH")))
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


def _mending(name: str, error: str, environment: Mapping[str, str]) -> str:
    """Return the command that puts another program in the place of the one that gave `error`."""
    search_path = environment.get("PATH")
    if name == "pwsh":
        return _mending_pwsh(error, environment)
    others = programs_called(name, search_path)[1:]
    return f"export PATH={shlex.quote(str(others[0].parent))}:$PATH" if others else installing(name, search_path)


def _mending_pwsh(error: str, environment: Mapping[str, str]) -> str:
    search_path = environment.get("PATH")
    root = environment.get("DOTNET_ROOT")
    if "libicu" in error:
        return installing("libicu-dev" if shutil.which("apt-get") else "libicu", search_path)
    if "DOTNET_ROOT" in error or (root is not None and not Path(root).is_dir()):
        return f"{setting('DOTNET_ROOT', 'DIR')}, with DIR the folder of the dotnet program"
    on_path = programs_called("pwsh", search_path)
    others = on_path if environment.get("CONFORMANCE_PWSH") else on_path[1:]
    return setting("CONFORMANCE_PWSH", others[0]) if others else replacing_pwsh(search_path)


def programs_called(name: str, search_path: str | None) -> list[Path]:
    """Return every program called `name` on `search_path`, in its order, each once."""
    found: dict[Path, Path] = {}
    for folder in (search_path or os.defpath).split(os.pathsep):
        program = shutil.which(name, path=folder) if folder else None
        if program is not None:
            found.setdefault(Path(program).resolve(), Path(program))
    return list(found.values())
