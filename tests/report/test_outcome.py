"""What came of a case: equal for two runs that came out the same, and for no others."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from report_files import DEVIATION, exited, result_of

from conformance.report.outcome import Outcome, outcome_of

ID = "topic/name/route"


def stream(data: bytes, *, differs: bool = True) -> dict[str, Any]:
    text = base64.b64encode(data).decode()
    difference = {"offset": 0, "window_offset": 0, "expected": "", "observed": text}
    digest = hashlib.sha256(data).hexdigest()
    return {
        "bytes": len(data), "sha256": digest, "head": text, "tail": text, "difference": difference if differs else None
    }  # fmt: skip


def step(**changes: Any) -> dict[str, Any]:
    return {**result_of(ID)["steps"][0], **changes}


def lost(*subjects: str, meaning: str = "it was lost") -> list[dict[str, str]]:
    return [{"subject": subject, "meaning": meaning} for subject in subjects]


def line(result: str = "fail", *, anything: Sequence[str] = (), **changes: Any) -> Mapping[str, Any]:
    held = {**DEVIATION, "anything": list(anything)} if anything else None
    return {**result_of(ID, result, **changes), "deviation": held}


@pytest.mark.parametrize(
    "noise",
    [
        {"seconds": 99.0},
        {"leftovers": [{"pid": 7, "command": "sleep 60"}]},
        {"stdin": {"sent": 4096, "broken_pipe": True}},
        {"stdout": stream(b"pid 7", differs=False)},
        {"witness": {"marks": 2, "received": []}},
    ],
    ids=lambda noise: str(*noise),
)
def test_what_differs_from_run_to_run_does_not_count(noise: dict[str, Any]) -> None:
    assert outcome_of(line(steps=[step(**noise)])) == outcome_of(line())


@pytest.mark.parametrize(
    "other",
    [
        line("pass"),
        line("error", reason="the route broke"),
        line("error", reason="it broke otherwise"),
        line(came=1),
        line(steps=[step(), step()]),
        line(steps=[step(decision="block")]),
        line(steps=[step(decision="allow")]),
        line(discrepancies=lost("stdout")),
        line(discrepancies=lost("stderr")),
        line(discrepancies=lost("stdout", meaning="its end was lost")),
        line(steps=[step(stdout=stream(b"x"))]),
        line(steps=[step(stdout=stream(b"y"))]),
        line(steps=[step(stderr=stream(b"x"))]),
        line(steps=[step(status=exited(7)), step()]),
        line(steps=[step(), step(status=exited(7))]),
    ],
)
def test_what_the_contract_speaks_of_counts(other: Mapping[str, Any]) -> None:
    assert outcome_of(other) != outcome_of(line())
    assert outcome_of(other) == outcome_of(dict(other))
    assert len({outcome_of(other), outcome_of(dict(other)), outcome_of(line())}) == 2


def deviating(stdout: dict[str, Any], *subjects: str, meaning: str = "it was changed") -> Mapping[str, Any]:
    found = lost(*subjects, meaning=meaning)
    return line("deviates", anything=("stdout",), steps=[step(stdout=stdout)], discrepancies=found)


def test_a_stream_that_is_documented_as_anything_does_not_count() -> None:
    first = outcome_of(deviating(stream(b"[1] 10791"), "stdout"))
    assert outcome_of(deviating(stream(b"[1] 21192"), "stdout")) == first
    assert outcome_of(deviating(stream(b"[1]"), "stdout", meaning="its end was lost")) == first
    assert outcome_of(deviating(stream(b"", differs=False))) == first
    assert outcome_of(deviating(stream(b"[1] 10791"), "stdout", "stdin")) != first


def test_a_documented_stream_counts_where_it_is_told_and_where_it_is_not_what_came() -> None:
    def came(data: bytes, result: str, *anything: str) -> Mapping[str, Any]:
        return line(result, anything=anything, steps=[step(stdout=stream(data))], discrepancies=lost("stdout"))

    for result, anything in (("deviates", ("stderr",)), ("fail", ("stdout",)), ("fixed", ("stdout",))):
        assert outcome_of(came(b"a", result, *anything)) != outcome_of(came(b"b", result, *anything))


def test_the_words_of_a_system_that_reports_no_status_count_unless_it_is_documented() -> None:
    def silent(result: str, words: str) -> Outcome:
        status = {"kind": "not_reported", "reason": words}
        return outcome_of(line(result, anything=("stdin",), steps=[step(status=status)]))

    assert silent("deviates", "stdout is too long") == silent("deviates", "stderr is too long")
    assert silent("deviates", "stdout is too long") != outcome_of(line("deviates", anything=("stdin",)))
    assert silent("fail", "stdout is too long") != silent("fail", "stderr is too long")


def test_a_sentence_says_it() -> None:
    assert str(outcome_of(line("pass"))) == "pass exited(0)"
    two = [step(status=exited(7)), step(status=exited(1))]
    found = [*lost("status", meaning="another code"), *lost("stdout", meaning="its final newline was lost")]
    assert str(outcome_of(line(steps=two, discrepancies=found))) == (
        "fail exited(7), exited(1): its final newline was lost"
    )
    assert str(outcome_of(line("skipped", reason="it has no stdin"))) == "skipped: it has no stdin"
