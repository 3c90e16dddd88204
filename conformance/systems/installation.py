"""Install a system: have npm fetch what its lockfile pins, into a folder that gets its name when it is whole."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from conformance.cache import PRIVATE_FOLDER, make_code_folder
from conformance.errors import HarnessError
from conformance.systems import DESCRIPTION_FILES, InstallableSystem
from conformance.systems.installed import installed_folder, place_of

NPM_OPTIONS = (
    # No package runs code of its own here, and no setting of the user's leaves one out or hides what goes wrong.
    "--ignore-scripts", "--include=optional", "--include=peer", "--package-lock", "--no-global", "--loglevel=warn",
    # What npm has fetched before serves as well, since all is checked against the lockfile.
    "--engine-strict", "--prefer-offline", "--no-audit", "--no-fund",
    # Who is offline is told within seconds, not minutes.
    "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000",
)  # fmt: skip
PART = "part-"
ABANDONED_SECONDS = 24 * 3600

_NODE = "Install Node.js 20 or newer (https://nodejs.org), which brings npm."
_REGISTRY = "the registry that npm is configured for (`npm config get registry`)"
_UNREACHABLE = f"{_REGISTRY} does not answer. Mend the network or npm's settings"
_INCOMPLETE = f"{_REGISTRY} does not have all of it. Have npm ask another, such as https://registry.npmjs.org/"
_FULL = "there is no room for it. Make room, or set XDG_CACHE_HOME to a folder on another disk"
_WAYS_OUT = {
    **dict.fromkeys(
        ("EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "EIDLETIMEOUT", "ENETUNREACH", "ENOTCACHED",
         "ENOTFOUND", "ERR_SOCKET_TIMEOUT", "ETIMEDOUT"), _UNREACHABLE),
    **dict.fromkeys(("E401", "E403"), f"{_REGISTRY} refuses to serve it. Log in there, or have npm ask another"),
    **dict.fromkeys(("E404", "ETARGET"), _INCOMPLETE),
    **dict.fromkeys(("ENOSPC", "EDQUOT"), _FULL),
    "EINTEGRITY": f"{_REGISTRY} served something else than what is pinned, which was thrown away. Have npm ask another",
    "EBADENGINE": "this Node.js or npm is not one that it runs on. Install Node.js 20 or newer (https://nodejs.org)",
}  # fmt: skip
"""What npm's error codes mean, and what to do."""
_UNPACKED_IN_PART = r"(?:WARN|warn) tar TAR_ENTRY_ERROR"
"""What npm says of a file that it could not write, before it exits 0 all the same."""
_CODE = re.compile(rf"^npm (?:(?:ERR!|error) code|{_UNPACKED_IN_PART}) (\w+)", re.MULTILINE)
_SAID = re.compile(
    rf"^npm (?:ERR!|error|{_UNPACKED_IN_PART}) (?!code |syscall |errno |path |A complete log)(.*\S)$", re.MULTILINE
)
_VERSIONS = re.compile(r"^npm (?:ERR!|error) notsup ((?:Required|Actual):.*)$", re.MULTILINE)


def install(system: InstallableSystem) -> Path:
    """Install `system` unless it is, and return its folder. What has its name is whole, however many install at once.

    Raises HarnessError, with what to do, where that fails.
    """
    with place_of(system.name) as place:
        if not place.is_dir():
            make_code_folder(place.parent)
            _sweep(place.parent)
            with tempfile.TemporaryDirectory(prefix=PART, dir=place.parent) as part:
                _fill(system, Path(part, "whole"), place)
    return installed_folder(system.name)


def _sweep(systems: Path) -> None:
    """Remove what an installation that was killed has left."""
    for part in systems.glob(f"{PART}*"):
        with suppress(FileNotFoundError):
            if time.time() - part.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(part, ignore_errors=True)


def _fill(system: InstallableSystem, whole: Path, place: Path) -> None:
    whole.mkdir(mode=PRIVATE_FOLDER)
    for file in DESCRIPTION_FILES:
        (whole / file).write_bytes((system.folder / file).read_bytes())
    complaint = _complaint(whole)
    if complaint is not None:
        raise HarnessError(f"{system.name} cannot be installed: {complaint}.")
    try:
        whole.rename(place)
    except OSError:
        if not place.is_dir():  # another installation was faster
            raise


def _complaint(folder: Path) -> str | None:
    """Run npm in `folder` and return what went wrong and what to do, or None."""
    npm = shutil.which("npm")
    if npm is None:
        return f"npm is not on PATH. {_NODE.rstrip('.')}"
    try:
        completed = subprocess.run(
            [npm, "ci", *NPM_OPTIONS],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        return f"npm ({npm}) cannot be started: {error.strerror}. {_NODE.rstrip('.')}"
    if completed.returncode or re.search(_UNPACKED_IN_PART, completed.stderr):
        return _translated(completed.stderr) or _in_its_own_words(npm, completed)
    return None if (folder / "node_modules").is_dir() else f"npm ({npm}) installed nothing. Try another npm"


def _translated(stderr: str) -> str | None:
    code = _CODE.search(stderr)
    if code is None or code[1] not in _WAYS_OUT:
        return None
    said = "; ".join(_VERSIONS.findall(stderr)[:2]) or _first(_SAID.findall(stderr))
    return f"{_WAYS_OUT[code[1]]} (npm said: {said or code[1]})"


def _in_its_own_words(npm: str, completed: subprocess.CompletedProcess[str]) -> str:
    said = _first(_SAID.findall(completed.stderr) or completed.stderr.strip().splitlines())
    return f"npm ({npm}) exited {completed.returncode}: {said or 'no word'}. Mend that, and run the same command again"


def _first(lines: Sequence[str]) -> str:
    return lines[0].strip().rstrip(".") if lines else ""
