"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from conformance.errors import ConformanceError, HarnessError, UsageError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def replacement(path: Path) -> Generator[Path, None, None]:
    """Make an empty file beside `path`, for this user alone, which stands in its place once the context ends well.

    Raises OSError where that is not possible.
    """
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-", suffix=".part")
    os.close(descriptor)
    try:
        yield Path(part)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path, option: str) -> Generator[IO[str], None, None]:
    """Open what becomes the text file `path` (UTF-8, LF) once all of it is written; until then that stays as it is.

    Raises UsageError, which names `option`, where it cannot be written, HarnessError where there is no room for it.
    """
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, or a pipe
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
        with replacement(path) as part:
            with part.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
            part.chmod(mode_of_new_files())
    except OSError as error:
        raise _unwritable(error, path, option) from error


def _unwritable(error: OSError, path: Path, option: str) -> ConformanceError:
    what = f"{option} {path}: cannot be written: {error.strerror}"
    if error.errno in _NO_ROOM:
        return HarnessError(f"{what}. Make room, or choose another place.")
    return UsageError(f"{what}. Choose another place.")


def mode_of_new_files() -> int:
    """Return the mode that a file gets which this process makes."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
