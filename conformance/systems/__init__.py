"""The systems that can be installed to be put under test: which npm packages each is, in which versions.

A system is a folder of `adapters/npm`. Its package.json names the packages, and says what the system is; its
package-lock.json, made by `npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved`, pins
these and all that they need by digest, and holds no addresses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from conformance.errors import ShellError, UsageError
from conformance.paths import data_folder

DESCRIPTION_FILES = ("package.json", "package-lock.json")


class MissingSystemError(ShellError):
    """The system is not installed, so that its cases are unavailable."""


@dataclass(frozen=True, slots=True)
class InstallableSystem:
    """A system as its folder describes it."""

    name: str
    summary: str
    homepage: str
    packages: Mapping[str, str]
    """The versions of the packages that its adapter imports."""
    folder: Path


def system_names() -> tuple[str, ...]:
    """Return the names of the systems that can be installed."""
    return tuple(sorted(path.name for path in _descriptions().iterdir() if path.is_dir()))


def find_system(name: str) -> InstallableSystem:
    """Return the system called `name`; raises UsageError where there is none."""
    names = system_names()
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"unknown system {name!r}: {hint}The systems are {', '.join(names)}.")
    folder = _descriptions() / name
    description = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    return InstallableSystem(
        name, description["description"], description["homepage"], description["dependencies"], folder
    )


def folder_name(name: str) -> str:
    """Return what the folder of the installed system `name` is called: another one for other packages."""
    digest = hashlib.sha256()
    for file in DESCRIPTION_FILES:
        content = (_descriptions() / name / file).read_bytes()
        digest.update(hashlib.sha256(content).digest())
    return f"{name}-{digest.hexdigest()[:16]}"


def _descriptions() -> Path:
    return data_folder("adapters") / "npm"
