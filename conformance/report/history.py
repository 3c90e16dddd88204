"""The last reports of this user, kept in the cache by suite, environment and selection: the next run is compared."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.cache import cache_folder
from conformance.catalog import Catalog, matrix_names
from conformance.errors import UsageError
from conformance.report.reader import read_report
from conformance.whole_file import replacement

KEPT_SELECTIONS = 10
"""How many selections of one suite in one environment are remembered."""

KEPT_SUITES = 50

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Earlier:
    """What an earlier run found of one case."""

    line: Line
    finished_at: str
    """When that run ended (ISO 8601, UTC)."""
    suite: str
    """The digest of the suite that it ran."""


class History:
    """The kept reports of one suite in one environment: one for each selection, the last that ran to its end."""

    def __init__(self, folder: Path) -> None:
        """Keep the reports in `folder`, which need not exist; it lies in `reports` in the cache."""
        self._folder = folder

    def earlier(self) -> dict[tuple[str, str], Earlier]:
        """Return the newest that was found of each case id in each environment.

        What is not just as it was written, or was written in another format, is passed over.
        """
        found = {}
        for path in _by_age(self._folder.glob("*.jsonl")):
            if path.stem.rpartition("-")[2] != _digest(path.read_bytes()):
                continue
            try:
                report = read_report(path)
            except UsageError:
                continue
            if report.footer is not None:
                ended, suite = report.footer["finished_at"], report.header["suite"]["digest"]
                found.update(
                    {(line["id"], line["environment"]): Earlier(line, ended, suite) for line in report.results}
                )
        return found

    def keep(self, selection: str, lines: Iterable[Line]) -> None:
        """Keep the `lines` of a whole report as the last one of `selection`, whole or not at all.

        Raises OSError where the cache cannot be written.
        """
        reports, cache = self._folder.parents[:2]
        cache.parent.mkdir(parents=True, exist_ok=True)
        for folder in (cache, reports, self._folder):  # `parents` would leave the modes to the umask
            folder.mkdir(mode=0o700, exist_ok=True)
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        name = _digest(selection.encode("utf-8", "surrogateescape"))
        before = list(self._folder.glob(f"{name}-*.jsonl"))
        kept = self._folder / f"{name}-{_digest(content)}.jsonl"
        with replacement(kept) as part:
            part.write_bytes(content)
        for path in {*before, *_by_age(self._folder.glob("*.jsonl"))[:-KEPT_SELECTIONS]} - {kept}:
            path.unlink(missing_ok=True)
        for folder in _by_age(reports.iterdir())[:-KEPT_SUITES]:
            shutil.rmtree(folder, ignore_errors=True)


def history_of(catalog: Catalog, environment: str) -> History:
    """Return the history of the suite of `catalog` in `environment`, in the cache of this user.

    Raises RuntimeError where this user has no home.
    """
    shipped = {f"matrices/{name}.toml": name for name in matrix_names()}
    files = [matrix.origin.file for matrix in catalog.matrices]
    full_names = [shipped.get(file, str(Path(file).expanduser().resolve())) for file in files]
    suite = _digest("\n".join([*full_names, environment]).encode("utf-8", "surrogateescape"))
    name = "-".join([*(Path(file).stem for file in files), environment.replace("/", "-")])
    return History(cache_folder() / "reports" / f"{name[:80]}-{suite}")


def _by_age(paths: Iterable[Path]) -> list[Path]:
    """Return `paths` from the one that was changed first to the one that was changed last."""
    ages = []
    for path in paths:
        with suppress(FileNotFoundError):  # another run has just put it away
            ages.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(ages)]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
