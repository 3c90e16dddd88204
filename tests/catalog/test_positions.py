"""The line of every table, in documents with strings and comments that look like tables."""

from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.catalog.positions import table_lines

DECOYS = [
    "[[fixture]]",
    "[fixture.body]",
    "[[fixture.expect]]",
    "id = 3",
    "# note",
    "x = { y = 1 }",
    "",
    "'",
    '"',
    '""',
]
KEYS = st.sampled_from(["summary", "'quoted [[fixture]]'", '"a.b"', "body.sh", "when . os"])


@st.composite
def values(draw: st.DrawFn) -> str:
    """Return a value, some of them over several lines that look like anything."""
    lines = "\n".join(draw(st.lists(st.sampled_from(DECOYS), max_size=4)))
    basic = lines.replace('"', r"\"")
    literal = lines.replace("'", "")
    return draw(
        st.sampled_from(
            [
                f'"""{basic}"""',
                f'"""{basic}"""""',
                f"'''{literal}'''",
                f"'''\n{literal}'''''",
                f'["""{basic}"""", "]] {{", """"x""""", "["]',
                '"[[fixture]] # \\" no"',
                "'[[fixture]]'",
                "[1, 2.5, 1979-05-27 07:32:00]",
                f'[ # [[fixture]]\n"""{basic}""", [], [{{}}, {{ a = [] }}],\n]',
                "{ a = { b = '}' }, c = [ ] } # [x]",
                "true",
            ]
        )
    )


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[tuple[str | int, ...], int]]:
    """Return a document of fixtures and their expectations, and the line of each."""
    text, lines = draw(st.sampled_from(["", "# [[fixture]]\n", 'top = """\n[[fixture]]"""\n'])), {}

    def table(header: str, position: tuple[str | int, ...]) -> None:
        nonlocal text
        lines[position] = text.count("\n") + 1
        indent = draw(st.sampled_from(["", "  ", "\t"]))
        text += f"{indent}{header}{draw(st.sampled_from(['', ' # [[fixture]]', '  ']))}\n"
        for key in draw(st.lists(KEYS, max_size=3, unique=True)):
            text += f"{key} = {draw(values())}\n" + "\n" * draw(st.integers(0, 1))

    for fixture in range(draw(st.integers(1, 3))):
        table(
            draw(st.sampled_from(["[[fixture]]", "[[ fixture ]]", "[['fixture']]", '[["fixture"]]'])),
            ("fixture", fixture),
        )
        for number in range(draw(st.integers(0, 3))):
            header = draw(st.sampled_from(["[[fixture.expect]]", '[[fixture . "expect"]]']))
            table(header, ("fixture", fixture, "expect", number))
        if draw(st.booleans()):
            table("[fixture.stdin]", ("fixture", fixture, "stdin"))
    return text, lines


@settings(max_examples=100, deadline=None)
@given(documents(), st.booleans())
def test_every_header_has_its_line(document: tuple[str, dict[tuple[str | int, ...], int]], crlf: bool) -> None:  # noqa: FBT001
    text, lines = document
    tomllib.loads(text)
    found = table_lines(text.replace("\n", "\r\n") if crlf else text)
    assert {position: found.get(position) for position in lines} == lines
    headers = {
        p
        for p in found
        if p[0] == "fixture" and len(p) in (2, 4) and isinstance(p[-1], int) and p[2:3] in ((), ("expect",))
    }
    assert headers == {position for position in lines if position[-1] != "stdin"}


def test_tables_written_inline_have_the_line_of_their_brace() -> None:
    text = 'a = [{ b = 1 }, # {\n  { c = [ "{", {} ] }, { d = { e = {} } },\n]\n\nx.y = {}\n'
    found = table_lines(text)
    assert found == {
        ("a",): 1, ("a", 0): 1, ("a", 1): 2, ("a", 1, "c", 1): 2, ("a", 2): 2, ("a", 2, "d"): 2, ("a", 2, "d", "e"): 2,
        ("x", "y"): 5,
    }  # fmt: skip
