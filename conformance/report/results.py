"""The results of a run or of a report, as views ask for them: of a million, only some are ever in memory at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from conformance.errors import HarnessError
from conformance.observation import Basis
from conformance.report.findings import line_gates
from conformance.report.index import Column, IndexedReport

Line = Mapping[str, Any]


class Results(Protocol):
    """Results that can be asked for by what they are."""

    def counts(self) -> Mapping[str, int]:
        """Return how many cases have each result that occurs."""

    @property
    def gating(self) -> int:
        """How many results make a run fail."""

    @property
    def provisional(self) -> int:
        """How many results are provisional."""

    @property
    def on_text(self) -> int:
        """How many results were judged on text."""

    def columns(self) -> tuple[Column, ...]:
        """Return every route in every environment that has a result."""

    def lines(self, results: Collection[str] = ()) -> Iterator[Line]:
        """Yield the results of these kinds, or all, by fixture, then as `columns` has them."""


class HeldResults:
    """The results of a run, which are in memory."""

    def __init__(self, lines: Iterable[Line], routes: Sequence[str]) -> None:
        """Hold `lines`; `routes` says in which order the columns stand."""
        place = {route: number for number, route in enumerate(routes)}
        self._lines = sorted(lines, key=lambda line: (line["fixture"], place[line["route"]], line["environment"]))
        found = {Column(line["route"], line["environment"]) for line in self._lines}
        self._columns = tuple(sorted(found, key=lambda column: (place[column.route], column.environment)))

    def counts(self) -> Mapping[str, int]:
        """Return how many cases have each result that occurs."""
        return Counter(line["result"] for line in self._lines)

    @property
    def gating(self) -> int:
        """How many results make a run fail."""
        return sum(map(line_gates, self._lines))

    @property
    def provisional(self) -> int:
        """How many results are provisional."""
        return sum(line["provisional"] for line in self._lines)

    @property
    def on_text(self) -> int:
        """How many results were judged on text."""
        return sum(line["basis"] == Basis.TEXT for line in self._lines)

    def columns(self) -> tuple[Column, ...]:
        """Return every route in every environment that has a result."""
        return self._columns

    def lines(self, results: Collection[str] = ()) -> Iterator[Line]:
        """Yield the results of these kinds, or all, by fixture, then as `columns` has them."""
        return (line for line in self._lines if not results or line["result"] in results)


@dataclass(frozen=True)
class Told:
    """All that views tell of a run or a report."""

    results: Results
    findings: Sequence[str]
    """What is wrong with it as a whole."""
    cut_short: str
    """What is missing of it, in words; empty where nothing is."""
    exit_code: int
    """The exit code of the run; 3 where it was cut short."""

    @property
    def lacks_a_shell(self) -> bool:
        """Whether a required shell was missing, which no single result shows."""
        broken = self.exit_code == HarnessError.exit_code
        return broken and not self.cut_short and not self.results.counts().get("error")


def told_of(report: IndexedReport) -> Told:
    """Return what there is to tell of `report`."""
    footer = report.footer
    if footer is None:
        count, cases = sum(report.counts().values()), report.header["cases"]
        return Told(report, (), f"it was cut short after {count} of {cases} cases", HarnessError.exit_code)
    runs = [report.header["runs"][number] for number in footer["incomplete"]]
    cut_short = ", ".join(f"shard {run['shard']['part']}/{run['shard']['of']} of {run['environment']}" for run in runs)
    code = HarnessError.exit_code if cut_short else footer["exit_code"]
    return Told(report, footer["findings"], f"cut short or without all shards: {cut_short}" if runs else "", code)
