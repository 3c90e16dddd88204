"""Stand-in until the installation of systems lands."""

from __future__ import annotations

from pathlib import Path

from conformance.shells import MissingShellError


def system_names() -> tuple[str, ...]:
    return ("deepseek-harness", "launchers", "node-powershell")


def installed_folder(name: str) -> Path:
    raise MissingShellError(f"{name} is not installed: run `conformance systems install {name}`")
