"""A case as a bug report cites it: what was expected, what came, on what, by which rule, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.model import EnvironmentKey
from conformance.observation import Basis
from conformance.status import status_from_json
from conformance.views.document import Block, Fields, Script, Section, Sentences, Verbatim
from conformance.views.outcome import either_form
from conformance.views.terminal import MEANINGS, PROVISIONAL_NOTE, TEXT_NOTE

Line = Mapping[str, Any]


def citation(header: Line, line: Line, reproduction: Script | Sentences) -> Iterator[Section]:
    """Yield the sections on the case of the result `line` in a report with that `header`."""
    suite, tool = header["suite"]["digest"], header["tool"]
    blocks: list[Block] = [
        Fields(
            (
                ("case", line["id"]),
                ("suite", f"{tool['name']} {tool['version']}, SHA-256 {suite}"),
                *_outcome(line),
                *_ground(header, line),
            )
        ),
        *_what(header, line),
        Verbatim("in full", line["reason"]),
        reproduction,
    ]
    yield Section(_title(line), tuple(blocks))


def _title(line: Line) -> str:
    if line["status"] is None:
        return f"{line['id']}: {line['result']}"
    return f"{line['id']}: expected {either_form(line['expected'])}, came {status_from_json(line['status'])}"


def _outcome(line: Line) -> Iterator[tuple[str, str]]:
    note = PROVISIONAL_NOTE if line["provisional"] else ""
    yield "result", f"{line['result']}: {dict(MEANINGS)[line['result']]}{note}"
    if line["status"] is not None:
        yield "expected", either_form(line["expected"])
        yield "came", str(status_from_json(line["status"]))
    yield from (("so", found["meaning"]) for found in line["discrepancies"])
    if line["rule"] is not None:
        yield "rule", line["rule"]["reason"]
        yield "source of the rule", line["rule"]["url"]
    if line["deviation"] is not None:
        yield "documented deviation", line["deviation"]["reason"]
        yield "source of the deviation", line["deviation"]["url"]


def _ground(header: Line, line: Line) -> Iterator[tuple[str, str]]:
    yield "environment", line["environment"]
    key = EnvironmentKey.parse(line["environment"])
    runs = [run for run in header["runs"] if run["environment"] == f"{key.os}-{key.architecture}/{key.runner}"]
    used = [
        (run["system"], shell)
        for run in runs
        for shell in run["shells"]
        if (shell.get("name"), shell.get("version")) == (key.shell, key.version)
    ]
    for system, shell in used[:1]:
        yield "shell", f"{shell['name']} {shell['version']}, {shell['path']} ({shell['found']})"
        yield "system", f"{system['distribution']} (release {system['release']})"
    if line["system"] is not None:
        yield "driven system", f"{line['system']['name']} {line['system']['version']}"
    if line["basis"] == Basis.TEXT:
        yield "basis", TEXT_NOTE


def _what(header: Line, line: Line) -> Iterator[Block]:
    route = next((route for route in header["routes"] if route["id"] == line["route"].partition("+")[0]), None)
    fixture = next((fixture for fixture in header["fixtures"] if fixture["id"] == line["fixture"]), None)
    if fixture is not None:
        yield Fields((("hook", fixture["summary"]), ("source of the hook", fixture["source"])))
    if fixture is not None and route is not None:
        steps = fixture["steps"]
        dialect = next((name for name in route["dialects"] if all(name in step["bodies"] for step in steps)), None)
        for number, step in enumerate(steps, start=1):
            place = f", step {number} of {len(steps)}" if len(steps) > 1 else ""
            if dialect is not None:
                yield Verbatim(f"body in {dialect}{place}", step["bodies"][dialect])
    if route is not None:
        yield Verbatim("argv of the route, an argument a line", "\n".join(route["argv"]))
        if route["stdin"] is not None:
            yield Verbatim("what the route feeds on stdin", route["stdin"])
