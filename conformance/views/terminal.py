"""The grid of fixtures and routes, and the summary below it, for a terminal or a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.observation import Basis
from conformance.report.history import Earlier
from conformance.status import signal_name
from conformance.views.text import printable

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
PROVISIONAL_NOTE = " (provisional: this shell was not seen on this system before, so it does not fail the run)"


def console_for_logs(console: Console) -> Console:
    """Return a console that never breaks a row where the output is no terminal: a broken grid misleads."""
    if console.file.isatty():
        return console
    return Console(file=console.file, width=UNLIMITED, soft_wrap=True, highlight=False)


def grid(lines: Sequence[Line], routes: Sequence[str], console: Console) -> RenderableType:
    """Return the table of results, a row a fixture and a column a route, that fits `console`."""
    cells = {(line["fixture"], line["route"]): line for line in lines}
    fixtures = sorted({line["fixture"] for line in lines})
    wide = _table([route.replace("-", "\n", 1) for route in routes])
    for fixture in fixtures:
        wide.add_row(fixture, *(cell(cells.get((fixture, route))) for route in routes))
    if console.measure(wide, options=console.options.update(max_width=UNLIMITED)).maximum <= console.width:
        return wide
    narrow = _table([str(number) for number, _ in enumerate(routes, start=1)])
    for fixture in fixtures:
        narrow.add_row(fixture, *(_letter(cells.get((fixture, route))) for route in routes))
    legend = [f"{number} {route}" for number, route in enumerate(routes, start=1)]
    shown = {line["result"] for line in lines}
    legend += [f"{letter} {kind}" for kind, letter in LETTERS.items() if kind in shown]
    legend += [f"{ON_TEXT} {TEXT_NOTE}"] if any(map(_on_text, lines)) else []
    return Group(narrow, *map(Text, legend))


def _table(columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("fixture", overflow="fold", min_width=12)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def _letter(line: Line | None) -> Text:
    if line is None:
        return Text("-", style="dim")
    mark = ON_TEXT if _on_text(line) else ""
    return Text(LETTERS[line["result"]] + mark, style=STYLES[line["result"]])


def _on_text(line: Line) -> bool:
    return bool(line["basis"] == Basis.TEXT)


def cell(line: Line | None) -> Text:
    """Return what the grid shows of a result: `ok`, `dev 7>1`, and `ok~` for one on text."""
    if line is None:
        return Text("-", style="dim")
    word = WORDS[line["result"]] + (ON_TEXT if _on_text(line) else "")
    if line["result"] in ("deviates", "fail"):
        word = f"{word} {_difference(line)}"
    return Text(word + ("?" if line["provisional"] else ""), style=STYLES[line["result"]])


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


def summary(lines: Sequence[Line], findings: Iterable[str]) -> RenderableType:
    """Return what needs attention, each with its reason, and the counts."""
    parts: list[RenderableType] = []
    for line in lines:
        if line["result"] in ("fail", "fixed"):
            note = PROVISIONAL_NOTE if line["provisional"] else ""
            heading = f"\n{WORDS[line['result']]} {line['id']} on {line['environment']}{note}"
            parts += [Text(heading, style=STYLES[line["result"]]), Text(printable(line["reason"]))]
    parts += _grouped(lines, ("error",), "ERROR", STYLES["error"])
    parts += [Text(f"\nFAIL {finding}", style="bold red") for finding in findings]
    parts += _grouped(lines, ("unavailable", "skipped"), "not run", "bold")
    counts = Counter(line["result"] for line in lines)
    parts.append(Text())
    parts += [
        Text.assemble((f"{counts[kind]:5d} {kind:<12}", STYLES[kind]), meaning)
        for kind, meaning in MEANINGS
        if counts[kind]
    ]
    on_text = sum(map(_on_text, lines))
    if on_text:
        parts.append(Text(f"{on_text:5d} of them {TEXT_NOTE} ({ON_TEXT})"))
    provisional = sum(bool(line["provisional"]) for line in lines)
    if provisional:
        parts.append(
            Text(f"{provisional:5d} of them provisional: not seen before on this shell and system, so they fail no run")
        )
    return Group(*parts)


def changes(lines: Sequence[Line], earlier: Mapping[tuple[str, str], Earlier], suite: str) -> RenderableType:
    """Return in what `lines`, of a run of the suite with the digest `suite`, differ from the last results here."""
    known = [(line, earlier[key]) for line in lines if (key := (line["id"], line["environment"])) in earlier]
    changed = [(line, before) for line, before in known if cell(before.line) != cell(line)]
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


def _cases(count: int) -> str:
    return f"{count or 'no'} case{'' if count == 1 else 's'}"


def _grouped(lines: Sequence[Line], results: Sequence[str], word: str, style: str) -> list[RenderableType]:
    """Say a reason once, however many cases have it."""
    groups: dict[str, list[str]] = {}
    for line in lines:
        if line["result"] in results:
            groups.setdefault(line["reason"], []).append(line["id"])
    return [
        Text(f"\n{word}: {min(ids)}{_and_more(len(ids) - 1)}: {printable(reason)}", style=style)
        for reason, ids in groups.items()
    ]


def _and_more(count: int) -> str:
    return f" and {count} more" if count else ""
