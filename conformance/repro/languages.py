"""The languages in which a script can be had."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.contract import Terms
from conformance.model import Case, EnvironmentKey
from conformance.repro import Recipe, recipe_of
from conformance.repro.bash import bash_script
from conformance.repro.powershell import ScriptNatives, powershell_script
from conformance.runners.local_posix import ProgramsInFolder
from conformance.runners.natives import Natives

_WRITERS: Mapping[str, tuple[Callable[[Recipe], str], Callable[[str], Natives]]] = {
    "bash": (bash_script, ProgramsInFolder),
    "powershell": (powershell_script, ScriptNatives),
}
LANGUAGES = tuple(_WRITERS)


def script_of(case: Case, terms: Terms, key: EnvironmentKey, time_scale: float, language: str) -> str:
    """Return a script that shows `case`, which is judged by `terms` in the environment `key`, without this project.

    Raises UsageError where no script can show the case.
    """
    write, natives = _WRITERS[language]
    return write(recipe_of(case, terms, key, time_scale, natives))


def language_on(os: str) -> str:
    """Return the language of the shell that every machine with that operating system has."""
    return "powershell" if os == "windows" else "bash"
