"""The results of reports that may be too many for memory: found by case and environment, and read when needed.

What a result is looked up by stands in a private temporary database, which SQLite removes by itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from conformance.errors import HarnessError
from conformance.observation import gates
from conformance.report.reader import ReportFile, StoredLine, open_report

Line = Mapping[str, Any]

_NOTHING_IS_TO_LAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
"""No way back from a failure is kept, and 64 MiB of memory are used."""
_TABLES = """
BEGIN;
CREATE TABLE environment (number INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE route (number INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE result (
    fixture TEXT, route INTEGER, environment INTEGER, result TEXT, provisional INTEGER, basis TEXT, gates INTEGER,
    offset INTEGER, size INTEGER, PRIMARY KEY (fixture, route, environment)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, order=True)
class Column:
    """A route in an environment: what a column of a grid is of."""

    route: str
    environment: str


@dataclass(frozen=True)
class ColumnCounts:
    """How many cases of a column have which result."""

    results: Mapping[str, int]
    gating: int
    """How many of them make a run fail."""


class IndexedReport:
    """A report whose results can be asked for by what they are. Where a case was run again, the last result counts."""

    def __init__(self, report: ReportFile, database: sqlite3.Connection) -> None:
        """Read all of `report` once, and note in `database` where everything stands.

        Raises UsageError, with the line, for what is no report, or whose footer counts other results than it has.
        """
        self.name, self.header = report.name, report.header
        self._report, self._database = report, database
        database.executescript(_TABLES)
        self._numbers: dict[tuple[str, str], int] = {}
        for route in report.header["routes"]:
            self._number("route", route["id"])
        for stored in report:
            self._note(stored)
        self.footer, self.complete = report.footer, report.complete
        self._counts = dict(database.execute("SELECT result, count(*) FROM result GROUP BY result ORDER BY result"))
        totals = database.execute(
            "SELECT total(gates), total(provisional), total(basis = 'text') FROM result"
        ).fetchone()
        self.gating, self.provisional, self.on_text = map(int, totals)
        """How many results make a run fail, how many are provisional, and how many were judged on text."""
        report.check_totals(self._counts, self.gating)

    def _note(self, stored: StoredLine) -> None:
        line = stored.value
        route, environment = self._number("route", line["route"]), self._number("environment", line["environment"])
        gating = gates(line["result"], provisional=line["provisional"])
        self._database.execute(
            "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (line["fixture"], route, environment, line["result"], line["provisional"], line["basis"], gating,
             stored.offset, stored.size),
        )  # fmt: skip

    def _number(self, table: str, name: str) -> int:
        """Return the number of `name`, which routes and environments get in the order in which they come."""
        if (table, name) not in self._numbers:
            self._numbers[table, name] = len(self._numbers)
            self._database.execute(f"INSERT INTO {table} VALUES (?, ?)", (self._numbers[table, name], name))
        return self._numbers[table, name]

    def counts(self) -> Mapping[str, int]:
        """Return how many cases have each result that occurs."""
        return self._counts

    def columns(self) -> tuple[Column, ...]:
        """Return every route in every environment that has a result: in the order of the routes in the header."""
        found = self._database.execute(
            "SELECT DISTINCT route.number, route.name, environment.name FROM result "
            "JOIN route ON route.number = result.route JOIN environment ON environment.number = result.environment "
            "ORDER BY route.number, environment.name"
        )
        return tuple(Column(route, environment) for _, route, environment in found)

    def lines(self, results: Collection[str] = ()) -> Iterator[Line]:
        """Yield the results of these kinds, or all, by fixture, then as `columns` has them."""
        condition = f"WHERE result IN ({', '.join('?' * len(results))})" if results else ""
        found = self._database.execute(
            f"SELECT offset, size FROM result JOIN environment ON environment.number = result.environment {condition} "
            "ORDER BY fixture, route, environment.name",
            tuple(results),
        )
        for offset, size in found:
            yield self._report.result_at(offset, size)

    def column_counts(self) -> Mapping[Column, ColumnCounts]:
        """Return how many cases of each column have which result, in the order of `columns`."""
        found = self._database.execute(
            "SELECT route.name, environment.name, result, count(*), sum(gates) FROM result "
            "JOIN route ON route.number = result.route JOIN environment ON environment.number = result.environment "
            "GROUP BY route.number, environment.name, result ORDER BY route.number, environment.name"
        )
        return {
            column: ColumnCounts({row[2]: row[3] for row in rows}, sum(row[4] for row in rows))
            for column, group in groupby(found, lambda row: Column(row[0], row[1]))
            for rows in [list(group)]
        }

    def lines_by_column(self) -> Iterator[Line]:
        """Yield all results column by column, as `columns` has them, then by fixture."""
        found = self._database.execute(
            "SELECT offset, size FROM result JOIN environment ON environment.number = result.environment "
            "ORDER BY route, environment.name, fixture"
        )
        for offset, size in found:
            yield self._report.result_at(offset, size)


@contextmanager
def index_report(path: Path) -> Generator[IndexedReport, None, None]:
    """Open the report at `path` (`-` is standard input) and read all of it once.

    Raises UsageError for what is no report, HarnessError where there is no room for what must be kept of it.
    """
    with open_report(path) as report, temporary_database() as database:
        yield IndexedReport(report, database)


@contextmanager
def temporary_database() -> Generator[sqlite3.Connection, None, None]:
    """Open a private database in the folder for temporary files.

    Raises HarnessError where that is full.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript(_NOTHING_IS_TO_LAST)
        try:
            yield database
        except sqlite3.OperationalError as error:
            raise HarnessError(f"what is kept of a report finds no room: {error}. Make room, or set TMPDIR.") from error
