"""Write a report line by line, so that nothing measured is lost whatever ends the run."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import IO, Any

from conformance.catalog import Catalog
from conformance.errors import HarnessError
from conformance.model import Case
from conformance.report.codec import json_text
from conformance.report.header import now, run_header
from conformance.selection import Selection


class ReportWriter:
    """Writes one report. A line is flushed as soon as it is complete."""

    def __init__(self, stream: IO[str], name: str) -> None:
        """Write to `stream`, called `name` in messages."""
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(newline="\n")  # on Windows as well, so that a report is the same everywhere
        self._stream = stream
        self._name = name
        self._results: dict[tuple[str, str], str] = {}
        self.lines: list[Mapping[str, Any]] = []
        """What was written, in order; complete once there is a footer."""

    def header(
        self, catalog: Catalog, cases: tuple[Case, ...], environment: Mapping[str, Any], selection: Selection
    ) -> None:
        """Begin the report: what is run, and on what.

        Raises HarnessError where the report cannot be written, as do the other methods.
        """
        self._line(run_header(catalog, cases, environment, selection))

    def result(self, line: Mapping[str, Any]) -> None:
        """Write the line of one result."""
        self._results[line["id"], line["environment"]] = line["result"]  # the last one, where a case was run again
        self._line(line)

    def footer(self, findings: Sequence[str], exit_code: int) -> None:
        """End the report. Only a run that went through all of its cases has a footer."""
        self._line(
            {
                "kind": "footer",
                "results": dict(sorted(Counter(self._results.values()).items())),
                "findings": list(findings),
                "incomplete": [],
                "exit_code": exit_code,
                "finished_at": now(),
            }
        )

    def _line(self, value: Mapping[str, Any]) -> None:
        try:
            self._stream.write(json_text(value) + "\n")
            self._stream.flush()
            self.lines.append(value)
        except OSError as error:
            raise HarnessError(
                f"the report {self._name} cannot be written: {error.strerror}. What was measured until now is in it; "
                "make room, or choose another place with --report."
            ) from error
