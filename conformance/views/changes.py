"""What changed between two reports: as text, as JSON, and as Markdown that is short enough for a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.report.changes import Change, ChangeKind, Changes
from conformance.report.codec import json_text
from conformance.report.outcome import Outcome
from conformance.status import status_from_json
from conformance.views.document import code, escaped
from conformance.views.outcome import as_json as outcome_as_json
from conformance.views.outcome import in_words
from conformance.views.text import printable

HEADINGS: Mapping[ChangeKind, str] = {
    ChangeKind.REGRESSED: "regressed",
    ChangeKind.UNAVAILABLE: "newly unavailable or skipped",
    ChangeKind.CHANGED: "changed observation",
    ChangeKind.FIXED: "fixed",
    ChangeKind.AVAILABLE: "newly available",
    ChangeKind.ADDED: "added",
    ChangeKind.REMOVED: "removed",
}
COMMENT_CHARACTERS = 60_000
"""A comment on GitHub may have 65,536."""
ONE_CHANGE_CHARACTERS = 1000


@dataclass(frozen=True)
class Comparison:
    """All that is told of two reports."""

    old: str
    new: str
    changes: Changes
    notes: Sequence[str]
    exit_code: int


def as_text(comparison: Comparison) -> Iterator[str]:
    """Yield the lines for a terminal or a log, the worst first."""
    for kind, count in comparison.changes.counts.items():
        yield f"{HEADINGS[kind]}: {count}\n"
        for change in comparison.changes.of(kind):
            yield f"  {printable(change.id)} on {printable(change.environment)}\n"
            yield from (f"    {side:<3}  {_line(text)}\n" for side, text in _sides(change))
        yield "\n"
    yield from (f"note: {_line(note)}\n" for note in comparison.notes)
    yield _total(comparison) + "\n"


def _line(text: str) -> str:
    return printable(text).replace("\n", " ")


def _total(comparison: Comparison) -> str:
    counts = comparison.changes.counts
    found = ", ".join(f"{count} {HEADINGS[kind]}" for kind, count in counts.items()) or "nothing changed"
    return f"{comparison.changes.compared} results compared: {found}"


def _sides(change: Change) -> Iterator[tuple[str, str]]:
    for side, outcome, line in zip(("was", "is"), change.outcomes, (change.old, change.new), strict=True):
        if outcome is not None and line is not None:
            place = "" if (line["id"], line["environment"]) == (change.id, change.environment) else f" ({_place(line)})"
            yield side, in_words(outcome, line) + place
    if change.old and change.new and change.old["expected"] != change.new["expected"]:
        yield "", f"the contract asked for {_expected(change.old)}, and asks for {_expected(change.new)} now"


def _place(line: Mapping[str, Any]) -> str:
    return f"{line['id']} on {line['environment']}"


def _expected(line: Mapping[str, Any]) -> str:
    return "nothing" if line["expected"] is None else str(status_from_json(line["expected"]))


def as_json(comparison: Comparison) -> Iterator[str]:
    """Yield the parts of one JSON object, however many changes there are."""
    head = {
        "old": comparison.old,
        "new": comparison.new,
        "compared": comparison.changes.compared,
        "counts": {str(kind): count for kind, count in comparison.changes.counts.items()},
        "notes": list(comparison.notes),
        "exit_code": comparison.exit_code,
    }
    yield json_text(head, indent=1).removesuffix("\n}") + ',\n "changes": ['
    separator = "\n"
    for kind in comparison.changes.counts:
        for change in comparison.changes.of(kind):
            yield separator + "  " + json_text(_change(change))
            separator = ",\n"
    yield "\n ]\n}\n"


def _change(change: Change) -> dict[str, Any]:
    sides = zip(("old", "new"), change.outcomes, (change.old, change.new), strict=True)
    return {
        "kind": str(change.kind),
        "id": change.id,
        "environment": change.environment,
        **{side: _side(outcome, line) for side, outcome, line in sides},
    }


def _side(outcome: Outcome | None, line: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if outcome is None or line is None:
        return None
    return {"id": line["id"], "environment": line["environment"], **outcome_as_json(outcome, line)}


def as_markdown(comparison: Comparison) -> Iterator[str]:
    """Yield a comment for a pull request: a line for each kind of change, its cases folded, cut where it gets long."""
    counts = comparison.changes.counts
    verdict = "regressions" if ChangeKind.REGRESSED in counts else "no regressions"
    top = [f"### conformance: {verdict}\n\n", f"{escaped(_total(comparison))}\n\n"]
    top += [f"> {escaped(note)}\n\n" for note in comparison.notes]
    yield from top
    room = COMMENT_CHARACTERS - sum(map(len, top))
    for kind, count in counts.items():
        text = _folded(comparison.changes, kind, count, room)
        yield text
        room -= len(text)


def _folded(changes: Changes, kind: ChangeKind, count: int, room: int) -> str:
    opened = " open" if kind is ChangeKind.REGRESSED else ""
    top, bottom = f"<details{opened}><summary>{HEADINGS[kind]}: {count}</summary>\n\n", "\n</details>\n\n"
    rows: list[str] = []
    left = room - len(top) - len(bottom) - 200
    for change in changes.of(kind):
        row = _item(change)
        left -= len(row)
        if left < 0:
            break
        rows.append(row)
    more = count - len(rows)
    rows += [f"- and {more} more: `conformance diff` shows them all\n"] if more else []
    return top + "".join(rows) + bottom


def _item(change: Change) -> str:
    rows = [f"- {code(change.id)} on {code(change.environment)}\n"]
    rows += [f"  - {side or 'note'}: {code(_shortened(text))}\n" for side, text in _sides(change)]
    return "".join(rows)


def _shortened(text: str) -> str:
    return text if len(text) <= ONE_CHANGE_CHARACTERS else text[: ONE_CHANGE_CHARACTERS - 1] + "…"
