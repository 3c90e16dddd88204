"""The folders that a run writes into: the temporary one, where hooks run, and the cache, where reports are kept."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.doctor.commands import setting
from conformance.doctor.finding import Finding, State

ENOUGH_BYTES = 64 << 20
OTHER_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
TEMPORARY, CACHE = "folder/temporary", "folder/cache"
_NO_SCRIPTS = "hooks start native programs from there, which are scripts, and none of them would start"
_NO_ROOM = "the folders of the cases, and what a killed pwsh leaves in them, find no room"
_NOT_REMEMBERED = "runs are not remembered, so the next one cannot say what changed, and bootstrap.py has no place"
_OTHERS_CODE = (
    "the PowerShell and the environment that are started from there may be anybody's; bootstrap.py refuses it"
)


@dataclass(frozen=True, slots=True)
class Volume:
    """What matters of the file system below a folder."""

    writable: bool
    executes: bool
    """Whether programs may be started from it: not where it is mounted with noexec."""
    free_bytes: int


def volume_of(folder: Path) -> Volume:
    """Look at the file system below `folder`; raises OSError where there is none."""
    executes = True
    if sys.platform != "win32":
        executes = not os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0)  # which macOS does not tell
    return Volume(_is_writable(folder), executes, shutil.disk_usage(folder).free)


def _is_writable(folder: Path) -> bool:
    """Try it: for root, and on Windows, the mode of a folder does not tell."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def temporary_finding(folder: Path, asked: str | None, volume: Volume, others: Sequence[Path]) -> Finding:
    """Judge `folder`, which the cases get; the user `asked` for one, and `others` would serve as well."""
    elsewhere = setting("TMPDIR", others[0]) if others else ""
    if not volume.writable:
        return Finding(TEMPORARY, State.BROKEN, f"{folder} cannot be written", _NO_ROOM, elsewhere or _MAKE_ROOM)
    if not volume.executes:
        mend = elsewhere or f"mount -o remount,exec {folder}  # as root"
        return Finding(TEMPORARY, State.BROKEN, f"{folder} is mounted with noexec", _NO_SCRIPTS, mend)
    free = f"{volume.free_bytes >> 20} MiB free"
    if volume.free_bytes < ENOUGH_BYTES:
        found = f"{folder} has only {free}"
        return Finding(TEMPORARY, State.WARNING, found, _NO_ROOM, elsewhere or _MAKE_ROOM)
    if asked and not _is_writable(Path(asked)):
        found = f"TMPDIR={asked} cannot be written, so {folder} is used"
        return Finding(TEMPORARY, State.WARNING, found, _NOT_ASKED_FOR, setting("TMPDIR", folder))
    return Finding(TEMPORARY, State.OK, f"{folder}, writable, runs programs, {free}")


_NOT_ASKED_FOR = "hooks run on another file system than was asked for"
_MAKE_ROOM = f"make room there, or set TMPDIR to a writable folder with {ENOUGH_BYTES >> 20} MiB"


def no_temporary_folder(error: Exception) -> Finding:
    """Tell that the system has no temporary folder at all."""
    return Finding(TEMPORARY, State.BROKEN, f"there is none: {error}", _NO_ROOM, _MAKE_ROOM)


def usable_temporary_folders(beside: Path) -> list[Path]:
    """Return the folders other than `beside` that the cases could get instead."""
    found = []
    for folder in map(Path, OTHER_TEMPORARY_FOLDERS):
        with suppress(OSError):
            volume = volume_of(folder)
            if folder != beside and volume.writable and volume.executes and volume.free_bytes >= ENOUGH_BYTES:
                found.append(folder)
    return found


def cache_finding(cache: Path, user: int | None) -> Finding:
    """Judge the folder `cache`, which need not exist, for the user with the id `user` (None on Windows)."""
    above = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if not above.is_dir() or not _is_writable(above):
        return Finding(CACHE, State.WARNING, f"{cache} cannot be written", _NOT_REMEMBERED, _A_CACHE_OF_YOURS)
    if above == cache and user is not None:
        status = cache.stat()
        if status.st_uid != user:
            found = f"{cache} belongs to user id {status.st_uid}, and you are {user}"
            return Finding(CACHE, State.BROKEN, found, _OTHERS_CODE, _A_CACHE_OF_YOURS)
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            mend = f"chmod 700 {shlex.quote(str(cache))}"
            return Finding(CACHE, State.BROKEN, f"{cache} can be written by other users", _OTHERS_CODE, mend)
    return Finding(CACHE, State.OK, f"{cache}, {'writable' if above == cache else 'not made yet'}")


_A_CACHE_OF_YOURS = f"{setting('XDG_CACHE_HOME', 'DIR')}, with DIR a folder of your own"


def no_cache(error: Exception) -> Finding:
    """Tell that this user has no place for a cache."""
    found = f"there is none: {error}"
    return Finding(CACHE, State.WARNING, found, _NOT_REMEMBERED, _A_CACHE_OF_YOURS)
