"""What the local runner does in its own way on Windows."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance import witness
from conformance.errors import HarnessError, InexpressibleError
from conformance.process.kernel32 import load_kernel32
from conformance.runners.natives import rendered_body
from conformance.shells import shell_variables

TEMPORARY_VARIABLES = ("TEMP", "TMP")
NO_SESSIONS = (
    "a session swaps the POSIX descriptors 0, 1 and 2 for each body, and what stands for that on Windows has not been "
    "seen to work yet"
)
PATH_CHARACTERS = 32_767

OF_THE_MACHINE = (
    "PATH", "PATHEXT", "COMSPEC", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE", "ALLUSERSPROFILE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
    "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
)  # fmt: skip
"""What programs of Windows do not start without, or find their own parts by; none of it tells of the user."""
_NEEDS_NO_QUOTES = re.compile(r"[\w./\\:~-]+", re.ASCII)
_SLASHES = r"[\\/]+"
_SIGNAL_VERBS = re.compile(r"\{\{witness\}\}[^\n|;&]*\b(signal|ignore)\b")


def child_environment(home: Path, temporary: Path) -> dict[str, str]:
    """Return the environment of every child: small, and the same on every machine but for PATH and folders.

    `TERM` and `NO_COLOR` are left out on purpose: set, they hide losses (escape sequences around a hook's JSON).
    """
    return {
        **{name: os.environ[name] for name in OF_THE_MACHINE if name in os.environ},
        "HOME": str(home),
        "USERPROFILE": str(home),
        "APPDATA": str(home / "AppData" / "Roaming"),
        "LOCALAPPDATA": str(home / "AppData" / "Local"),
        **dict.fromkeys(TEMPORARY_VARIABLES, str(temporary)),
        **shell_variables(),
    }


def make_home(home: Path) -> None:
    """Make the home folder of hooks, with the folders in it that Windows has in every profile."""
    for name in ("Roaming", "Local"):
        (home / "AppData" / name).mkdir(parents=True)


def plain_temporary_folder() -> str:
    """Return a folder whose name needs no quotes in any shell, so that `{{native:7}}` may stand inside any.

    Raises HarnessError where there is none.
    """
    advice = "set TEMP to a folder whose path has only letters, digits, - and ., such as C:\\Temp"
    return plain_path(Path(tempfile.gettempdir()), advice)


def plain_path(path: Path, advice: str, shorten: Callable[[str], str] | None = None) -> str:
    """Return a name of `path` that needs no quotes in any shell: itself, or the short one that Windows keeps of it.

    Raises HarnessError, with `advice`, where it has none.
    """
    text = str(path)
    if not _NEEDS_NO_QUOTES.fullmatch(text):
        text = (shorten or short_path)(text)
    if not _NEEDS_NO_QUOTES.fullmatch(text):
        raise HarnessError(f"the path of {path.name!r} cannot stand in the text of a hook without quotes: {advice}.")
    return text


def short_path(path: str) -> str:
    """Return the name in 8.3 form that Windows may keep of `path`; `path` itself where it keeps none."""
    buffer = ctypes.create_unicode_buffer(PATH_CHARACTERS)
    length = load_kernel32().GetShortPathNameW(path, buffer, PATH_CHARACTERS)
    return buffer.value if 0 < length < PATH_CHARACTERS else path


def wired(argv: tuple[str, ...], wiring: Mapping[str, str]) -> tuple[str, ...]:
    """Raise InexpressibleError: Windows has no file that is always full, and starts no program without its streams."""
    raise InexpressibleError(f"Windows cannot start {argv[0]} with {' and '.join(wiring)} closed or full")


class Natives:
    """The witness, run by the base Python: that of a virtual environment would start it as a second process.

    Source: https://docs.python.org/3/library/venv.html
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is the place's, which needs nothing of this."""
        python = plain_path(
            Path(getattr(sys, "_base_executable", sys.executable)), "install Python in a folder such as C:\\Python313"
        )
        program = plain_path(Path(witness.__file__).resolve(), "put conformance into a folder such as C:\\conformance")
        self._program = f"{python} -I -S {program}".replace("\\", "/")

    def body(self, text: str, dialect: str, record: Path) -> str:
        """Return the body `text` with its templates rendered.

        Raises InexpressibleError for a body that asks for a signal.
        """
        if _SIGNAL_VERBS.search(text):
            raise InexpressibleError("Windows has no signals, so no program can be ended by one there, or ignore it")
        return rendered_body(text, dialect, self, record)

    def native(self, code: str, record: str) -> str:
        """Return the command that exits with `code`."""
        return f"{self._program} {record} exit {code}"

    def witness(self, record: str) -> str:
        """Return the command that starts the witness."""
        return f"{self._program} {record}"


def home_pattern() -> str:
    """Return a regular expression for the user's home folder where it stands in a text."""
    home = str(Path.home())
    return "|".join(path_pattern(name) for name in dict.fromkeys((home, short_path(home))))


def path_pattern(path: str) -> str:
    r"""Return a regular expression for `path` in any of its spellings.

    These are: any case; slashes of either kind, doubled ones inside a quoted text; and `/c/Users` for `C:\Users`, as
    the programs of Git for Windows write it.
    """
    drive, *names = (re.escape(name) for name in re.split(_SLASHES, path))
    if drive.endswith(":"):
        drive = f"(?:{drive}|/{drive[:-1]})"
    return rf"(?i:{_SLASHES.join([drive, *names])}(?![\w~-]|\.\w))"
