"""Fixture files become fixtures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.catalog.positions import Position
from conformance.catalog.source import SourceFile, read_source
from conformance.catalog.values import condition_in, status_in
from conformance.condition import Facts
from conformance.errors import CatalogError
from conformance.model import Expectation, Fixture, Origin, Seconds, Sighting, Started, Step
from conformance.payload import Payload, payload_from_toml
from conformance.precedence import expectation_for
from conformance.template import Placeholder, placeholders

BODY_NAMES = frozenset({"native", "mark", "witness", "filler"})
MARKS = BODY_NAMES - {"filler"}
_OF_A_STEP = frozenset({"body", "expect", "stdin", "wiring"})


def read_fixtures(folder: Path) -> tuple[Fixture, ...]:
    """Read every fixture file of `folder`, in the order of their names.

    Raises CatalogError for a broken file, and for an id that occurs twice.
    """
    fixtures: dict[str, Fixture] = {}
    for path in sorted(folder.glob("*.toml")):
        if not re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)*", path.stem):
            raise CatalogError(
                f"{folder.name}/{path.name}:1: the file's name begins the ids of its fixtures, so lower-case letters, "
                "digits, - and . are expected. Rename the file."
            )
        source = read_source(path, f"{folder.name}/{path.name}", "fixture_file")
        for index, table in enumerate(source.data["fixture"]):
            fixture = _fixture(source, index, table, path.stem)
            if fixture.id in fixtures:
                raise CatalogError(
                    f"{fixture.origin}: the id {fixture.id!r} stands already at {fixtures[fixture.id].origin}. "
                    "Ids are permanent and unique: rename the new one."
                )
            fixtures[fixture.id] = fixture
    return tuple(fixtures.values())


def _fixture(source: SourceFile, index: int, table: dict[str, Any], topic: str) -> Fixture:
    path: Position = ("fixture", index)
    origin = source.origin(path)
    started, _, because = table.get("started", "yes").partition(":")
    steps = [((*path, "step", number), step) for number, step in enumerate(table.get("step", ()))] or [(path, table)]
    if "step" in table and not table.keys().isdisjoint(_OF_A_STEP):
        raise CatalogError(
            f"{origin}: there are [[fixture.step]] beside {', '.join(sorted(table.keys() & _OF_A_STEP))}. "
            "Put everything that belongs to a step into it."
        )
    fixture = Fixture(
        id=f"{topic}/{table['id']}",
        summary=table["summary"],
        source=table["source"],
        steps=tuple(_step(source, place, step, table["source"], Started(started)) for place, step in steps),
        started=Started(started),
        unprovable_because=because.strip(),
        deadline=Seconds(float(table["deadline"])) if "deadline" in table else None,
        origin=origin,
        reports=tuple(table.get("reports", ())),
        aliases=tuple(table.get("aliases", ())),
    )
    if not fixture.dialects:
        raise CatalogError(
            f"{origin}: no dialect has a body in every step, so no route can perform them. Write the bodies that lack."
        )
    _check_coverage(fixture)
    return fixture


def _step(source: SourceFile, path: Position, table: dict[str, Any], url: str, started: Started) -> Step:
    origin = source.origin(path)
    _check_bodies(table["body"], started, origin)
    stdin = _payload(table.get("stdin", ""), origin, "stdin")
    wiring = table.get("wiring", {})
    if "stdin" in wiring and stdin.length:
        raise CatalogError(f"{origin}: nothing can be sent on a closed stdin. Take out stdin, or wiring.stdin.")
    return Step(
        bodies=table["body"],
        stdin=stdin,
        expectations=tuple(
            _expectation(source.origin((*path, "expect", number)), expectation, url, stdin)
            for number, expectation in enumerate(table["expect"])
        ),
        wiring=wiring,
        times=table.get("times", 1),
    )


def _expectation(origin: Origin, table: dict[str, Any], source: str, stdin: Payload) -> Expectation:
    status = status_in(table, origin)
    assert status is not None, "the schema asks for one of exit, signal and timed_out"
    received = table.get("received")
    if isinstance(received, int) and received > stdin.length:
        raise CatalogError(f"{origin}: received = {received} is more than the {stdin.length} bytes of stdin. Lower it.")
    return Expectation(
        status=status,
        stdout=_expected_stream(table.get("stdout", ""), origin, "stdout"),
        stderr=_expected_stream(table.get("stderr", ""), origin, "stderr"),
        received_bytes=stdin.length if received == "all" else received,
        condition=condition_in(table, origin),
        reason=table["reason"],
        url=table.get("url", source),
        seen=tuple(Sighting(*words.split(" ")) for words in table.get("seen", ())),
        origin=origin,
    )


def _expected_stream(value: Any, origin: Origin, key: str) -> Payload | None:
    return None if isinstance(value, dict) and "any" in value else _payload(value, origin, key)


def _payload(value: Any, origin: Origin, key: str) -> Payload:
    try:
        return payload_from_toml(value)
    except ValueError as error:
        raise CatalogError(
            f'{origin}: {key} is not a payload: {error}. Write whole bytes, such as {{ hex = "00 ff" }}.'
        ) from error


def _check_bodies(bodies: Mapping[str, str], started: Started, origin: Origin) -> None:
    for dialect, body in bodies.items():
        try:
            found = placeholders(body, BODY_NAMES)
            for placeholder in found:
                _check_argument(placeholder)
        except ValueError as error:
            raise CatalogError(f"{origin}: body.{dialect}: {error}.") from error
        if started is not Started.UNPROVABLE and not any(placeholder.name in MARKS for placeholder in found):
            raise CatalogError(
                f"{origin}: body.{dialect} leaves no mark, so nothing proves whether it started. "
                'Add {{mark}}, {{native:N}} or {{witness}}, or say started = "unprovable: why".'
            )


def _check_argument(placeholder: Placeholder) -> None:
    if placeholder.name == "native":
        if not re.fullmatch(r"\d{1,3}", placeholder.argument or "") or int(placeholder.argument or "") > 255:
            raise ValueError(f"{{{{native:{placeholder.argument}}}}} needs an exit code from 0 to 255")
    elif placeholder.name == "filler":
        if not re.fullmatch(r"[1-9]\d{0,5}", placeholder.argument or ""):
            raise ValueError(f"{{{{filler:{placeholder.argument}}}}} needs a number of characters below a million")
    elif placeholder.argument is not None:
        raise ValueError(f"{{{{{placeholder.name}}}}} takes no argument")


def _check_coverage(fixture: Fixture) -> None:
    """Every kind of case must find exactly one expectation."""
    for step in fixture.steps:
        for facts in _kinds_of_case(step):
            if expectation_for(step.expectations, facts) is None:
                raise CatalogError(
                    f"{fixture.origin}: no expectation covers dialect {facts.dialect}, judged by {facts.judged_by}, "
                    f"on {facts.os} with shell {facts.shell} {facts.version} and runner {facts.runner}. "
                    "Add an [[fixture.expect]] without `when`, or one that matches."
                )


def _kinds_of_case(step: Step) -> Iterator[Facts]:
    conditions = [expectation.condition for expectation in step.expectations]
    named = {version for c in conditions if c.version for version in re.findall(r"\d+(?:\.\w+)*", c.version)}
    yield from itertools.starmap(
        Facts,
        itertools.product(
            {c.os for c in conditions if c.os} | {"linux", "macos", "windows"},
            step.bodies,
            {c.shell for c in conditions if c.shell} | {"any other shell"},
            named | {f"{version}.0.1" for version in named} | {"0", "99999", "unknown"},
            {c.runner for c in conditions if c.runner} | {"any other runner"},
            ("last-statement", "last-native"),
        ),
    )
