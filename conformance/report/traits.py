"""What else a route was seen to do with a hook: to its bytes, its input, its comments, and when it hangs or dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.observation import SAYS_NOTHING
from conformance.status import Exited, TimedOut, satisfies, status_from_json

Line = Mapping[str, Any]
Lines = Mapping[str, Line | None]
"""What came, by fixture; None where a fixture that the route takes was not run."""


@dataclass(frozen=True)
class Note:
    """What came of some fixtures, in words."""

    kept: bool | None
    """Whether that is what should have come; None where nothing came."""
    words: str
    fixtures: tuple[str, ...]


@dataclass(frozen=True)
class Trait:
    """One thing that was asked, and what came: one note where it was the same everywhere."""

    name: str
    notes: tuple[Note, ...]


Check = Callable[[Line, Lines], tuple[bool, str]]
"""Whether a line, among others, is as it should be, and what came in words."""


@dataclass(frozen=True)
class Question:
    """A trait, and how each of its fixtures tells it."""

    name: str
    checks: Mapping[str, Check]

    @property
    def fixtures(self) -> tuple[str, ...]:
        """The fixtures that tell it."""
        return tuple(self.checks)


def _as(twin: str, usual: str) -> Check:
    """Ask for the status that another fixture gets on the same route: its policy is no matter of the trait."""

    def check(line: Line, lines: Lines) -> tuple[bool, str]:
        came, wanted = line["status"], (lines.get(twin) or {}).get("status") or line["expected"]
        if came == wanted:
            return True, usual
        return False, f"{status_from_json(came)} in the place of {status_from_json(wanted)}"

    return check


def _exact_code(line: Line, _lines: Lines) -> tuple[bool, str]:
    came = status_from_json(line["status"])
    kept = came == status_from_json(line["expected"])
    return kept, "exact" if kept else str(came)


def _signal(line: Line, _lines: Lines) -> tuple[bool, str]:
    came = status_from_json(line["status"])
    kept = satisfies(status_from_json(line["expected"]), came)
    form = ", which is 128 and the signal's number" if isinstance(came, Exited) else ""
    return kept, f"{came}{form}" if kept else f"lost: {came}"


def _hang(line: Line, _lines: Lines) -> tuple[bool, str]:
    came = status_from_json(line["status"])
    hung = isinstance(came, TimedOut)
    return hung, "it runs until its deadline and is killed there" if hung else f"{came} before its deadline"


def _stream(name: str) -> Check:
    """Ask for all of a stream, exactly."""

    def check(line: Line, _lines: Lines) -> tuple[bool, str]:
        meaning = next((found["meaning"] for found in line["discrepancies"] if found["subject"] == name), "")
        return not meaning, meaning or "exact"

    return check


def _whole_input(line: Line, lines: Lines) -> tuple[bool, str]:
    if isinstance(status_from_json(line["status"]), TimedOut):
        return False, "it hung"
    kept, words = _stream("stdin")(line, lines)
    return kept, "64 KiB + 1 arrive whole" if kept else words


_BYTES = (
    "bytes/nul", "bytes/invalid-utf-8", "bytes/crlf-and-lone-cr", "bytes/deny-json-exit-2",
    "bytes/stdout-stderr-64k-plus-1", "bytes/both-streams-1m", "bytes/formatted-object",
)  # fmt: skip
_NO_MATTER = "no effect on the status"

TRAITS = (
    Question("exit 2 and 255", {"exit-codes/exit-2": _exact_code, "exit-codes/exit-255": _exact_code}),
    Question("return", {"mixtures/native-7-then-return": _as("native-codes/native-7", _NO_MATTER)}),
    Question(
        "comments",
        {
            "text/comment-own-line": _as("native-codes/native-7", _NO_MATTER),
            "text/comment-same-line": _as("native-codes/native-7", _NO_MATTER),
            "text/exit-comment-same-line": _as("exit-codes/exit-7", _NO_MATTER),
        },
    ),
    Question("signals", {"native-codes/killed-by-kill": _signal}),
    Question("hangs", {"processes/hang": _hang}),
    Question("stdin", {"bytes/stdin-64k-plus-1-read": _whole_input}),
    Question("unread stdin", {"bytes/stdin-1m-unread": _as("exit-codes/exit-2", _NO_MATTER)}),
    Question("stdout", dict.fromkeys(_BYTES, _stream("stdout"))),
    Question("stderr", dict.fromkeys(_BYTES, _stream("stderr"))),
)
"""What is asked besides the status policy, in the order in which it is told."""


def traits_of(lines: Lines) -> tuple[Trait, ...]:
    """Return what came of each trait that is asked of some fixture in `lines`."""
    traits = (Trait(question.name, tuple(_notes(question, lines))) for question in TRAITS)
    return tuple(trait for trait in traits if trait.notes)


def _notes(question: Question, lines: Lines) -> Iterator[Note]:
    found: dict[tuple[bool | None, str], list[str]] = {}
    for fixture, check in question.checks.items():
        if fixture in lines:
            found.setdefault(_told(lines[fixture], check, lines), []).append(fixture)
    for (kept, words), fixtures in found.items():
        yield Note(kept, words, tuple(fixtures))


def _told(line: Line | None, check: Check, lines: Lines) -> tuple[bool | None, str]:
    if line is None:
        return None, "not run"
    if line["result"] in SAYS_NOTHING:
        return None, f"{line['result']}: {line['reason']}"
    return check(line, lines)
