"""Where the data files are: in the checkout, or beside the modules in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_SCHEMA = ".schema.json"


def data_folder(name: str) -> Path:
    """Return the folder called `name` (`adapters`, `fixtures`, `matrices` or `schemas`) that belongs to this code.

    Raises FileNotFoundError where the installation is broken.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the {name} folder is missing from this installation of conformance: reinstall it")


def schema_names() -> tuple[str, ...]:
    """Return the names of the JSON Schemas that are shipped."""
    return tuple(path.name.removesuffix(_SCHEMA) for path in sorted(data_folder("schemas").glob(f"*{_SCHEMA}")))


def schema_file(name: str) -> Path:
    """Return the file of the JSON Schema called `name`."""
    return data_folder("schemas") / f"{name}{_SCHEMA}"
