"""What a case needs of an adapter's system, and how it is skipped where that lacks it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.condition import Condition
from conformance.errors import InexpressibleError
from conformance.model import Expectation, Origin, Step
from conformance.observation import Basis
from conformance.payload import EMPTY, Literal, Payload, Repeat
from conformance.routes.capabilities import LARGEST_STREAM_BYTES, Capabilities, check_expressible
from conformance.status import Exited, ExitStatus, Signalled, TimedOut

ABLE = Capabilities(
    stdin="bytes",
    output="bytes",
    stderr="separate",
    env=True,
    cwd=True,
    statuses=("exited", "signalled", "timed_out", "failed_to_start"),
    session="kept",
    decision=True,
)
TEXT, BINARY = Literal("grüße\n".encode()), Literal(b"\xff\xfe\n")
SUCCESS = Exited(0)
TOO_LARGE = Repeat(b"x", LARGEST_STREAM_BYTES + 1)


def expecting(
    status: ExitStatus = SUCCESS, stdout: Payload | None = EMPTY, stderr: Payload | None = EMPTY
) -> Expectation:
    return Expectation(status, stdout, stderr, None, Condition(), "r", "u", (), Origin("f", 1))


def step(stdin: Payload = EMPTY, **wiring: str) -> Step:
    return Step({"sh": "x"}, stdin, (), wiring)


NEEDS = {
    "standard input": (replace(ABLE, stdin="none"), step(TEXT), expecting(), "gives a body no standard input"),
    "binary input": (replace(ABLE, stdin="text"), step(BINARY), expecting(), "takes text for standard input"),
    "a large input": (ABLE, step(TOO_LARGE), expecting(), "standard input is larger than"),
    "binary output": (replace(ABLE, output="text"), step(), expecting(stdout=BINARY), "standard output is not UTF-8"),
    "binary errors": (replace(ABLE, output="text"), step(), expecting(stderr=BINARY), "standard error is not UTF-8"),
    "a large output": (ABLE, step(), expecting(stdout=TOO_LARGE), "standard output is larger than"),
    "errors apart": (replace(ABLE, stderr="merged"), step(), expecting(stderr=TEXT), "as one stream"),
    "output beside any errors": (
        replace(ABLE, stderr="merged"), step(), expecting(stdout=TEXT, stderr=None), "cannot be told apart",
    ),
    "an end at the deadline": (replace(ABLE, statuses=("exited",)), step(), expecting(TimedOut()), "at its deadline"),
    "a death by a signal": (replace(ABLE, statuses=("timed_out",)), step(), expecting(Signalled(9)), "of a signal"),
    "an exit code": (replace(ABLE, statuses=("signalled",)), step(), expecting(Exited(7)), "exited with a code"),
    "a closed stream": (ABLE, step(stdout="closed"), expecting(), "opens the streams of a body itself"),
}  # fmt: skip


@pytest.mark.parametrize("need", NEEDS)
def test_a_case_is_skipped_for_what_the_system_lacks(need: str) -> None:
    capabilities, needing, expectation, reason = NEEDS[need]
    with pytest.raises(InexpressibleError, match=reason):
        check_expressible(capabilities, needing, expectation)


@pytest.mark.parametrize("need", [need for need in NEEDS if "large" not in need and "stream" not in need])
def test_and_not_where_the_system_has_it(need: str) -> None:
    _, needing, expectation, _ = NEEDS[need]
    check_expressible(ABLE, needing, expectation)


@pytest.mark.parametrize(
    ("capabilities", "needing", "expectation"),
    [
        (Capabilities(), step(), expecting(Exited(7), TEXT)),
        (Capabilities(), step(), expecting(Exited(7), EMPTY, None)),
        (Capabilities(), step(), expecting(Signalled(9))),
        (replace(ABLE, stdin="text", output="text"), step(TEXT), expecting(stdout=TEXT, stderr=TEXT)),
    ],
    ids=["text from a system that can nothing", "its status alone", "a signal as 128+n", "text both ways"],
)
def test_a_case_needs_no_more_than_it_uses(capabilities: Capabilities, needing: Step, expectation: Expectation) -> None:
    check_expressible(capabilities, needing, expectation)


def test_what_a_hello_leaves_out_the_system_cannot_do() -> None:
    assert Capabilities.of({}) == Capabilities()
    assert Capabilities().basis is Basis.TEXT
    stated = {"output": "bytes", "statuses": ["timed_out"]}
    assert Capabilities.of(stated) == Capabilities(output="bytes", statuses=("timed_out",))
