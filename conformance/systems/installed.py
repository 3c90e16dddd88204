"""Where systems are installed. Whoever reads the catalogue need not load this, since it finds the cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.cache import check_code, code_folder
from conformance.systems import MissingSystemError, folder_name


@contextmanager
def place_of(name: str) -> Iterator[Path]:
    """Give the folder of the system `name`, which exists where that is installed; raises HarnessError as told there."""
    with code_folder("systems", f"the packages of {name}") as folder:
        yield folder / folder_name(name)


def installed_folder(name: str) -> Path:
    """Return the folder that holds the `node_modules` of the system `name`.

    Raises MissingSystemError where it is not installed, HarnessError where others can change what is.
    """
    with place_of(name) as place:
        if not place.is_dir():
            raise MissingSystemError(f"{name} is not installed: run `conformance systems install {name}`")
        check_code(place)
    return place


def is_installed(name: str) -> bool:
    """Tell whether the system `name` is installed; raises HarnessError where others can change what is."""
    try:
        installed_folder(name)
    except MissingSystemError:
        return False
    return True
