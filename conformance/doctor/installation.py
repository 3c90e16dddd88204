"""What runs here: conformance with its fixtures, Python with the dependencies, and the system below."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import conformance
from conformance.campaign import distribution
from conformance.catalog import Catalog
from conformance.doctor.commands import clone, reinstalling
from conformance.doctor.finding import Finding, State
from conformance.errors import ConformanceError
from conformance.paths import data_folder
from conformance.runners.local import local_os

DEPENDENCIES = ("click", "fastjsonschema", "jsonschema", "packaging", "platformdirs", "psutil", "rich", "tomlkit")
_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_VARIABLES = ("container", "KUBERNETES_SERVICE_HOST")
_WITHOUT_FIXTURES = "without whole fixtures and matrices there is nothing to run"


def suite_finding(catalog: Catalog) -> Finding:
    """Tell which conformance this is, and which fixtures it has."""
    place = data_folder("fixtures").parent
    origin = f"the clone {place}" if clone() else f"the installation {place}"
    found = f"conformance {conformance.__version__}, fixtures of {origin}, core suite {catalog.digest[:12]}"
    return Finding("install/suite", State.OK, found)


def broken_suite(error: ConformanceError | OSError) -> Finding:
    """Tell that the fixtures or matrices cannot be read."""
    missing = isinstance(error, FileNotFoundError)
    mend = reinstalling() if missing or clone() is None else "git diff -- fixtures matrices"
    found = f"conformance {conformance.__version__}: {error}"
    return Finding("install/suite", State.BROKEN, found, _WITHOUT_FIXTURES, mend)


def python_finding() -> Finding:
    """Tell which Python runs this, and the versions of the dependencies."""
    versions = ", ".join(f"{name} {_version(name)}" for name in DEPENDENCIES)
    return Finding("install/python", State.OK, f"Python {platform.python_version()} ({sys.executable}) with {versions}")


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # vendored, or put on the path by hand
        return "of unknown version"


def system_finding(environment: Mapping[str, str]) -> Finding:
    """Tell which system this is, and what of it may explain a result."""
    parts = [f"{distribution()} ({local_os()} {platform.release()}, {platform.machine().lower()})"]
    if sys.platform != "win32" and os.geteuid() == 0:
        parts.append("as root")
    if environment.get("CI", "").lower() not in ("", "0", "false"):
        parts.append("in CI")
    if any(Path(file).exists() for file in _CONTAINER_FILES) or any(map(environment.get, _CONTAINER_VARIABLES)):
        parts.append("in a container")
    return Finding("install/system", State.OK, ", ".join(parts))
