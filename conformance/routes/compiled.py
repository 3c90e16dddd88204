"""Hosts of pwsh sessions: C# that ships as text, compiled once by the pwsh that loads it, and kept in the cache."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.cache import cache_folder
from conformance.errors import HarnessError
from conformance.paths import data_folder
from conformance.shells import Shell

COMPILE_SECONDS = 120
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
_QUIET = ("-NoLogo", "-NoProfile", "-NonInteractive")
_ANOTHER_CACHE = "set XDG_CACHE_HOME to a folder of your own"


def compiled_host(source: str, pwsh: Shell, environment: Mapping[str, str]) -> Path:
    """Return the assembly that `pwsh` makes of the C# text `source`; it is compiled, in `environment`, if it is new.

    What the cache holds is executed, so nobody but its user may be able to put something there.
    Raises HarnessError where others can, where the cache cannot be written, or where the text does not compile.
    """
    digest = hashlib.sha256(f"{pwsh.version}\n{source}".encode()).hexdigest()
    try:
        cache = cache_folder()
        folder = cache / "pwsh-hosts"
        host = folder / f"{pwsh.version}-{digest[:32]}.dll"
        if not host.is_symlink() and not host.exists():
            _make_folders(cache, folder)
            _compile(source, pwsh, environment, host)
        for path in (cache, folder, host):
            _refuse_what_others_can_change(path)
    except RuntimeError as error:
        raise HarnessError(f"there is no place for compiled hosts of pwsh sessions: {error}. Set HOME.") from error
    except OSError as error:
        where = error.filename or "the cache"
        raise HarnessError(
            f"the compiled host of pwsh sessions cannot be kept: {where}: {error.strerror}. "
            f"Make the folder writable, or {_ANOTHER_CACHE}."
        ) from error
    return host


def _make_folders(cache: Path, folder: Path) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    for path in (cache, folder):
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        _refuse_what_others_can_change(path)


def _refuse_what_others_can_change(path: Path) -> None:
    if sys.platform == "win32":
        return  # a user's folders are closed to others there, by their access control lists
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise HarnessError(f"{path} is a link, expected a file or folder of its own: remove it, or {_ANOTHER_CACHE}")
    if status.st_uid != os.geteuid():
        raise HarnessError(
            f"{path} belongs to user id {status.st_uid}, expected your own ({os.geteuid()}): {_ANOTHER_CACHE}"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise HarnessError(f"{path} can be written by other users: run chmod go-w on it, or {_ANOTHER_CACHE}")


def _compile(source: str, pwsh: Shell, environment: Mapping[str, str], host: Path) -> None:
    """Compile beside `host` and rename: what has its name is whole, however many compile at once."""
    with tempfile.TemporaryDirectory(prefix="part-", dir=host.parent) as part:
        text, assembly = Path(part, "host.cs"), Path(part, "host.dll")
        text.write_text(source, encoding="utf-8")
        script = data_folder("matrices") / "pwsh-session-compile.ps1"
        complaint = _complaint([pwsh.path, *_QUIET, "-File", script, text, assembly], environment)
        if complaint is None and not assembly.is_file():
            complaint = "it made no file"
        if complaint is not None:
            raise HarnessError(
                f"the host of pwsh sessions does not compile with {pwsh.path} {pwsh.version}: {complaint}. "
                f"Leave its routes out, or use another pwsh (CONFORMANCE_PWSH)."
            )
        assembly.chmod(PRIVATE_FILE)  # pwsh leaves the mode to the umask
        assembly.replace(host)


def _complaint(command: Sequence[str | Path], environment: Mapping[str, str]) -> str | None:
    """Run the compiler and return the first line of what it complains of, or None."""
    try:
        completed = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMPILE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {COMPILE_SECONDS} seconds"
    except OSError as error:
        return f"it cannot be started: {error.strerror}"
    if completed.returncode == 0:
        return None
    lines = (completed.stderr + completed.stdout).strip().splitlines()
    return lines[0].strip() if lines else f"it exited {completed.returncode} without a word"
