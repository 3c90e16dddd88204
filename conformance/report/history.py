"""The last reports of this user, kept in the cache by suite, environment and selection: the next run is compared."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from conformance.catalog import Catalog, matrix_names
from conformance.errors import UsageError
from conformance.report.codec import FORMAT
from conformance.report.reader import read_report

KEPT_SELECTIONS = 10
"""How many selections of one suite in one environment are remembered."""

KEPT_SUITES = 50

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Earlier:
    """What the runs before this one found."""

    finished_at: str
    """When the newest of them ended (ISO 8601, UTC)."""
    suite: str
    """The digest of the suite that the newest one ran."""
    lines: Mapping[tuple[str, str], Line]
    """The newest result of each case id in each environment."""


class History:
    """The kept reports of one suite in one environment: one for each selection, the last that ran to its end."""

    def __init__(self, folder: Path) -> None:
        """Keep the reports in `folder`, which need not exist; it lies in `reports` in the cache."""
        self._folder = folder

    def earlier(self) -> Earlier | None:
        """Return what earlier runs found; None where there are none. What cannot be read is passed over."""
        reports, lines = [], dict[tuple[str, str], Line]()
        for path in self._oldest_first():
            try:
                report = read_report(path)
            except UsageError:
                continue
            if report.header.get("format") == FORMAT and report.footer is not None:
                reports.append((report.header, report.footer))
                lines.update({(line["id"], line["environment"]): line for line in report.results})
        if not reports:
            return None
        header, footer = reports[-1]
        return Earlier(footer["finished_at"], header["suite"]["digest"], lines)

    def keep(self, selection: str, lines: Iterable[Line]) -> None:
        """Keep the `lines` of a whole report as the last one of `selection`, whole or not at all.

        Raises OSError where the cache cannot be written.
        """
        reports, cache = self._folder.parents[:2]
        cache.parent.mkdir(parents=True, exist_ok=True)
        for folder in (cache, reports, self._folder):  # `parents` would leave the modes to the umask
            folder.mkdir(mode=0o700, exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=self._folder, suffix=".part")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(json.dumps(line) + "\n" for line in lines)
            Path(part).replace(self._folder / f"{_digest(selection)}.jsonl")
        finally:
            Path(part).unlink(missing_ok=True)
        for path in self._oldest_first()[:-KEPT_SELECTIONS]:
            path.unlink(missing_ok=True)
        for folder in _by_age(self._folder.parent.iterdir())[:-KEPT_SUITES]:
            shutil.rmtree(folder, ignore_errors=True)

    def _oldest_first(self) -> list[Path]:
        return _by_age(self._folder.glob("*.jsonl"))


def history_of(catalog: Catalog, environment: str) -> History:
    """Return the history of the suite of `catalog` in `environment`, in the cache of this user.

    Raises RuntimeError where this user has no home.
    """
    shipped = {f"matrices/{name}.toml": name for name in matrix_names()}
    files = [matrix.origin.file for matrix in catalog.matrices]
    suite = _digest(
        "\n".join([*(shipped.get(file, str(Path(file).expanduser().resolve())) for file in files), environment])
    )
    name = "-".join([*(Path(file).stem for file in files), environment.replace("/", "-")])
    cache = platformdirs.user_cache_path("shell-exit-conformance", appauthor=False)
    return History(cache / "reports" / f"{name[:80]}-{suite}")


def _by_age(paths: Iterable[Path]) -> list[Path]:
    """Return `paths` from the one that was changed first to the one that was changed last."""
    ages = []
    for path in paths:
        with suppress(FileNotFoundError):  # another run has just put it away
            ages.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(ages)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]
