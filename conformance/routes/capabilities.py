"""What an adapter's hello says of its system, and what a case needs of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.errors import InexpressibleError
from conformance.model import Expectation, Step
from conformance.observation import Basis
from conformance.payload import Payload, chunks
from conformance.status import Signalled, status_to_json

LARGEST_STREAM_BYTES = 16 * 1024 * 1024
"""What stands in one line is held in memory several times."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the system can do; what its adapter does not say, it cannot."""

    stdin: str = "none"
    output: str = "text"
    stderr: str = "merged"
    env: bool = False
    cwd: bool = False
    statuses: tuple[str, ...] = ("exited",)
    session: str = "none"
    decision: bool = False

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Capabilities:
        """Return the capabilities that a valid hello states."""
        lists = {key: tuple(value) for key, value in stated.items() if isinstance(value, list)}
        return cls(**{**stated, **lists})

    @property
    def basis(self) -> Basis:
        """What the comparison of its streams rests on."""
        return Basis(self.output)

    @property
    def merges(self) -> bool:
        """Whether standard error comes in standard output."""
        return self.stderr == "merged"


def check_expressible(capabilities: Capabilities, step: Step, expectation: Expectation) -> None:
    """Raise InexpressibleError where the system lacks what `step` needs, or what its outcome would be told by."""
    for reason in _lacking(capabilities, step, expectation):
        raise InexpressibleError(reason)


def _lacking(capabilities: Capabilities, step: Step, expectation: Expectation) -> Iterator[str]:
    if step.wiring:
        yield "the system opens the streams of a body itself, so none of them can be closed or full"
    yield from _lacking_input(capabilities, step.stdin)
    yield from _lacking_output(capabilities, expectation)
    kind = status_to_json(expectation.status)["kind"]
    told_as_code = isinstance(expectation.status, Signalled) and "exited" in capabilities.statuses
    if kind not in capabilities.statuses and not told_as_code:
        yield f"the system does not tell that a body has {_KINDS[kind]}"


_KINDS = {
    "exited": "exited with a code",
    "signalled": "died of a signal",
    "timed_out": "been ended at its deadline",
    "failed_to_start": "not been started",
    "not_reported": "ended in a way that nobody can tell",
}


def _lacking_input(capabilities: Capabilities, stdin: Payload) -> Iterator[str]:
    if stdin.length and capabilities.stdin == "none":
        yield "the system gives a body no standard input"
    if stdin.length > LARGEST_STREAM_BYTES:
        yield _too_large("standard input")
    elif capabilities.stdin == "text" and not _is_text(stdin):
        yield "the system takes text for standard input, and this one is not UTF-8"


def _lacking_output(capabilities: Capabilities, expectation: Expectation) -> Iterator[str]:
    stdout, stderr = expectation.stdout, expectation.stderr
    for name, expected in (("standard output", stdout), ("standard error", stderr)):
        if expected is not None and expected.length > LARGEST_STREAM_BYTES:
            yield _too_large(name)
        elif expected is not None and capabilities.basis is Basis.TEXT and not _is_text(expected):
            yield f"the system hands on text only, and {name} is not UTF-8 here"
    if capabilities.merges and stderr is not None and stderr.length:
        yield "the system hands on standard output and standard error as one stream"
    if capabilities.merges and stderr is None and stdout is not None and stdout.length:
        yield "the system hands on one stream, in which standard error, that may be anything, cannot be told apart"


def _too_large(name: str) -> str:
    return f"{name} is larger than the {LARGEST_STREAM_BYTES} bytes that one line may hold"


def _is_text(payload: Payload) -> bool:
    try:
        b"".join(chunks(payload)).decode()
    except UnicodeDecodeError:
        return False
    return True


def unclaimed(capabilities: Capabilities, reply: Mapping[str, Any]) -> str | None:
    """Return in what a valid `reply` goes beyond what the hello has said; None where it does not."""
    kind = reply["status"]["kind"]
    if kind not in (*capabilities.statuses, "not_reported"):
        return f"it tells the status {kind!r}, which its hello does not name. Add it to capabilities.statuses"
    if reply["stderr"] and capabilities.merges:
        return 'it sends stderr, which its hello calls merged. Say stderr = "separate", or send it in stdout'
    if "decision" in reply and not capabilities.decision:
        return "it sends a decision, which its hello does not announce. Say decision = true"
    return None
