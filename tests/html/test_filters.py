"""The grid, what its filters leave of it, and the addresses that bring that back: in a real browser."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from html_world import WINDOWS, Show, Shown, write_page
from report_files import result_of, write_report

pytest_plugins = ("html_fixtures",)

ALL_ROWS = [
    ["lines", "ok", "dev 0>7", "FAIL 2>3221225477", "-"],
    ["nul", "ok", "ok~", "FAIL 0>9?", "-"],
    ["seven", "FIXED", "ok", "ok", "-"],
    ["two", "ERROR", "-", "-", "n/a"],
    ["steps", "ok", "-", "-", "skip"],
]


def test_the_grid_has_a_row_a_fixture_under_its_topic_and_a_column_a_route_and_environment(shown: Shown) -> None:
    assert shown.rows == ALL_ROWS
    assert shown.texts("#grid .topic") == ["bytes", "codes", "sessions"]
    heads = [text.replace("\n", "") for text in shown.texts("#grid thead tr:first-child th")]
    assert heads == ["fixture", "sh-command", "pwsh-file", "adapter"]
    environments = [text.replace("\n", "") for text in shown.texts("#grid .environments th")]
    assert environments == ["linux-x86_64/pwsh-7.6.9/local", "windows-amd64/pwsh-7.6.9/local"]
    assert shown.text("#shown") == "13 of 13 results: 5 of 5 fixtures, 4 of 4 columns"


FILTERS = [
    ("#result=fail", [["lines", "FAIL 2>3221225477"], ["nul", "FAIL 0>9?"]]),
    ("#result=fail&result=error", [[*row[:2], row[3]] for row in (*ALL_ROWS[:2], ALL_ROWS[3])]),
    ("#result=fixed&result=error", [["seven", "FIXED"], ["two", "ERROR"]]),
    ("#route=adapter", [["two", "n/a"], ["steps", "skip"]]),
    (f"#environment={WINDOWS}", [["lines", "FAIL 2>3221225477"], ["nul", "FAIL 0>9?"], ["seven", "ok"]]),
    ("#fixture=codes/", ALL_ROWS[2:4]),
    ("#fixture=NUL", [ALL_ROWS[1][:4]]),
    ("#text=let the tool run", [["lines", "FAIL 2>3221225477"]]),
    ("#text=npm%20is", [["two", "n/a"]]),
    ("#text=bytes/nul/pwsh", [["nul", "ok~", "FAIL 0>9?"]]),
    ("#differs=yes", [row[:4] for row in ALL_ROWS[:3]]),
    ("#differs=yes&route=pwsh-file&result=pass", [["nul", "ok~"]]),
    ("#text=there is no such thing", []),
]


@pytest.mark.parametrize(("fragment", "rows"), FILTERS)
def test_a_link_restores_its_filters(fragment: str, rows: list[list[str]], show: Show, everything_address: str) -> None:
    shown = show(everything_address, fragment)
    assert shown.rows == rows
    again = shown.tab.evaluate("addressOf(asked(location.hash))")
    assert shown.tab.evaluate(f"JSON.stringify(asked({again!r})) === JSON.stringify(asked(location.hash))")
    if not rows:
        assert shown.text("#shown") == "No result is like that. “show all” brings them back."


def do(shown: Shown, *actions: str) -> None:
    """Do what a user would: `SELECTOR` is clicked, `SELECTOR=TEXT` is typed into."""
    for action in actions:
        selector, _, text = action.partition("≔")
        shown.tab.click(selector)
        if text:
            shown.tab.type(text)


BY_HAND: Sequence[tuple[str, Sequence[str]]] = [
    ("#result=fail", ["[data-result=fail]"]),
    ("#result=fail&result=error", ["[data-result=fail]", "[data-result=error]"]),
    ("#fixture=codes/", ["[name=fixture]≔codes/"]),
    ("#text=npm%20is", ["[name=text]≔npm is"]),
    ("#differs=yes", ["[name=differs]"]),
    ("#route=adapter", ["[data-key=route] summary", "[data-key=route] input[value=adapter]"]),
    (f"#environment={WINDOWS}", ["[data-key=environment] summary", f"[data-key=environment] input[value='{WINDOWS}']"]),
]


@pytest.mark.parametrize(("fragment", "actions"), BY_HAND)
def test_what_is_clicked_and_typed_is_in_the_address(fragment: str, actions: Sequence[str], shown: Shown) -> None:
    do(shown, *actions)
    assert shown.fragment == fragment
    assert shown.rows == next(rows for known, rows in FILTERS if known == fragment)


def test_enter_in_a_field_leaves_the_page_as_it_is(shown: Shown) -> None:
    do(shown, "[name=text]≔npm is")
    shown.tab.press("Enter")
    shown.tab.wait_for("document.readyState === 'complete'")
    assert shown.fragment == "#text=npm%20is"
    assert shown.rows == [["two", "n/a"]]


def test_a_second_click_takes_a_filter_away_and_one_button_all(shown: Shown) -> None:
    do(shown, "[data-result=fail]", "[data-result=fail]")
    assert shown.rows == ALL_ROWS
    do(shown, "[data-result=fail]", "[name=differs]", "[name=text]≔lines", "[type=reset]")
    assert shown.rows == ALL_ROWS
    assert shown.fragment in ("", "#")
    assert shown.tab.evaluate("[form.elements.text.value, form.elements.differs.checked]") == ["", False]


def test_the_controls_show_what_the_address_asks_for(show: Show, everything_address: str) -> None:
    shown = show(everything_address, "#result=fail&route=pwsh-file&route=adapter&fixture=b&text=c&differs=yes")
    assert shown.texts("[aria-pressed=true]") == ["2 fail"]
    assert shown.text("[data-key=route] summary").startswith("2 of 3 routes")
    assert shown.text("[data-key=environment] summary").startswith("every environment")
    assert shown.tab.evaluate("[form.elements.fixture.value, form.elements.text.value]") == ["b", "c"]
    assert shown.tab.evaluate("form.elements.differs.checked")


def test_a_link_on_the_page_and_the_way_back_change_the_grid(shown: Shown) -> None:
    shown.tab.evaluate("location.hash = '#result=error'")
    shown.tab.wait_for("grid.shown.hits.length === 1")
    assert shown.rows == [["two", "ERROR"]]
    shown.tab.evaluate("history.back()")
    shown.tab.wait_for("grid.shown.hits.length === 13")
    assert shown.rows == ALL_ROWS


@pytest.mark.parametrize("fragment", ["#%", "#result=nonsense", "#&&==&=&x=y", "#case", "#result=&route=%E0%A4%A"])
def test_an_address_that_nobody_meant_is_no_error(fragment: str, show: Show, everything_address: str) -> None:
    shown = show(everything_address)
    shown.tab.evaluate(f"location.hash = {fragment!r}")
    shown.tab.wait_for("true")
    assert not shown.panel_is_open


def test_a_plus_in_a_route_is_a_plus(show: Show, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("plus")
    lines = [result_of("a/b/c"), result_of("a/b/c+docker", "fail", came=1)]
    shown = show(write_page(write_report(folder / "r.jsonl", lines)), "#route=c+docker&case=a/b/c+docker")
    assert shown.rows == [["b", "FAIL 0>1"]]
    assert shown.field("case") == ["a/b/c+docker"]


def test_what_was_not_run_makes_no_difference_between_columns(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("differs")
    lines = [
        result_of("a/same/c"), result_of("a/same/d", "skipped"), result_of("a/same/e", provisional=True, basis="text"),
        result_of("a/other/c"), result_of("a/other/d", "deviates", came=1),
    ]  # fmt: skip
    shown = show(write_page(write_report(folder / "r.jsonl", lines)), "#differs=yes")
    assert shown.rows == [["other", "ok", "dev 0>1"]]


def test_colour_is_never_the_only_sign(shown: Shown) -> None:
    kinds = shown.tab.evaluate(
        "[...document.querySelectorAll('#grid td:not(.none)')]"
        ".map((td) => [td.className, td.innerText.split(/[ ~?]/)[0]])"
    )
    words = dict(kinds)
    assert len(words) == 7
    assert len(set(words.values())) == 7


def test_a_large_report_is_there_row_by_row_to_the_end(show: Show, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("large")
    lines = [result_of(f"topic-{n % 3}/name-{n:03}/{route}") for n in range(400) for route in "abcde"]
    shown = show(write_page(write_report(folder / "r.jsonl", lines)))
    shown.tab.wait_for("grid.lines.length === 400")
    assert len(shown.rows) == 400
    assert shown.texts("#grid .topic") == ["topic-0", "topic-1", "topic-2"]


def test_head_and_names_stay_where_they_are_seen(show: Show, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("sticky")
    lines = [result_of(f"topic/name-{n:03}/route-{m}") for n in range(80) for m in range(30)]
    shown = show(write_page(write_report(folder / "r.jsonl", lines)))
    shown.tab.wait_for("grid.lines.length === 80")
    shown.tab.evaluate("scroller.scrollTo(500, 700)")
    places = shown.tab.evaluate(
        "[document.querySelector('thead .corner'), grid.lines[60].cells[0]].map((e) => {"
        "const [a, b] = [e, scroller].map((one) => one.getBoundingClientRect());"
        "return [Math.round(a.left - b.left), e.tagName + (Math.abs(a.top - b.top) < 3 ? ' at the top' : '')]; })"
    )
    assert places == [[1, "TH at the top"], [1, "TH"]]
