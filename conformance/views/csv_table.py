"""A report as CSV (RFC 4180): a row a result, in which no cell is a formula.

Sources: https://www.rfc-editor.org/rfc/rfc4180 and https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.report.results import Told
from conformance.status import status_from_json
from conformance.views.text import printable, shortened

Line = Mapping[str, Any]

REASON_CHARACTERS = 1000
_FORMULA = ("=", "+", "-", "@")
_ONE_LINE = str.maketrans("\n\t", "  ")


def _status(value: dict[str, Any] | None) -> str:
    return "" if value is None else str(status_from_json(value))


def _code(value: Mapping[str, Any] | None) -> str:
    return str(value["code"]) if value is not None and value["kind"] == "exited" else ""


def _stream(name: str, key: str) -> Callable[[Line], str]:
    return lambda line: "; ".join(str(step[name][key]) for step in line["steps"])


COLUMNS: Mapping[str, Callable[[Line], str]] = {
    "id": lambda line: line["id"],
    "fixture": lambda line: line["fixture"],
    "route": lambda line: line["route"],
    "environment": lambda line: line["environment"],
    "result": lambda line: line["result"],
    "provisional": lambda line: "yes" if line["provisional"] else "no",
    "basis": lambda line: line["basis"],
    "expected": lambda line: _status(line["expected"]),
    "expected_code": lambda line: _code(line["expected"]),
    "status": lambda line: _status(line["status"]),
    "status_code": lambda line: _code(line["status"]),
    "lost": lambda line: "; ".join(found["subject"] for found in line["discrepancies"]),
    "stdout_bytes": _stream("stdout", "bytes"),
    "stdout_sha256": _stream("stdout", "sha256"),
    "stderr_bytes": _stream("stderr", "bytes"),
    "stderr_sha256": _stream("stderr", "sha256"),
    "seconds": lambda line: f"{sum(step['seconds'] for step in line['steps']):.3f}",
    "reason": lambda line: line["reason"].partition("\n")[0],
    "rule": lambda line: line["rule"]["url"] if line["rule"] else "",
    "deviation": lambda line: line["deviation"]["reason"] if line["deviation"] else "",
    "deviation_url": lambda line: line["deviation"]["url"] if line["deviation"] else "",
    "system": lambda line: f"{line['system']['name']} {line['system']['version']}" if line["system"] else "",
}
"""The columns, with what each holds. Several steps of a case stand behind each other, with `; ` between them."""


def csv_table(told: Told) -> Iterator[str]:
    """Yield the rows, the names of the columns first."""
    yield _row(list(COLUMNS))
    for line in told.results.lines():
        yield _row([_cell(value(line)) for value in COLUMNS.values()])


def _row(cells: list[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\r\n").writerow(cells)
    return stream.getvalue()


def _cell(text: str) -> str:
    """Return `text` on one line, as a text for every program that opens the table."""
    shown = printable(shortened(text, REASON_CHARACTERS)).translate(_ONE_LINE)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
