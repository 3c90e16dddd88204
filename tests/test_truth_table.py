"""What is expected of PowerShell, held against a table of what one was seen to give when the table was measured.

`tests/data/pwsh-7.6.9-linux.tsv` says how that was done. It knows nothing of this project's fixtures, so a body that
both have is an independent witness: the codes that the catalogue states for it must be those of the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from conformance.catalog import Catalog, load_catalog
from conformance.engine import terms_of
from conformance.model import ONE_SHOT, Case, EnvironmentKey
from conformance.status import Exited, ExitStatus, Signalled
from conformance.template import Placeholder, render

TABLE = Path(__file__).parent / "data" / "pwsh-7.6.9-linux.tsv"
MEASURED_ON = EnvironmentKey("linux", "x86_64", "pwsh", "7.6.9", "local")
MODES = {
    "-Command": "Command",
    "-command": "Command",
    "-File": "File",
    "-EncodedCommand": "EncodedCommand",
}
"""The word before the text on a command line, and the name that the table has for this way; `-` is a way of its own."""

_CODE = re.compile(r"(?<=exit )([2-9]|[1-9]\d)(?![\d.\w])")
_SPELLINGS = (
    (r"'[a-z ]+'|\"[a-z]+\"", "'word'"),
    (r"Write-Error \w+", "Write-Error 'word'"),
    (r"Get-Date \| Out-Null", "'word'"),
    (r"#[ \w]+", "# comment"),
    (r"(?i)\$host\b", "$host"),
    (r"\$(answer|number|item|i|line|x)\b", "$x"),
    (r" *(=|/) *", r"\1"),
    (r"\{ *\}", "{}"),
    (r"\bnosuch\w*|conformance-no-such-program", "nosuch"),
    (r"/nonexistent-conformance", "/nonexistent"),
    (r"-ErrorAction\b", "-EA"),
    (r"\[int\]\$LASTEXITCODE", "$LASTEXITCODE"),
    (r"\./\w+\.(ps1|psm1)", r"./file.\1"),
    (r"[ \t]+", " "),
)
"""What may be written in two ways without another meaning: names, and statements that only print or succeed."""
_LINE_ENDS = (
    (r"[;\n][;\s]*", "\n"),
    (r"(?<=[{}]) *\n", " "),
    (r" *\n *(?=})", " "),
)
"""What means the same in a whole text, but not behind a comment, and not where pwsh takes it line by line."""


@dataclass(frozen=True)
class Text:
    """A launched text in one spelling, with letters for its exit codes, so that a 3 here may be a 7 there."""

    spelling: str
    codes: Mapping[str, str]

    def outcome(self, status: ExitStatus) -> str:
        """Return `status` in the letters of this text; a code that the text does not name stays a number."""
        if isinstance(status, Exited):
            return self.codes.get(str(status.code), str(status.code))
        assert isinstance(status, Signalled)
        return f"signal {status.number}"


def canonical(text: str, mode: str) -> Text:
    codes: dict[str, str] = {}

    def letter(found: re.Match[str]) -> str:
        return codes.setdefault(found[0], "ABCDEFGH"[len(codes)])

    text = text.replace("{{mark}}\n", "").replace("{{mark}};", "")
    text = re.sub(r"\{\{native:(\d+)\}\}", r"bash -c 'exit \1'", text)
    for name in re.findall(r"function ([\w-]+)", text):
        text = re.sub(rf"(?<![\w-]){name}(?![\w-])", "f", text)
    text = _CODE.sub(letter, text)
    for pattern, spelling in _SPELLINGS if mode == "CommandStdin" or "#" in text else _SPELLINGS + _LINE_ENDS:
        text = re.sub(pattern, spelling, text)
    return Text(text.strip(), codes)


@cache
def full() -> Catalog:
    return load_catalog(["full"])


@cache
def measured() -> Mapping[tuple[str, str], list[tuple[str, Text, ExitStatus]]]:
    """Return the rows of the table by mode and canonical text: their ids, texts and statuses."""
    rows: defaultdict[tuple[str, str], list[tuple[str, Text, ExitStatus]]] = defaultdict(list)
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        id_, mode, body, code = line.split("\t")
        text = canonical(body.replace("\\n", "\n").replace("\\\\", "\\"), mode)
        status = Exited(int(code)) if int(code) >= 0 else Signalled(-int(code))
        rows[mode, text.spelling].append((id_, text, status))
    return rows


def launched(case: Case) -> tuple[str, str] | None:
    """Return the mode in which `case` starts pwsh, and the text that pwsh gets, with the body's templates in it.

    None where the table has no such mode, or knows nothing of the surroundings.
    """
    if case.route.kind != ONE_SHOT:
        return None
    (step,) = case.fixture.steps
    body = step.bodies["pwsh"]

    def value(placeholder: Placeholder) -> str:
        if placeholder.name == "file":
            return render(case.route.files[placeholder.argument or ""], value)
        return body

    *_, word, text = case.route.argv
    if step.stdin.length or step.wiring or word not in MODES or (word == "-File" and text != "{{body_file}}"):
        return None
    if text == "-":
        return "CommandStdin", render(case.route.stdin or "", value)
    return MODES[word], body if word == "-EncodedCommand" else render(text, value)


def rows_for(case: Case) -> list[tuple[str, Text, Text, ExitStatus]]:
    mode_and_text = launched(case) if case.dialect == "pwsh" else None
    if mode_and_text is None:
        return []
    mode, text = mode_and_text
    own = canonical(text, mode)
    return [(id_, own, other, status) for id_, other, status in measured().get((mode, own.spelling), ())]


def stated(case: Case) -> ExitStatus:
    """Return the status that the catalogue states for `case`: what is documented, or else what is expected."""
    terms = terms_of(full(), case, MEASURED_ON)
    documented = terms.deviation.observed[0].status if terms.deviation is not None else None
    return documented or terms.expectations[-1].status


def contradictions(case: Case, status: ExitStatus) -> list[str]:
    return [
        f"{case.id}: the catalogue has {status}, row {id_} of the table has {seen}"
        for id_, own, other, seen in rows_for(case)
        if own.outcome(status) != other.outcome(seen)
    ]


COMPARED = [case for case in full().cases() if rows_for(case)]


@pytest.mark.parametrize("case", COMPARED, ids=lambda case: case.id)
def test_no_expectation_contradicts_the_table(case: Case) -> None:
    assert contradictions(case, stated(case)) == []


def test_enough_is_compared_and_a_contradiction_would_be_seen() -> None:
    assert len({case.fixture.id for case in COMPARED}) > 90
    assert len(COMPARED) > 400
    for case in COMPARED:
        assert contradictions(case, Exited(99)), case.id


def test_every_row_of_the_table_is_used() -> None:
    used = {id_ for case in COMPARED for id_, *_ in rows_for(case)}
    unused = {id_ for rows in measured().values() for id_, *_ in rows} - used
    assert unused == set()
