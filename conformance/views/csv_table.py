"""A table for spreadsheets and data tools: CSV after RFC 4180, a row for each result."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.report.index import IndexedReport
from conformance.status import status_from_json
from conformance.views.text import printable, shortened

Line = Mapping[str, Any]

COLUMNS = (
    "id", "fixture", "route", "environment", "result", "provisional", "basis",
    "expected", "expected_code", "status", "status_code",
    "stdout_bytes", "stdout_sha256", "stderr_bytes", "stderr_sha256",
    "reason", "deviation_reason", "deviation_url", "system", "seconds",
)  # fmt: skip
CELL_CHARACTERS = 1000
FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet takes for a formula at the beginning of a cell.

Source: https://owasp.org/www-community/attacks/CSV_Injection
"""


def csv_table(report: IndexedReport) -> Iterator[str]:
    """Yield the table of `report`, row by row. Of several steps it tells the last one's streams."""
    yield _row(COLUMNS)
    for line in report.lines():
        yield _row([_cell(value) for value in _values(line)])


def _values(line: Line) -> Iterator[object]:
    yield from (line[name] for name in ("id", "fixture", "route", "environment", "result"))
    yield str(line["provisional"]).lower()
    yield line["basis"]
    for name in ("expected", "status"):
        yield "" if line[name] is None else status_from_json(line[name])
        yield "" if line[name] is None else line[name].get("code", "")
    last = line["steps"][-1] if line["steps"] else None
    for name in ("stdout", "stderr"):
        yield from ("", "") if last is None else (last[name]["bytes"], last[name]["sha256"])
    yield line["reason"].split("\n", 1)[0]
    deviation = line["deviation"] or {"reason": "", "url": ""}
    yield from (deviation["reason"], deviation["url"])
    yield "" if line["system"] is None else f"{line['system']['name']} {line['system']['version']}"
    yield f"{sum(step['seconds'] for step in line['steps']):.3f}" if line["steps"] else ""


def _cell(value: object) -> str:
    text = printable(shortened(str(value), CELL_CHARACTERS)).replace("\n", " ")
    # A quote in front shows that it is text; spreadsheets do not look behind it.
    return f"'{text}" if text.lstrip().startswith(FORMULA) or text.startswith(FORMULA) else text


def _row(cells: Sequence[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream).writerow(cells)
    return stream.getvalue()
