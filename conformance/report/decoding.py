"""What a result line holds of a case, as the values that were observed: the way back from `codec`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.model import Seconds
from conformance.observation import (
    Basis,
    CapturedStream,
    Difference,
    Leftover,
    Observation,
    Received,
    StdinRecord,
    StepObservation,
    System,
    WitnessRecord,
)
from conformance.report.codec import decode_bytes
from conformance.status import status_from_json


def observation_in(line: Mapping[str, Any]) -> Observation:
    """Return what happened in the case of `line`, which fits the schema and has steps."""
    system = line["system"]
    return Observation(
        tuple(_step(step) for step in line["steps"]),
        None if system is None else System(system["name"], system["version"], Basis(line["basis"])),
    )


def _step(step: Mapping[str, Any]) -> StepObservation:
    witness = step["witness"]
    return StepObservation(
        status=status_from_json(step["status"]),
        stdout=_stream(step["stdout"]),
        stderr=_stream(step["stderr"]),
        stdin=StdinRecord(step["stdin"]["sent"], step["stdin"]["broken_pipe"]),
        witness=WitnessRecord(
            witness["marks"], tuple(Received(record["bytes"], record["sha256"]) for record in witness["received"])
        ),
        leftovers=tuple(Leftover(leftover["pid"], leftover["command"]) for leftover in step["leftovers"]),
        seconds=Seconds(step["seconds"]),
        repetition=step["repetition"],
        decision=step["decision"],
    )


def _stream(stream: Mapping[str, Any]) -> CapturedStream:
    difference = stream["difference"]
    return CapturedStream(
        length=stream["bytes"],
        sha256=stream["sha256"],
        head=decode_bytes(stream["head"]),
        tail=decode_bytes(stream["tail"]),
        difference=None
        if difference is None
        else Difference(
            difference["offset"],
            difference["window_offset"],
            decode_bytes(difference["expected"]),
            decode_bytes(difference["observed"]),
        ),
    )
