"""Read a report back, line by line. A report may come from anybody: nothing of it is believed before it was checked."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from conformance.errors import HarnessError, UsageError, code_of
from conformance.report.checks import CheckError, check_footer, check_header, check_result

Line = Mapping[str, Any]

LONGEST_LINE_BYTES = 8 * 1024 * 1024
"""A longer line is none that this tool writes."""
STANDARD_INPUT = Path("-")
MEBIBYTE = 1024 * 1024
_GIVE = "Give a file that `conformance run --report` wrote"


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A result, and where in the file it stands."""

    value: dict[str, Any]
    offset: int
    size: int
    """Bytes, with the line break."""


class ReportFile:
    """An open report. Its results are read one at a time, as often as they are asked for."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        """Read the header of the report in `stream`, called `name` in messages.

        Raises UsageError, with the line, for what is no report of this format.
        """
        self.name = name
        self._stream = stream
        stream.seek(0)
        first = self._whole_line(1)
        if first is None:
            raise self._error(1, f"not a report: it has no whole line. {_GIVE}")
        self.header: dict[str, Any] = self._checked(1, first, ("header",))
        self.footer: dict[str, Any] | None = None
        """The footer, known once all results were read; None where the run did not come to its end."""

    @property
    def complete(self) -> bool:
        """Whether every run in it went through all of its cases; known once all results were read."""
        return self.footer is not None and not self.footer["incomplete"]

    def __iter__(self) -> Iterator[StoredLine]:
        """Yield the results in the order in which they came. A last line that was cut off is left out.

        Raises UsageError, with the line, for what is no line of a report, and for one that stands in a wrong place.
        """
        self._stream.seek(0)
        self.footer = None
        number, offset = 1, len(self._stream.readline())
        while (line := self._whole_line(number := number + 1)) is not None:
            if self.footer is not None:
                raise self._error(number, "a line behind the footer. Join reports with `conformance merge`")
            value = self._checked(number, line, ("result", "footer"))
            if value["kind"] == "result":
                yield StoredLine(value, offset, len(line))
                self._stream.seek(offset + len(line))  # the one who was given it may have read elsewhere
            else:
                if any(run >= len(self.header["runs"]) for run in value["incomplete"]):
                    raise self._error(number, "it names a run that the header has not. Give a report as it was written")
                self.footer = value
            offset += len(line)

    def check_totals(self, counts: Mapping[str, int], gating: int) -> None:
        """Check the footer against all results, each case once: `counts` by their kind, and how many make a run fail.

        Raises UsageError for a footer that says something else.
        """
        if self.footer is None:
            return
        if self.footer["results"] != counts:
            raise UsageError(
                f"{self.name}: the footer counts other results than there are. Give a report as it was written."
            )
        total = sum(counts.values())
        if self.complete and total != self.header["cases"]:
            raise UsageError(
                f"{self.name}: has a footer, and {total} results of {self.header['cases']} cases. "
                "Give it as it was written."
            )
        least = code_of(broken="error" in counts, differs=bool(gating or self.footer["findings"]))
        if self.footer["exit_code"] not in (least, HarnessError.exit_code):
            raise UsageError(
                f"{self.name}: the footer says exit code {self.footer['exit_code']} where the results give {least}. "
                "Give a report as it was written."
            )

    def result_at(self, offset: int, size: int) -> dict[str, Any]:
        """Return the result that stands at `offset`, which was read and checked before."""
        value: dict[str, Any] = json.loads(self.bytes_at(offset, size))
        return value

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Return a line as it stands in the file."""
        if sys.platform != "win32":  # the buffer would be filled anew for each line that stands elsewhere
            return os.pread(self._stream.fileno(), size, offset)
        self._stream.seek(offset)
        return self._stream.read(size)

    def _whole_line(self, number: int) -> bytes | None:
        line = self._stream.readline(LONGEST_LINE_BYTES)
        if len(line) == LONGEST_LINE_BYTES and not line.endswith(b"\n"):
            most = LONGEST_LINE_BYTES // MEBIBYTE
            raise self._error(number, f"a line of more than {most} MiB, which no report has. {_GIVE}")
        return line if line.endswith(b"\n") else None

    def _checked(self, number: int, line: bytes, kinds: tuple[str, ...]) -> dict[str, Any]:
        try:
            value = json.loads(line, parse_constant=_no_number, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise self._error(number, f"not a line of a report: {_in_short(error)}") from error
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind not in kinds:
            expected = " or ".join(f"a {kind}" for kind in kinds)
            raise self._error(number, f"not a report: {expected} is expected here. {_GIVE}")
        try:
            _CHECKS[kind](value)
        except CheckError as error:
            raise self._error(number, str(error)) from error
        return dict(value)

    def _error(self, number: int, what: str) -> UsageError:
        return UsageError(f"{self.name}:{number}: {what}.")


_CHECKS = {"header": check_header, "result": check_result, "footer": check_footer}


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of `pairs`. Of a key that stands twice, readers of JSON take the first or the last."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands in it twice")
    return value


def _in_short(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]


@contextmanager
def open_report(path: Path) -> Generator[ReportFile, None, None]:
    """Open the report at `path`; `-` is standard input.

    Raises UsageError for what cannot be read as a report, HarnessError where there is no room to keep standard input.
    """
    if path == STANDARD_INPUT:
        with _standard_input() as stream:
            yield ReportFile(stream, "standard input")
        return
    try:
        stream = path.open("rb", buffering=MEBIBYTE)
        stream.seek(0)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read as a report: {error.strerror}. Give the name of a file.") from error
    with stream:
        yield ReportFile(stream, str(path))


@contextmanager
def _standard_input() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as kept:
        try:
            while sys.stdin is not None and (chunk := sys.stdin.buffer.read(MEBIBYTE)):
                kept.write(chunk)
            kept.flush()
        except OSError as error:
            raise HarnessError(f"standard input cannot be kept: {error.strerror}. Make room, or set TMPDIR.") from error
        yield kept


@dataclass(frozen=True)
class Report:
    """A report that was read as a whole. `footer` is None where the run did not come to its end."""

    name: str
    """What messages call it."""
    header: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    footer: dict[str, Any] | None

    @property
    def complete(self) -> bool:
        """Whether every run in it went through all of its cases."""
        return self.footer is not None and not self.footer["incomplete"]


def read_report(path: Path) -> Report:
    """Read the report at `path` as a whole; `-` is standard input.

    Raises as `open_report` and ReportFile do.
    """
    with open_report(path) as report:
        results = tuple(stored.value for stored in report)
        return Report(report.name, report.header, results, report.footer)
