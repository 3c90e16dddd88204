"""What the program of the page is given: each result as a few numbers, each text, block and stream once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from conformance.observation import ResultKind
from conformance.report.codec import decode_bytes, encode_bytes
from conformance.report.index import IndexedReport
from conformance.status import status_from_json
from conformance.views.citation import citation
from conformance.views.document import Block, Fields, Section, Sentences, Verbatim
from conformance.views.html.pool import Pool, script_json
from conformance.views.terminal import MEANINGS, cell
from conformance.views.text import printable

Line = Mapping[str, Any]

KINDS = tuple(map(str, ResultKind))
KEPT_OF_A_PASS = 256
"""So many first bytes are kept of a stream of a case that passed; of all others, all that the report has."""


def overview_json(report: IndexedReport) -> str:
    """Return the JSON of what the whole grid is about."""
    return script_json(
        {
            "kinds": [{"name": kind, "meaning": dict(MEANINGS)[kind]} for kind in KINDS],
            "columns": [[column.route, printable(column.environment)] for column in report.columns()],
        }
    )


def results_json(report: IndexedReport, pool: Pool) -> Iterator[str]:
    """Yield the parts of a JSON list with an item a fixture; what they refer to is put into `pool`."""
    encoding = _Encoding(report, pool)
    separator = "["
    for fixture, lines in groupby(report.lines(), itemgetter("fixture")):
        yield separator + script_json(encoding.fixture(fixture, lines))
        separator = ","
    yield "[]" if separator == "[" else "]"


class _Encoding:
    def __init__(self, report: IndexedReport, pool: Pool) -> None:
        self._header, self._pool = report.header, pool
        self._routes = {route["id"]: route for route in report.header["routes"]}
        self._fixtures = {fixture["id"]: fixture for fixture in report.header["fixtures"]}
        self._columns = {(column.route, column.environment): n for n, column in enumerate(report.columns())}

    def fixture(self, id_: str, lines: Iterator[Line]) -> list[object]:
        """Return [ID, SUMMARY, [STDIN OF A STEP...], RESULT...]."""
        text = self._pool.text
        known = self._fixtures.get(id_, {"summary": "", "steps": []})
        return [
            id_,
            text(known["summary"]),
            [text(step["stdin"]) for step in known["steps"]],
            *map(self._result, lines),
        ]

    def _result(self, line: Line) -> list[object]:
        """Return [COLUMN, KIND, PROVISIONAL, CELL, TITLE, BLOCKS, STEPS, SECONDS]."""
        section = self._cited(line)
        return [
            self._columns[line["route"], line["environment"]],
            KINDS.index(line["result"]),
            int(line["provisional"]),
            self._pool.text(cell(line).plain),
            self._pool.text(section.title.removeprefix(line["id"])),
            [self._block(block) for block in section.blocks],
            [self._step(step, line) for step in line["steps"]],
            [round(step["seconds"], 3) for step in line["steps"]],
        ]

    def _cited(self, line: Line) -> Section:
        """Return what `conformance cite` says of the result, and how to see it again."""
        route = self._routes.get(line["route"].partition("+")[0])
        fixture = self._fixtures.get(line["fixture"])
        header = {  # the two of the case alone, since they are looked for
            **self._header,
            "routes": [route] if route is not None else [],
            "fixtures": [fixture] if fixture is not None else [],
        }
        (section,) = citation(header, line, Sentences(f"To see it again: {repro_command(line)}"))
        return section

    def _block(self, block: Block) -> int:
        text = self._pool.text
        if isinstance(block, Fields):
            return self._pool.list("fields", *(self._pool.list(text(name), text(value)) for name, value in block.rows))
        if isinstance(block, Verbatim):
            return self._pool.list("verbatim", text(block.name), text(block.text))
        if isinstance(block, Sentences):
            return self._pool.list("sentences", text(block.text))
        raise TypeError(f"a citation has no {type(block).__name__}")

    def _step(self, step: Line, line: Line) -> int:
        text = self._pool.text
        witness = step["witness"]
        return self._pool.list(
            text(str(status_from_json(step["status"]))),
            self._stream(step["stdout"], line),
            self._stream(step["stderr"], line),
            step["stdin"]["sent"],
            int(step["stdin"]["broken_pipe"]),
            witness["marks"],
            [[received["bytes"], text(received["sha256"])] for received in witness["received"]],
            [text(leftover["command"]) for leftover in step["leftovers"]],
            step["repetition"],
            step["decision"],
        )

    def _stream(self, stream: Line, line: Line) -> int:
        """Return the number of [BYTES, SHA256, HEAD, TAIL, DIFFERENCE]; what a passing case needs not is left out."""
        head, tail, difference = stream["head"], stream["tail"], stream["difference"]
        if line["result"] == ResultKind.PASS:
            head, tail = encode_bytes(decode_bytes(head)[:KEPT_OF_A_PASS]), ""
        elif stream["bytes"] <= len(decode_bytes(head)):
            tail = ""  # the head is all of it
        place = difference and [difference[key] for key in ("offset", "window_offset", "expected", "observed")]
        return self._pool.list(stream["bytes"], stream["sha256"], head, tail, place)


def repro_command(line: Line) -> str:
    """Return the command that shows the case again; an id needs no quoting in any shell."""
    return f"conformance repro {line['id']}"
