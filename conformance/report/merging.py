"""Join reports of shards and environments into one. What comes of it does not depend on the order of the reports."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, product
from typing import IO, Any

from conformance.errors import HarnessError, UsageError, code_of
from conformance.model import EnvironmentKey
from conformance.observation import ResultKind
from conformance.report.codec import json_text
from conformance.report.findings import line_gates
from conformance.report.outcome import outcome_of
from conformance.report.reader import ReportFile

Line = Mapping[str, Any]
Judge = Callable[[Sequence[Line]], Sequence[str]]
"""What is wrong with the results of one configuration of shells as a whole, a sentence each."""

WORST_FIRST = (
    ResultKind.ERROR, ResultKind.FAIL, ResultKind.FIXED, ResultKind.DEVIATES, ResultKind.PASS, ResultKind.UNAVAILABLE,
    ResultKind.SKIPPED,
)  # fmt: skip
"""Which of two results of one case in one environment counts."""

_TABLE = """
CREATE TABLE result (
    id TEXT, environment INTEGER, report INTEGER, rank INTEGER, gates INTEGER, offset INTEGER, size INTEGER,
    PRIMARY KEY (id, environment, report)
) WITHOUT ROWID;
BEGIN;
"""


@dataclass(frozen=True)
class Merged:
    """What came of a merge."""

    results: Mapping[str, int]
    environments: tuple[str, ...]
    findings: tuple[str, ...]
    incomplete: tuple[str, ...]
    """The runs that were cut short, each as it is called in messages."""
    exit_code: int
    """That of a run which would have given all of it."""


class Merger:
    """Joins open reports: reads each once to know where its results stand, and once more to copy them."""

    def __init__(self, reports: Sequence[ReportFile], database: sqlite3.Connection) -> None:
        """Read all of `reports`, and note in `database` where their results stand.

        Raises UsageError for what is no report, and for reports of different suites or by different versions.
        """
        _check_one_suite(reports)
        self._reports = sorted(reports, key=lambda report: json.dumps(report.header["runs"], sort_keys=True))
        self._database = database
        self._environments: dict[str, int] = {}
        database.executescript(_TABLE)
        for number, report in enumerate(self._reports):
            for stored in report:
                line = stored.value
                environment = self._environments.setdefault(line["environment"], len(self._environments))
                rank = WORST_FIRST.index(line["result"])
                row = (line["id"], environment, number, rank, line_gates(line), stored.offset, stored.size)
                database.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._check_totals(number, report)
        self._runs = [run for report in self._reports for run in _runs_of(report)]

    def _check_totals(self, number: int, report: ReportFile) -> None:
        rows = self._database.execute(
            "SELECT rank, count(*), sum(gates) FROM result WHERE report = ? GROUP BY rank", (number,)
        ).fetchall()
        report.check_totals({WORST_FIRST[rank]: count for rank, count, _ in rows}, sum(gates for *_, gates in rows))

    def check_shards(self, expected: int | None) -> None:
        """Raise UsageError for a shard or a run that stands twice, and where there are not `expected` shards."""
        for runs in self._groups():
            for one, other in combinations(runs, 2):
                if one.may_be(other):
                    raise UsageError(f"{other}: stands in {one.report} already. Give each shard and each run once.")
            if expected is not None and runs[0].of != expected:
                raise UsageError(f"{runs[0]}: is not one of {expected} shards. Mend --expect-shards.")

    def check_complete(self) -> None:
        """Raise UsageError for a report that was cut short, and for a shard that is missing."""
        for report in self._reports:
            if not report.complete:
                raise UsageError(
                    f"{report.name}: is incomplete: its run did not come to its end. "
                    "Run it again, or pass --allow-incomplete to take it as it is."
                )
        for runs in self._groups():
            missing = [f"{part}/{runs[0].of}" for part in _missing(runs)]
            if missing:
                raise UsageError(
                    f"shard {', '.join(missing)} of {runs[0].value['environment']} is missing: there is "
                    f"{', '.join(map(str, runs))}. Give its report as well, or pass --allow-incomplete to go without."
                )

    def _groups(self) -> Collection[Sequence[_Run]]:
        """Return the runs of each selection in each environment."""
        groups: defaultdict[tuple[str, str, int], list[_Run]] = defaultdict(list)
        for run in self._runs:
            groups[run.value["environment"], run.value["selection"], run.of].append(run)
        return groups.values()

    def write(self, stream: IO[str], judge: Judge | None) -> Merged:
        """Write the whole report to `stream`. `judge` says what is wrong with its results, where it can be told."""
        stream.write(json_text(self._header()) + "\n")
        counts: Counter[str] = Counter()
        gating = False
        for result, gates, text in self._chosen():
            counts[result] += 1
            gating = gating or gates
            stream.write(text)
        findings = [*self._findings(), *self._contradictions()]
        if judge is not None:
            findings += [finding for lines in self._configurations() for finding in judge(lines)]
        footer = self._footer(counts, list(dict.fromkeys(findings)), gating=gating)
        stream.write(json_text(footer) + "\n")
        cut_short = tuple(str(self._runs[number]) for number in footer["incomplete"])
        environments = tuple(sorted(self._environments))
        return Merged(footer["results"], environments, tuple(footer["findings"]), cut_short, footer["exit_code"])

    def _header(self) -> Line:
        headers = [report.header for report in self._reports]
        (again,) = self._database.execute(
            "SELECT total(times - 1) FROM (SELECT count(*) AS times FROM result GROUP BY id, environment)"
        ).fetchone()
        return {
            **headers[0],
            "suite": {
                "digest": headers[0]["suite"]["digest"],
                "matrices": list(dict.fromkeys(name for header in headers for name in header["suite"]["matrices"])),
            },
            "runs": [run.value for run in self._runs],
            "routes": list({route["id"]: route for header in headers for route in header["routes"]}.values()),
            "fixtures": _fixtures(headers),
            "cases": sum(header["cases"] for header in headers) - int(again),
        }

    def _footer(self, counts: Counter[str], findings: Sequence[str], *, gating: bool) -> dict[str, Any]:
        lacking = [run for runs in self._groups() if _missing(runs) for run in runs]
        incomplete = [number for number, run in enumerate(self._runs) if not run.complete or run in lacking]
        footers = [report.footer for report in self._reports if report.footer is not None]
        codes = {footer["exit_code"] for footer in footers}
        broken = bool(counts["error"] or incomplete) or HarnessError.exit_code in codes
        return {
            "kind": "footer",
            "results": dict(sorted(counts.items())),
            "findings": findings,
            "incomplete": incomplete,
            "exit_code": code_of(broken=broken, differs=gating or bool(findings)),
            "finished_at": max(self._times()),
        }

    def _times(self) -> Iterator[str]:
        """Yield when reports were ended; a run that was not has begun at least."""
        for report in self._reports:
            yield from (run["started_at"] for run in report.header["runs"])
            if report.footer is not None:
                yield report.footer["finished_at"]

    def _findings(self) -> Iterator[str]:
        return (finding for report in self._reports for finding in (report.footer or {"findings": ()})["findings"])

    def _chosen(self) -> Iterator[tuple[str, bool, str]]:
        """Yield each case in each environment once, by id: of several results the worst. Whether it gates, its text."""
        rows = self._database.execute(
            "SELECT rank, gates, report, offset, size, min(rank * 1000000 + report) FROM result "
            "GROUP BY id, environment"
        )
        for rank, gates, report, offset, size, _ in rows:
            yield WORST_FIRST[rank], bool(gates), self._reports[report].bytes_at(offset, size).decode()

    def _contradictions(self) -> Iterator[str]:
        """Say which cases came out in more than one way in the same environment."""
        rows = self._database.execute(
            "SELECT id, environment, report, offset, size FROM result WHERE (id, environment) IN "
            "(SELECT id, environment FROM result GROUP BY id, environment HAVING count(*) > 1) ORDER BY 1, 2, 3"
        )
        for (id_, _), found in groupby(rows, key=lambda row: row[:2]):
            lines = [self._reports[row[2]].result_at(*row[3:]) for row in found]
            outcomes = dict.fromkeys(map(outcome_of, lines))
            if len(outcomes) > 1:
                yield (
                    f"{id_} on {lines[0]['environment']} came out in more than one way: "
                    f"{'; '.join(map(str, outcomes))}. The worst counts; `conformance verify {id_}` tells how often."
                )

    def _configurations(self) -> Iterator[list[Line]]:
        """Yield the results that belong together: those of one place, with one version of each shell."""
        shells: defaultdict[str, defaultdict[str, set[EnvironmentKey]]] = defaultdict(lambda: defaultdict(set))
        for name in self._environments:
            key = EnvironmentKey.parse(name)
            shells[f"{key.os}-{key.architecture}/{key.runner}"][key.shell].add(key)
        for versions in shells.values():
            for keys in product(*(sorted(found, key=str) for found in versions.values())):
                together = set(map(str, keys))
                lines = (json.loads(text) for _, _, text in self._chosen())
                yield [line for line in lines if line["environment"] in together]


@dataclass(frozen=True)
class _Run:
    """A run in one of the reports."""

    value: Mapping[str, Any]
    report: str
    complete: bool

    @property
    def part(self) -> int:
        """Which shard it is."""
        return int(self.value["shard"]["part"])

    @property
    def of(self) -> int:
        """How many shards there are."""
        return int(self.value["shard"]["of"])

    def may_be(self, other: _Run) -> bool:
        """Tell whether both ran the same, on shells of the same versions."""
        mine, others = ({shell["asked"]: shell for shell in run.value["shells"]} for run in (self, other))
        return self.part == other.part and all(mine[name] == others[name] for name in mine.keys() & others.keys())

    def __str__(self) -> str:
        return f"shard {self.part}/{self.of} of {self.value['environment']} in {self.report}"


def _runs_of(report: ReportFile) -> Iterator[_Run]:
    cut_short = range(len(report.header["runs"])) if report.footer is None else report.footer["incomplete"]
    for number, value in enumerate(report.header["runs"]):
        yield _Run(value, report.name, number not in cut_short)


def _check_one_suite(reports: Sequence[ReportFile]) -> None:
    first = reports[0]
    for report in reports[1:]:
        for what, names in (("suite", ("suite", "digest")), ("version of conformance", ("tool", "version"))):
            one, other = (found.header[names[0]][names[1]] for found in (first, report))
            if one != other:
                raise UsageError(
                    f"{report.name}: is of another {what} than {first.name} ({other[:12]}, not {one[:12]}). "
                    "Merge reports of the same checkout; compare others with `conformance diff`."
                )


def _missing(runs: Sequence[_Run]) -> list[int]:
    """Return the shards of which there are fewer than of others; several machines may have run all of them."""
    counts = Counter(run.part for run in runs)
    return [part for part in range(1, runs[0].of + 1) if counts[part] < max(counts.values())]


def _fixtures(headers: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return every fixture with the bodies of all dialects: a header has those of its own routes only."""
    found: dict[str, Any] = {}
    for fixture in (fixture for header in headers for fixture in header["fixtures"]):
        known = found.setdefault(fixture["id"], fixture)
        if known is not fixture:
            pairs = zip(known["steps"], fixture["steps"], strict=False)
            steps = [{**one, "bodies": {**one["bodies"], **other["bodies"]}} for one, other in pairs]
            found[fixture["id"]] = {**known, "steps": steps}
    return list(found.values())
