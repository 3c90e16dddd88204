"""What `explain` shows of a case: an explanation laid out in sections."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.diagnosis import hexdump
from conformance.model import Happens
from conformance.observation import Basis
from conformance.views.document import Block, Fields, Section, Sentences, Table, Verbatim
from conformance.views.outcome import either_form
from conformance.views.terminal import MEANINGS, PROVISIONAL_NOTE, TEXT_NOTE
from conformance.views.text import printable

Explanation = Mapping[str, Any]

SHOWN_CHARACTERS = 3000
"""Longer texts are shown by their beginning and their end."""
SHOWN_END_CHARACTERS = 500
SHOWN_BYTES = 256
_BLANKS = dict.fromkeys(map(ord, "\t\r\n"))
"""Control characters that are no sign of something else than text."""


def sections(explanation: Explanation) -> Iterator[Section]:
    """Yield the sections of `explanation`, what is asked first before what is only looked up."""
    yield _result(explanation)
    steps = explanation["steps"]
    for number, step in enumerate(steps, start=1):
        place = f" in step {number} of {len(steps)}" if len(steps) > 1 else ""
        yield _rule(step, place)
        if step["came"] is not None:
            yield _bytes(step, place)
    yield _deviations(explanation)
    for launch in explanation["launches"]:
        yield _launch(launch, explanation["fixture"])
    yield _environment(explanation)
    yield _case(explanation)
    yield _routes(explanation)


def _result(explanation: Explanation) -> Section:
    meaning = dict(MEANINGS)[explanation["result"]]
    note = PROVISIONAL_NOTE if explanation["provisional"] else ""
    note += f" ({TEXT_NOTE})" if explanation["basis"] == Basis.TEXT else ""
    return Section(
        f"{explanation['case']}: {explanation['result']}",
        (Sentences(f"{explanation['result']}: {meaning}{note}"), Verbatim("as run reports it", explanation["reason"])),
    )


def _rule(step: Mapping[str, Any], place: str) -> Section:
    rule = step["rule"]
    blocks: list[Block] = [Fields(tuple(_rule_rows(rule)))]
    for other in step["other_rules"]:
        blocks += [Sentences("Another stood by and lost:")]
        blocks += [Fields((("it lost because", other["lost_because"]), *_rule_rows(other)))]
    return Section(f"The rule of the contract that decided{place}", tuple(blocks))


def _rule_rows(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "expects", either_form(rule["status"])
    yield "when", _when(rule["when"])
    yield "because", rule["reason"]
    yield "source", rule["url"]
    yield "seen on", ", ".join(rule["seen"]) or "nothing yet, so it is provisional everywhere"
    yield "stands at", rule["defined_at"]


def _bytes(step: Mapping[str, Any], place: str) -> Section:
    contract, came = step["contract"], step["came"]
    differing = {found["subject"] for found in step["differences"]}
    blocks: list[Block] = []
    for subject, expected, observed in _subjects(contract, came):
        verdict = "differs" if subject in differing else "as expected"
        blocks.append(Fields(((subject, verdict), ("  expected", expected), ("  came", observed))))
    for name in ("stdout", "stderr"):
        if contract[name] is not None and contract[name]["sha256"] == came[name]["sha256"]:
            blocks += _stream_blocks(f"{name}, on both sides", came[name])
        else:
            blocks += _stream_blocks(f"{name} expected", contract[name])
            blocks += _stream_blocks(f"{name} that came", came[name])
    blocks += [
        Verbatim(f"{found['subject']}: the first difference", found["evidence"])
        for found in step["differences"]
        if found["evidence"]
    ]
    return Section(f"What was expected and what came{place}", tuple(blocks))


def _subjects(contract: Mapping[str, Any], came: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield "status", either_form(contract["status"]), either_form(came["status"])
    for name in ("stdout", "stderr"):
        yield name, _expected_size(contract[name]), _stream_size(came[name])
    started = {True: "yes", False: "no", None: "cannot be proven"}
    yield "started", started[contract["started"]], f"marks of the body: {came['witness']['marks']}"
    wanted = contract["received"]
    received = [f"a witness received {_stream_size(one)}" for one in came["witness"]["received"]]
    sent = f"bytes sent: {came['stdin']['sent']}" + (", then the pipe broke" if came["stdin"]["broken_pipe"] else "")
    yield "stdin", "no proof is asked for" if wanted is None else _stream_size(wanted), "; ".join([sent, *received])


def _expected_size(stream: Mapping[str, Any] | None) -> str:
    return "anything" if stream is None else _stream_size(stream)


def _stream_size(stream: Mapping[str, Any]) -> str:
    return f"{stream['bytes']} bytes, SHA-256 {stream['sha256']}" if stream["bytes"] else "nothing"


def _stream_blocks(name: str, stream: Mapping[str, Any] | None) -> list[Block]:
    if stream is None or not stream["bytes"]:
        return []
    head, tail = (base64.b64decode(stream[key]) for key in ("head", "tail"))
    if stream["bytes"] <= SHOWN_BYTES:
        return [Verbatim(name, _exact_lines(head))]
    half = SHOWN_BYTES // 2
    rows = [*hexdump(head[:half]), "...", *hexdump(tail[-half:], stream["bytes"] - half)]
    return [Verbatim(f"{name} (its beginning and its end)", "\n".join(rows))]


def _exact_lines(data: bytes) -> str:
    """Return `data` as lines in quotes, which show each character; as a hexdump where it is no plain text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "\n".join(hexdump(data))
    if not text.translate(_BLANKS).isprintable():
        return "\n".join(hexdump(data))
    return "\n".join(map(_in_quotes, _lines(text)))


def _lines(text: str) -> list[str]:
    """Cut after line feeds only, whatever else Unicode takes for the end of a line."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _deviations(explanation: Explanation) -> Section:
    held = explanation["deviation"]
    blocks: list[Block]
    if held is None:
        blocks = [Sentences("No deviation is documented for this case: it must be as the contract has it.")]
    else:
        blocks = [Fields((("what happened", held["happened"]), *_deviation_rows(held)))]
    for other in explanation["other_deviations"]:
        blocks += [Sentences("Another covers the case and does not apply:")]
        blocks += [Fields((("because", other["lost_because"]), *_deviation_rows(other)))]
    return Section("What is documented to deviate", tuple(blocks))


def _deviation_rows(deviation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for observed in deviation["observed"]:
        yield (
            "documents" if deviation["happens"] == Happens.ALWAYS else "sometimes",
            ", ".join(
                f"{name} {either_form(value) if name == 'status' else value}" for name, value in observed.items()
            ),
        )
    yield "when", _when(deviation["when"])
    yield "reason", deviation["reason"]
    yield "source", deviation["url"]
    yield "stands at", deviation["defined_at"]


def _launch(launch: Mapping[str, Any], fixture: Mapping[str, Any]) -> Section:
    wiring = fixture.get("wiring", {})
    ends = ", ".join(f"{name} {wiring.get(name, 'a pipe')}" for name in ("stdin", "stdout", "stderr"))
    blocks: list[Block] = [
        Verbatim("argv, an argument a line, in quotes as JSON has them", _quoted(launch["argv"])),
        Verbatim("the body with its templates rendered", _shown(launch["body"])),
    ]
    for file in launch["files"]:
        name = f"the file {file['path']} ({file['bytes']} bytes, SHA-256 {file['sha256']})"
        same = file["text"] == launch["body"]
        blocks.append(Verbatim(name, "(the body, as it stands above)" if same else _shown(file["text"])))
    blocks.append(Verbatim("the whole environment", _quoted(f"{k}={v}" for k, v in launch["environment"].items())))
    deadline = launch["deadline"]
    blocks.append(
        Fields(
            (
                ("working directory", launch["directory"]),
                ("streams", ends),
                ("sent on stdin", _sent(launch["stdin"])),
                ("deadline", f"{deadline['seconds']:g} seconds after {deadline['counts_from']}"),
            )
        )
    )
    blocks += _stream_blocks("stdin that was sent", launch["stdin"])
    rows = [f"{event['seconds']:10.3f}  {event['event']}" for event in launch["timeline"]]
    blocks.append(Verbatim("timeline, in seconds after the launch", "\n".join(rows)))
    blocks.append(
        Sentences(
            "A program called native appends its mark to the file that is its last argument and exits with the number "
            "before; witness performs the verbs behind that file."
        )
    )
    return Section("What was launched", tuple(blocks))


def _sent(stream: Mapping[str, Any]) -> str:
    return f"{stream['description']}, SHA-256 {stream['sha256']}" if stream["bytes"] else "nothing"


def _quoted(texts: Iterable[str]) -> str:
    return "\n".join(_shortened(_in_quotes(text)) for text in texts)


def _in_quotes(text: str) -> str:
    """Return `text` as a JSON string, in which nothing is invisible."""
    return json.dumps(text, ensure_ascii=not text.rstrip("\n").isprintable())


def _shown(text: str) -> str:
    """Return `text` as it is where nothing of it is invisible; else a line in quotes for each of its lines."""
    if printable(text) == text and not any(line.endswith((" ", "\t")) for line in text.split("\n")):
        return _shortened(text)
    return _shortened("\n".join(map(_in_quotes, _lines(text))))


def _shortened(text: str) -> str:
    left_out = len(text) - SHOWN_CHARACTERS - SHOWN_END_CHARACTERS
    if left_out <= 0:
        return text
    gap = f"[... {left_out} characters are left out here; --json has them all ...]"
    return f"{text[:SHOWN_CHARACTERS]}\n{gap}\n{text[-SHOWN_END_CHARACTERS:]}"


def _environment(explanation: Explanation) -> Section:
    rows = [("environment key", explanation["environment"])]
    for shell in explanation["shells"]:
        state = shell.get("unavailable") or f"{shell['name']} {shell['version']}, {shell['path']} ({shell['found']})"
        rows.append((f"shell {shell['asked']}", state))
    if explanation["driven"] is not None:
        rows.append(("driven system", f"{explanation['driven']['name']} {explanation['driven']['version']}"))
        rows.append(("basis", TEXT_NOTE if explanation["basis"] == Basis.TEXT else "bytes"))
    system = explanation["system"]
    rows += [
        ("system", f"{system['distribution']} (release {system['release']}), Python {system['python']}"),
        ("conformance", explanation["version"]),
        ("suite", explanation["suite"]),
    ]
    return Section("Where it ran", (Fields(tuple(rows)),))


def _case(explanation: Explanation) -> Section:
    fixture, route = explanation["fixture"], explanation["route"]
    rows = [
        ("fixture", fixture["fixture"]),
        ("what it is", fixture["summary"]),
        ("its source", fixture["source"]),
        *(("report of the fault", url) for url in fixture.get("reports", ())),
        ("its body starts", fixture["started"]),
        ("stands at", fixture["defined_at"]),
        ("route", f"{route['id']} ({route['kind']}, judged by {route['judged_by']})"),
        ("its source", route["source"] or "none"),
        ("stands at", route["defined_at"]),
    ]
    blocks: list[Block] = [Fields(tuple(rows)), Verbatim("argv of the route", _quoted(route["argv"]))]
    if "stdin" in route:
        blocks.append(Verbatim("what the route feeds on stdin", _shown(route["stdin"])))
    for key, text in route.get("dialogue", {}).items():
        if text:
            blocks.append(Verbatim(f"the {key.replace('_', ' ')} of its dialogue", _shown(text)))
    for step in fixture.get("steps", [fixture]):
        blocks.append(Verbatim(f"the body as the fixture has it, in {explanation['dialect']}", _shown(step["body"])))
    return Section("Fixture and route", tuple(blocks))


def _routes(explanation: Explanation) -> Section:
    others = explanation["other_routes"]
    if not others:
        return Section(
            "What another route would give", (Sentences("No other route of the catalogue takes this body."),)
        )
    keeping = [other["case"] for other in others if other["keeps"]]
    rows = tuple(
        (
            other["case"],
            _does(other),
            either_form(other["contract"]),
            other["skipped"] or other["documented"] or "the same",
            other["judged_by"],
            other["environment"] if other["available"] else "what it needs is not here",
        )
        for other in others
    )
    return Section(
        "What another route would give",
        (
            Sentences("This is looked up in what is documented; nothing of it was run now."),
            Table(("case", "", "contract", "documented", "judged by", "environment"), rows),
            Sentences(f"Documented to keep it: {', '.join(keeping) or 'none of them'}."),
        ),
    )


def _does(other: Mapping[str, Any]) -> str:
    if other["skipped"]:
        return "skips it"
    if other["keeps_or_skips"]:  # only its adapter knows what its system lacks
        return "keeps or skips it"
    return "keeps" if other["keeps"] else "loses"


def _when(condition: Mapping[str, str]) -> str:
    return " and ".join(f"{name} is {value}" for name, value in condition.items()) or "always"
