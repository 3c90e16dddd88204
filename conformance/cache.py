"""Where the cache is, and how code is kept in it. Apart from `paths`, since platformdirs takes a while to load."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from conformance.errors import HarnessError

PRIVATE_FOLDER = 0o700
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ANOTHER_CACHE = "set XDG_CACHE_HOME to a folder of your own"


def cache_folder() -> Path:
    """Return this user's cache, which need not exist.

    Raises RuntimeError where this user has no home.
    """
    Path.home()
    return platformdirs.user_cache_path("shell-exit-conformance", appauthor=False)


@contextmanager
def code_folder(name: str, what: str) -> Iterator[Path]:
    """Give the folder `name` of the cache, which need not exist, for code; messages call that code `what`.

    Raises HarnessError where this user has no home, and for what the system refuses to do there.
    """
    try:
        folder = cache_folder() / name
    except RuntimeError as error:
        raise HarnessError(f"there is no place for {what}: {error}. Set HOME.") from error
    try:
        yield folder
    except OSError as error:
        where = error.filename or "the cache"
        way_out = "Make room there" if error.errno in _FULL else "Make the folder writable"
        raise HarnessError(
            f"{what} cannot be kept: {where}: {error.strerror}. {way_out}, or {_ANOTHER_CACHE}."
        ) from error


def make_code_folder(folder: Path) -> None:
    """Make `folder`, which `code_folder` gave, where nobody but this user can change what it holds."""
    cache = folder.parent
    cache.parent.mkdir(parents=True, exist_ok=True)
    for path in (cache, folder):
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        _refuse_what_others_can_change(path)


def check_code(path: Path) -> None:
    """Raise HarnessError where somebody else can change the code at `path`, in a folder that `code_folder` gave.

    What the cache holds is executed, so nobody but its user may be able to put something there.
    """
    for part in (path.parents[1], path.parent, path):
        _refuse_what_others_can_change(part)


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
