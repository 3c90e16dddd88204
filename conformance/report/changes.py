"""What changed between two reports: by case and environment, never by counts."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.observation import ResultKind
from conformance.report.outcome import Outcome, outcome_of
from conformance.report.pairing import Key, Pairing
from conformance.report.reader import ReportFile

Line = Mapping[str, Any]

SEVERITY = (ResultKind.PASS, ResultKind.FIXED, ResultKind.DEVIATES, ResultKind.FAIL, ResultKind.ERROR)
"""The results of cases that were run, from what should be to what is worst."""
NOT_RUN = (ResultKind.UNAVAILABLE, ResultKind.SKIPPED)


class ChangeKind(StrEnum):
    """What became of a case, in the order in which it is told."""

    REGRESSED = "regressed"
    UNAVAILABLE = "unavailable"
    CHANGED = "changed"
    FIXED = "fixed"
    AVAILABLE = "available"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class Change:
    """One case in one environment that is not as it was; a side that has no result of it is None."""

    kind: ChangeKind
    id: str
    environment: str
    old: Line | None
    new: Line | None

    @property
    def outcomes(self) -> tuple[Outcome | None, Outcome | None]:
        """What came of it then and now."""
        old, new = (None if line is None else outcome_of(line) for line in (self.old, self.new))
        return old, new


_TABLES = """
CREATE TABLE old (
    id TEXT, environment TEXT, severity INTEGER, outcome BLOB, offset INTEGER, size INTEGER,
    PRIMARY KEY (id, environment)
) WITHOUT ROWID;
CREATE TABLE new (
    id TEXT, environment TEXT, severity INTEGER, outcome BLOB, offset INTEGER, size INTEGER,
    PRIMARY KEY (id, environment)
) WITHOUT ROWID;
BEGIN;
"""
_FIND = """
CREATE TABLE change AS
SELECT CASE
    WHEN new.id IS NULL THEN 'removed'
    WHEN old.severity < 0 AND new.severity < 0 THEN 'changed'
    WHEN old.severity < 0 THEN 'available'
    WHEN new.severity < 0 THEN 'unavailable'
    WHEN new.severity > old.severity THEN 'regressed'
    WHEN new.severity < old.severity THEN 'fixed'
    ELSE 'changed'
END AS kind, old.id AS id, old.environment AS environment,
old.offset AS old_offset, old.size AS old_size, new.offset AS new_offset, new.size AS new_size
FROM old LEFT JOIN new USING (id, environment)
WHERE new.id IS NULL OR new.outcome != old.outcome
UNION ALL
SELECT 'added', new.id, new.environment, NULL, NULL, new.offset, new.size
FROM new LEFT JOIN old USING (id, environment) WHERE old.id IS NULL;
"""


class Changes:
    """The differences between two open reports, found in a database and read from the reports when they are told."""

    def __init__(self, old: ReportFile, new: ReportFile, pairing: Pairing, database: sqlite3.Connection) -> None:
        """Read both reports once; `pairing` says which results are compared.

        Raises UsageError, with the line, for what is no report.
        """
        self._old, self._new, self._database = old, new, database
        database.executescript(_TABLES)
        for table, report, key_of in (("old", old, pairing.old), ("new", new, pairing.new)):
            self._read(table, report, key_of)
        database.execute(_FIND)

    def _read(self, table: str, report: ReportFile, key_of: Callable[[Line], Key | None]) -> None:
        insert = f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?)"
        for stored in report:
            key = key_of(stored.value)
            if key is not None:
                rank = _severity(stored.value["result"])
                row = (*key, rank, _digest(outcome_of(stored.value)), stored.offset, stored.size)
                self._database.execute(insert, row)

    @property
    def compared(self) -> int:
        """How many cases have a result in both reports."""
        return self._number("SELECT count(*) FROM old JOIN new USING (id, environment)")

    @property
    def counts(self) -> Mapping[ChangeKind, int]:
        """How many cases changed in each way."""
        found = dict(self._database.execute("SELECT kind, count(*) FROM change GROUP BY kind"))
        return {kind: found[kind] for kind in ChangeKind if kind in found}

    def environments(self, kind: ChangeKind) -> tuple[str, ...]:
        """Return the environments in which something changed in the way `kind`."""
        found = self._database.execute("SELECT DISTINCT environment FROM change WHERE kind = ? ORDER BY 1", (kind,))
        return tuple(environment for (environment,) in found)

    def of(self, kind: ChangeKind) -> Iterator[Change]:
        """Yield what changed in the way `kind`, by id and environment."""
        rows = self._database.execute(
            "SELECT id, environment, old_offset, old_size, new_offset, new_size FROM change WHERE kind = ? "
            "ORDER BY id, environment",
            (kind,),
        )
        for id_, environment, *places in rows:
            old = None if places[0] is None else self._old.result_at(*places[:2])
            new = None if places[2] is None else self._new.result_at(*places[2:])
            yield Change(kind, id_, environment, old, new)

    def _number(self, query: str) -> int:
        return int(self._database.execute(query).fetchone()[0])


def _severity(result: str) -> int:
    return -1 - NOT_RUN.index(ResultKind(result)) if result in NOT_RUN else SEVERITY.index(ResultKind(result))


def _digest(outcome: Outcome) -> bytes:
    return hashlib.blake2b(repr(outcome).encode("utf-8", "backslashreplace"), digest_size=16).digest()
