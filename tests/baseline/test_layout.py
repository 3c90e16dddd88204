"""An entry that changes is edited where it stands: it says what it should, and its comments stay."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.baseline.document import Document
from conformance.baseline.layout import edited_table, new_table, observed_text
from conformance.baseline.slots import Slot
from conformance.catalog.matrices import deviations_in
from conformance.catalog.positions import table_lines
from conformance.catalog.source import SourceFile, check_source
from conformance.condition import Condition
from conformance.errors import UsageError
from conformance.model import Deviation, Happens, Origin

STYLES = {
    "plain": """\
[[deviation]]
routes = ["mytool"]
fixtures = ["a/one", "a/two"]
observed = { exit = 1 }
reason = "why"
url = "https://example.org"
""",
    "many lines": """\
[[deviation]] # header
  # above
routes = [ "mytool" ] # beside
fixtures = [ # opening
  "a/one", # first

  # between
  "a/two"
  # last
]
when = { os = "linux" } # when
observed = { exit = 1, stdout = { text = "a # b" } } # observed
reason = '''
# no comment
[[deviation]]'''
url = "https://example.org"
""",
    "dotted keys": """\
[["deviation"]]
observed.exit = 1
observed.stdout.text = "x"
when.os = "linux"
when.shell = "bash"
except = ["a/*"]
fixtures = ["b/one", "a/two"]
url = "https://example.org"
routes = ["mytool"]
reason = "why"
""",
    "tables inside": """\
[[ deviation ]]
routes = ["mytool"]
fixtures = ["a/one"]
reason = "why" # reason
url = "https://example.org"

# a table of its own
[deviation.when]
os = "linux"
[ deviation . observed ]
exit = 1
[deviation.observed.stdout]
text = "x"
""",
    "flaky": """\
[[flaky]]
routes = ["mytool"]
fixtures = ["a/one"]
observed = [
  { exit = 1 }, # one
  { timed_out = true },
]
reason = "why"
url = "https://example.org"
""",
    "flaky tables": """\
[[flaky]]
routes = ["mytool"]
fixtures = ["a/one"]
reason = "why"
url = "https://example.org"
[[flaky.observed]]
exit = 1
[[flaky.observed]]
exit = 2
""",
}


def read(text: str) -> tuple[Deviation, ...]:
    source = SourceFile("m", tomllib.loads(text), table_lines(text))
    check_source(source, "baseline_file")
    return deviations_in(source)


IDS = st.sampled_from(["a/one", "a/two", "b/one", "c/*", 'd/"quoted"', "é"])
PATTERNS = [
    read(STYLES["plain"].replace("{ exit = 1 }", observed))[0].observed[0]
    for observed in ("{ exit = 1 }", '{ exit = 1, stdout = { text = "x" } }', "{ timed_out = true }",
                     '{ stderr = { hex = "00 ff" } }', '{ started = "no" }', '{ signal = "KILL" }',
                     '{ stdout = { text = "tab\\t, \\" and \\\\ and \\u2028\\n" }, received = "anything" }')
]  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, old: Deviation) -> Deviation:
    happens = draw(st.sampled_from(Happens))
    observed = draw(st.lists(st.sampled_from([*old.observed, *PATTERNS]), min_size=1, max_size=3, unique=True))
    conditions = [Condition(), Condition(os="linux"), Condition(shell="pwsh", version=">=7.4"), old.condition]
    return replace(
        old,
        happens=happens,
        observed=tuple(observed[:1] if happens is Happens.ALWAYS else observed),
        fixtures=tuple(draw(st.lists(IDS, min_size=1, max_size=4, unique=True))),
        exceptions=tuple(draw(st.lists(IDS, max_size=2, unique=True))),
        routes=draw(st.sampled_from([("mytool",), ("mytool", "other"), ("*",)])),
        condition=draw(st.sampled_from(conditions)),
    )


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_it_says_what_it_should_whatever_it_was_written_like(style: str, data: st.DataObject) -> None:
    text = STYLES[style]
    (old,) = read(text)
    new = data.draw(changed(old))
    edited = edited_table(text, old, new)
    (found,) = read(edited)
    assert replace(found, origin=Origin("", 0)) == replace(new, origin=Origin("", 0)), edited
    assert found.reason == old.reason


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_new_table_says_it_as_well(data: st.DataObject) -> None:
    new = data.draw(changed(read(STYLES["plain"])[0]))
    text = new_table(new)
    (found,) = read(text)
    assert replace(found, origin=Origin("", 0)) == replace(new, origin=Origin("", 0))


def test_comments_stay_beside_what_stays() -> None:
    (old,) = read(STYLES["many lines"])
    edited = edited_table(STYLES["many lines"], old, replace(old, fixtures=("a/between", "a/two")))
    for comment in ("# header", "# above", "# beside", "# opening", "# between", "# last", "# when", "# observed"):
        assert comment in edited
    assert edited_table(STYLES["many lines"], old, old) == STYLES["many lines"]


def test_many_ids_take_a_line_each() -> None:
    (old,) = read(STYLES["plain"])
    ids = tuple(f"a/a-fixture-with-a-long-name-{number}" for number in range(9))
    lines = edited_table(STYLES["plain"], old, replace(old, fixtures=ids)).splitlines()
    assert lines[2:5] == ["fixtures = [", f'  "{ids[0]}",', f'  "{ids[1]}",']


def test_blocks_end_where_the_comment_of_the_next_begins() -> None:
    text = "# top\n\n# of one\n" + STYLES["plain"] + "# behind\n\n# of two\n" + STYLES["flaky"] + "\n# end"
    one, two = read(text)
    document = Document(text, [one, two], "m.baseline.toml")
    assert document.with_slots([Slot(one, one), Slot(two, two)]) == text
    without_one = document.with_slots([Slot(one, None), Slot(two, two)])
    assert without_one == "# top\n\n# behind\n\n# of two\n" + STYLES["flaky"] + "\n# end"
    assert document.with_slots([Slot(one, one), Slot(two, None)]).endswith("# behind\n\n# end")
    added = document.with_slots([Slot(one, one), Slot(two, two), Slot(None, one)])
    assert added == text + "\n\n" + new_table(one)


def test_an_entry_without_a_header_is_refused_and_not_spoilt() -> None:
    text = (
        'deviation = [{ routes = ["mytool"], fixtures = ["a/one"], observed = { exit = 1 }, reason = "r", '
        'url = "https://example.org" }]\n'
    )
    with pytest.raises(UsageError, match=r"m:1: .* Make it a \[\[deviation\]\] table\."):
        Document(text, read(text), "m.baseline.toml")


def test_what_is_observed_is_shown_as_it_is_written() -> None:
    shown: dict[str, Any] = {style: observed_text(read(text)[0]) for style, text in STYLES.items()}
    assert shown["dotted keys"] == '{ exit = 1, stdout = { text = "x" } }'
    assert shown["flaky"] == "[{ exit = 1 }, { timed_out = true }]"
