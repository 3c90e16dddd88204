"""The commands that mend a machine, as its own shell takes them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from conformance.paths import data_folder

DISTRIBUTION = "shell-exit-conformance"
PWSH_OF_SDK, PWSH_OF_ARCHIVE = "7.6.9", "7.6.3"
"""The versions that bootstrap.py installs, with and without the .NET SDK."""
TOOL_FOLDER = "~/.local/share/powershell"
MANUAL = "https://learn.microsoft.com/powershell/scripting/install/installing-powershell"
INSTALLERS = {
    "apt-get": "apt-get install {}",
    "dnf": "dnf install {}",
    "apk": "apk add {}",
    "pacman": "pacman -S {}",
    "zypper": "zypper install {}",
    "brew": "brew install {}",
}
INSTALLERS_FOLDERS = ("/usr/bin", "/usr/sbin", "/sbin", "/bin", "/opt/homebrew/bin", "/usr/local/bin")
"""Where these lie, since a PATH that lacks a shell may lack them as well."""
OF_WINDOWS = {
    "bash": "winget install Git.Git",
    "sh": "winget install Git.Git",
    "pwsh": "winget install Microsoft.PowerShell",
    "cmd": r"set COMSPEC=%SystemRoot%\System32\cmd.exe",
    "powershell": r"set PATH=%PATH%;%SystemRoot%\System32\WindowsPowerShell\v1.0",
}


def setting(variable: str, value: str | Path) -> str:
    """Return the command that sets an environment variable."""
    return f"set {variable}={value}" if sys.platform == "win32" else f"export {variable}={shlex.quote(str(value))}"


def clone() -> Path | None:
    """Return the folder of the clone that this code runs from; None for an installed package."""
    with suppress(FileNotFoundError):
        folder = data_folder("fixtures").parent
        return folder if (folder / "bootstrap.py").is_file() else None
    return None


def bootstrap(words: str) -> str | None:
    """Return the command that starts the clone's bootstrap.py with `words`; None for an installed package."""
    folder = clone()
    if folder is None:
        return None
    with suppress(OSError):  # the working directory was removed
        if Path.cwd() == folder:
            return f"python3 bootstrap.py {words}"
    return f"python3 {shlex.quote(str(folder / 'bootstrap.py'))} {words}"


def reinstalling() -> str:
    """Return the command that installs this distribution anew."""
    return f"{sys.executable} -m pip install --force-reinstall {DISTRIBUTION}"


def installing(shell: str, search_path: str | None) -> str:
    """Return the command that installs `shell` where there is none."""
    if shell == "pwsh":
        return bootstrap("run") or _installing_pwsh(search_path)
    if sys.platform == "win32":
        return OF_WINDOWS[shell]
    folders = os.pathsep.join([*filter(None, [search_path]), *INSTALLERS_FOLDERS])
    texts = (text for program, text in INSTALLERS.items() if shutil.which(program, path=folders))
    return next(texts, "install the package {}").format("dash" if shell == "sh" else shell)


def replacing_pwsh(search_path: str | None) -> str:
    """Return the command that gets a pwsh in the place of one that does not work."""
    version = PWSH_OF_SDK if shutil.which("dotnet", path=search_path) else PWSH_OF_ARCHIVE
    return bootstrap(f"--pwsh {version} run") or _installing_pwsh(search_path)


def _installing_pwsh(search_path: str | None) -> str:
    if sys.platform == "win32":
        return OF_WINDOWS["pwsh"]
    if shutil.which("dotnet", path=search_path):
        tool = f"dotnet tool install PowerShell --version {PWSH_OF_SDK} --tool-path {TOOL_FOLDER}"
        return f"{tool} && export CONFORMANCE_PWSH={TOOL_FOLDER}/pwsh"
    return f"install PowerShell ({MANUAL}), then export CONFORMANCE_PWSH=/path/to/pwsh"
