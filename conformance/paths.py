"""Where the data files are: in the checkout, or beside the modules in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder called `name` (`fixtures` or `matrices`) that belongs to this code.

    Raises FileNotFoundError where the installation is broken.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the {name} folder is missing from this installation of conformance: reinstall it")
