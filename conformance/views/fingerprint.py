"""The fingerprint of a route, on one screen."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.observation import Basis
from conformance.report.fingerprint import Fingerprint, Row, describe
from conformance.report.policies import POLICIES
from conformance.report.traits import Note, Trait
from conformance.status import status_to_json
from conformance.views.terminal import TEXT_NOTE, short_status
from conformance.views.text import printable

STYLES = {True: "green", False: "yellow", None: "dim"}
"""Of what is kept, what is lost, and what did not come."""


def fingerprint_screen(fingerprint: Fingerprint, cut_short: str) -> RenderableType:
    """Return the policy and the codes that show it, then the traits; `cut_short` says what is missing, if anything."""
    parts: list[RenderableType] = [*_verdict(fingerprint), Text(), _codes(fingerprint), Text(), _traits(fingerprint)]
    if fingerprint.not_asked:
        spoken = " or ".join(fingerprint.route.dialects)
        parts += [Text(), Text(f"not asked, for want of a body in {spoken}: {', '.join(fingerprint.not_asked)}")]
    if cut_short:
        parts += [Text(), Text(printable(cut_short), style="bold red")]
    return Group(*parts)


def _verdict(fingerprint: Fingerprint) -> Iterator[Text]:
    yield Text(f"{fingerprint.route.id}: {describe(fingerprint)}", style="bold")
    yield Text(f"  on: {printable(', '.join(fingerprint.environments))}")
    if fingerprint.basis is Basis.TEXT:
        yield Text(f"  {TEXT_NOTE}")
    yield from (Text(f"  {name}: {POLICIES[name]}") for name in fingerprint.candidates)
    stated = fingerprint.route.fingerprint
    if fingerprint.as_stated is False:
        yield Text(f"  The matrix states {stated}, which is not what was seen.", style="bold red")
    elif stated is not None:
        agrees = "as the matrix states" if fingerprint.as_stated else "too little was seen to tell"
        yield Text(f"  stated: {stated} ({agrees})")


def _codes(fingerprint: Fingerprint) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("fixture (brackets: not what came)", overflow="fold", min_width=12)
    table.add_column("came", no_wrap=True)
    for policy in fingerprint.policies:
        table.add_column(policy.replace("-", "\n", 1), no_wrap=True)
    for row in fingerprint.rows:
        table.add_row(row.telling.fixture, _came(row), *(_code(row, policy) for policy in fingerprint.policies))
    return table


def _came(row: Row) -> Text:
    if row.status is None:
        return Text("-", style="dim")
    return Text(short_status(status_to_json(row.status)), style="bold")


def _code(row: Row, policy: str) -> Text:
    code = str(row.telling.codes[policy])
    if row.status is None:
        return Text(code, style="dim")
    return Text(code, style="green") if row.is_as(policy) else Text(f"({code})", style="yellow")


def _traits(fingerprint: Fingerprint) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for trait in fingerprint.traits:
        table.add_row(trait.name, Text("; ").join(_note(note, trait) for note in trait.notes))
    missing: dict[str, list[str]] = {}
    for row in fingerprint.rows:
        if row.status is None:
            missing.setdefault(row.why_not, []).append(row.telling.fixture)
    for why, fixtures in missing.items():
        table.add_row("did not come", Text(f"{printable(why)}: {', '.join(fixtures)}", style="dim"))
    return table


def _note(note: Note, trait: Trait) -> Text:
    some = f" ({', '.join(note.fixtures)})" if len(trait.notes) > 1 and not note.kept else ""
    return Text(printable(note.words) + some, style=STYLES[note.kept])
