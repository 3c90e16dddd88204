"""What the grid shows of a result, and what changed since the last results, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from conformance.observation import Basis
from conformance.report.history import Earlier
from conformance.report.outcome import Outcome, outcome_of
from conformance.status import signal_name

Line = Mapping[str, Any]

STYLES = {
    "pass": "green", "deviates": "yellow", "fail": "bold red", "fixed": "bold magenta",
    "error": "bold red", "unavailable": "dim", "skipped": "dim",
}  # fmt: skip
WORDS = {
    "pass": "ok", "deviates": "dev", "fail": "FAIL", "fixed": "FIXED",
    "error": "ERROR", "unavailable": "n/a", "skipped": "skip",
}  # fmt: skip
LETTERS = {
    "pass": ".", "deviates": "d", "fail": "F", "fixed": "X",
    "error": "E", "unavailable": "n", "skipped": "s",
}  # fmt: skip
MEANINGS = (
    ("pass", "the exact exit status and the exact bytes came through"),
    ("deviates", "they did not, exactly as is documented"),
    ("fail", "they did not, and nothing documents that"),
    ("fixed", "a documented deviation no longer happens"),
    ("error", "the harness or the route is broken"),
    ("unavailable", "the shell or the runner is missing"),
    ("skipped", "the route cannot express the fixture"),
)


UNLIMITED = 10**9
"""A width in characters that no grid needs."""
CHANGES_SHOWN = 20
ON_TEXT = "~"
TEXT_NOTE = "judged on text: the system hands on no exact bytes"
PROVISIONAL_MEANING = "not seen before on this shell and system, so they fail no run"
PROVISIONAL_NOTE = " (provisional: this shell was not seen on this system before, so it does not fail the run)"


def console_for_logs(console: Console) -> Console:
    """Return a console that never breaks a row where the output is no terminal: a broken grid misleads."""
    if console.file.isatty():
        return console
    return Console(file=console.file, width=UNLIMITED, soft_wrap=True, highlight=False)


def cell(line: Line) -> Text:
    """Return what the grid shows of a result: `ok`, `dev 7>1`, and `ok~` for one on text."""
    return Text(word(line), style=STYLES[line["result"]])


def word(line: Line) -> str:
    """Return what `cell` shows, without its style."""
    shown = WORDS[line["result"]] + (ON_TEXT if line["basis"] == Basis.TEXT else "")
    if line["result"] in ("deviates", "fail"):
        shown = f"{shown} {_difference(line)}"
    return shown + ("?" if line["provisional"] else "")


def _difference(line: Line) -> str:
    subjects = [found["subject"] for found in line["discrepancies"]]
    return (
        f"{short_status(line['expected'])}>{short_status(line['status'])}"
        if "status" in subjects
        else ",".join(subjects)
    )


def short_status(status: Mapping[str, Any]) -> str:
    """Return a status in a few characters: `7`, `KILL`, `hang`."""
    if status["kind"] == "exited":
        return str(status["code"])
    if status["kind"] == "signalled":
        return signal_name(status["number"]).removeprefix("SIG")
    return {"timed_out": "hang", "failed_to_start": "unstartable"}.get(status["kind"], "nothing")


def changes(lines: Sequence[Line], earlier: Mapping[tuple[str, str], Earlier], suite: str) -> RenderableType:
    """Return in what `lines`, of a run of the suite with the digest `suite`, differ from the last results here."""
    known = [(line, earlier[key]) for line in lines if (key := (line["id"], line["environment"])) in earlier]
    changed = [(line, before) for line, before in known if _outcome(before.line) != _outcome(line)]
    newest = max(before.finished_at for _, before in known)
    heading = f"\nsince the last results here (the newest of {newest}): {_cases(len(changed))} changed"
    if len(known) < len(lines):
        heading += f", {_cases(len(lines) - len(known))} without any"
    if any(before.suite != suite for _, before in changed):
        heading += "; the suite has changed as well"
    shown = [
        Text.assemble("  ", cell(before.line), " -> ", cell(line), f"  {line['id']}")
        for line, before in changed[:CHANGES_SHOWN]
    ]
    more = [Text(f"  and {len(changed) - CHANGES_SHOWN} more")] if len(changed) > CHANGES_SHOWN else []
    return Group(Text(heading), *shown, *more)


def _outcome(line: Line) -> tuple[Outcome, str]:
    return outcome_of(line), word(line)


def _cases(count: int) -> str:
    return f"{count or 'no'} case{'' if count == 1 else 's'}"
