"""What the page's program is given: every result in a few numbers, and each text once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.observation import Basis, ResultKind
from conformance.report.index import IndexedReport
from conformance.status import status_from_json
from conformance.views.terminal import MEANINGS, cell
from conformance.views.text import printable

Line = Mapping[str, Any]

SHOWN_BYTES = 256
"""Of a stream that is as it should be, the page shows so much of both ends."""
KINDS = tuple(str(kind) for kind in ResultKind)
PROVISIONAL, ON_TEXT = 1, 2
"""What is set in the flags of a result."""


class Interned:
    """Values, each once; a value is told by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, value: object) -> int:
        """Return the number of `value`, which JSON can tell."""
        return self._numbers.setdefault(_json(value), len(self._numbers))

    def texts(self) -> Iterator[str]:
        """Yield all values as JSON, in the order of their numbers."""
        return iter(self._numbers)


def data_of(report: IndexedReport) -> Iterator[str]:
    """Yield the parts of one JSON object on `report`, in which no text can end a script or be markup."""
    columns = report.columns()
    places = {(column.route, column.environment): number for number, column in enumerate(columns)}
    details, cells = Interned(), Interned()
    head = {
        "kinds": KINDS,
        "meanings": dict(MEANINGS),
        "tool": report.header["tool"],
        "suite": report.header["suite"],
        "runs": report.header["runs"],
        "routes": report.header["routes"],
        "fixtures": {fixture["id"]: fixture for fixture in report.header["fixtures"]},
        "columns": [[column.route, column.environment] for column in columns],
        "counts": report.counts(),
        "provisional": report.provisional,
        "onText": report.on_text,
    }
    yield _json(_shown(head)).removesuffix("}") + ',"rows":['
    fixture = None
    for line in report.lines():
        if line["fixture"] != fixture:
            yield ("" if fixture is None else "]],") + f"[{_json(line['fixture'])},["
            fixture = line["fixture"]
            separator = ""
        flags = PROVISIONAL * line["provisional"] + ON_TEXT * (line["basis"] == Basis.TEXT)
        seconds = round(sum(step["seconds"] for step in line["steps"]), 3)
        result = [
            places[line["route"], line["environment"]],
            KINDS.index(line["result"]),
            flags,
            cells.number(cell(line).plain),
            details.number(_detail(line)),
            seconds,
        ]
        yield separator + _json(result)
        separator = ","
    yield ("" if fixture is None else "]]") + '],"cells":['
    yield ",".join(cells.texts()) + '],"details":['
    yield ",".join(details.texts()) + "]}"


def _detail(line: Line) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "came": _status(line["status"]),
        "expected": _status(line["expected"]),
        "reason": line["reason"],
        "rule": line["rule"],
        "deviation": line["deviation"],
        "losses": line["discrepancies"],
        "system": line["system"],
        "steps": [_step(step) for step in line["steps"]],
    }
    return dict(_shown({name: value for name, value in detail.items() if value}))


def _status(value: dict[str, Any] | None) -> str | None:
    return None if value is None else str(status_from_json(value))


def _step(step: Line) -> dict[str, Any]:
    return {
        "status": _status(step["status"]),
        "stdout": _stream(step["stdout"]),
        "stderr": _stream(step["stderr"]),
        "sent": step["stdin"]["sent"],
        "broke": step["stdin"]["broken_pipe"],
        "marks": step["witness"]["marks"],
        "received": step["witness"]["received"],
        "leftovers": [leftover["command"] for leftover in step["leftovers"]],
        "decision": step["decision"],
    }


def _stream(stream: Line) -> dict[str, Any]:
    shown: dict[str, Any] = {"bytes": stream["bytes"], "sha256": stream["sha256"]}
    difference = stream["difference"]
    if difference is not None:
        shown["difference"] = difference
    elif stream["bytes"]:
        shown["head"] = _shortened(stream["head"], slice(0, SHOWN_BYTES))
        if stream["bytes"] > SHOWN_BYTES:
            shown["tail"] = _shortened(stream["tail"], slice(-min(SHOWN_BYTES, stream["bytes"] - SHOWN_BYTES), None))
    return shown


def _shortened(text: str, part: slice) -> str:
    return base64.b64encode(base64.b64decode(text)[part]).decode()


def _shown(value: Any) -> Any:
    """Return `value` with all that is invisible in its texts made visible."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(name): _shown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return value


def _json(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
