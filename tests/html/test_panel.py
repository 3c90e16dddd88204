"""The panel on a case: its address, what it shows, its keys and what it copies, in a real browser."""

from __future__ import annotations

import json

import pytest
from html_world import (
    BASH,
    BODY,
    CAME,
    FAILING,
    PWSH,
    WINDOWS,
    Show,
    Shown,
    header_of_everything,
    lines_of_everything,
)

from conformance.views.citation import citation
from conformance.views.document import Sentences, as_markdown, code, escaped
from conformance.views.text import printable

pytest_plugins = ("html_fixtures",)

FAILURE = f"#case={FAILING}&on={WINDOWS}"


@pytest.fixture
def failure(show: Show, everything_address: str) -> Shown:
    return show(everything_address, FAILURE)


def test_a_link_opens_a_case(show: Show, everything_address: str) -> None:
    shown = show(everything_address, "#case=codes/seven/sh-command")
    assert shown.panel_is_open
    assert shown.text("#case-title") == "codes/seven/sh-command"
    assert shown.text(".outcome").split() == ["FIXED", "expected", "exited(0),", "came", "exited(0)"]
    assert shown.field("environment") == [BASH]
    assert shown.texts("#grid [aria-selected=true]") == ["FIXED"]


@pytest.mark.parametrize(("on", "environment"), [("", PWSH), (f"&on={PWSH}", PWSH), (f"&on={WINDOWS}", WINDOWS)])
def test_a_link_names_the_environment_where_there_are_several(
    on: str, environment: str, show: Show, everything_address: str
) -> None:
    shown = show(everything_address, f"#case={FAILING}{on}")
    assert shown.field("environment") == [environment]
    other = WINDOWS if environment == PWSH else PWSH
    assert other in shown.field("elsewhere")[0]
    shown.tab.evaluate("[...document.querySelectorAll('#panel dd a')].find((a) => a.hash).click()")
    shown.tab.wait_for(f"document.querySelector('#panel').innerText.includes('environment\\n{other}')")
    assert shown.field("environment") == [other]


def test_a_case_that_the_report_has_not_is_said_to_be_missing(show: Show, everything_address: str) -> None:
    shown = show(everything_address, "#case=no/such/case")
    assert "This report has no result of that case." in shown.text("#panel")
    shown.tab.press("Escape")
    assert not shown.panel_is_open


def test_it_shows_what_was_expected_what_came_and_by_which_rule(failure: Shown) -> None:
    assert failure.field("expected") == ["exited(2)"]
    assert failure.field("came") == ["exited(3221225477 = 0xC0000005)"]
    assert failure.field("so") == ["the code collapsed, so a deny hook let the tool run", "other bytes came"]
    assert failure.field("rule") == ["it must"]
    assert failure.field("source of the rule") == ["https://example.org/rule"]
    assert failure.field("hook") == ["what bytes/lines is"]
    assert failure.text("#panel .reason") == "expected 2\ncame another"
    pres = failure.texts("#panel pre")
    assert BODY in pres
    assert "bash\n-c\n{{body}}" in pres
    assert "conformance repro bytes/lines/pwsh-file" in failure.text("#panel")


def test_it_shows_a_documented_deviation(show: Show, everything_address: str) -> None:
    shown = show(everything_address, f"#case={FAILING}&on={PWSH}")
    assert shown.field("documented deviation") == ["it is so"]
    assert shown.field("source of the deviation") == ["https://example.org/deviation"]
    links = shown.tab.evaluate("[...document.querySelectorAll('#panel a')].map((a) => [a.href, a.rel])")
    assert ["https://example.org/deviation", "noopener noreferrer"] in links


def test_it_names_the_shell_and_the_system_where_the_report_does(show: Show, everything_address: str) -> None:
    shown = show(everything_address, "#case=bytes/lines/sh-command")
    assert shown.field("shell") == ["bash 5.2.15, /bin/bash (PATH)"]
    assert "6.1" in shown.field("system")[0]


def test_both_sides_of_a_difference_stand_next_to_each_other(failure: Shown) -> None:
    assert "The first difference is at byte offset 11 (0xb)." in failure.text("#panel")
    expected, came = failure.texts("#panel .sides pre")
    assert expected.split("\n")[0] == "0003  73 74 20 6c 69 6e 65 0a  st line."
    assert came.split("\n")[1] == "000b  53 45 43 4f 4e 44 20 6c  SECOND l"
    marked = failure.texts("#panel .sides figure:last-child mark")
    assert "".join(mark for mark in marked if len(mark) == 1) == "SECOND."
    assert marked[:6] == ["53", "45", "43", "4f", "4e", "44"]
    tops = failure.tab.evaluate(
        "[...document.querySelectorAll('.sides pre')].map((e) => e.getBoundingClientRect().top)"
    )
    assert tops[0] == tops[1]


def test_streams_are_shown_with_length_and_digest_and_what_is_no_text_is_escaped(failure: Shown) -> None:
    heads = failure.texts("#panel h4")
    assert heads == [f"stdout: {len(CAME)} bytes", "stderr: 4,400 bytes"]
    stream = lines_of_everything()[2]["steps"][0]["stdout"]
    assert f"SHA-256 {stream['sha256']}" in failure.text("#panel")
    assert "first line\nSECOND line\n\\x00\\xff end" in failure.texts("#panel .stream pre")
    failure.tab.evaluate("document.querySelectorAll('#panel .stream details').forEach((e) => { e.open = true; })")
    failure.tab.wait_for("document.querySelectorAll('#panel .stream details pre').length === 6")
    pres = failure.texts("#panel .stream details pre")
    assert pres[2].startswith("warning: \\x1b[31mred\\x1b[0m\nwarning")
    assert pres[1].split("\n")[1] == "0010  44 20 6c 69 6e 65 0a 00 ff 20 65 6e 64 0a        D line... end."
    assert [s for s in failure.texts("#panel summary") if "bytes" in s] == [
        "the first 2,048 bytes",
        "the last 2,048 bytes",
    ]
    assert pres[5].startswith(f"{4400 - 2048:04x}  ")


def test_stdin_the_witness_and_what_was_left_running_are_shown(failure: Shown) -> None:
    assert failure.field("stdin holds") == ["0 bytes"]
    assert failure.field("stdin") == ["5,000 bytes sent, until the reader closed the pipe"]
    assert failure.field("witness read") == [f"4,096 bytes, SHA-256 {'cd' * 32}"]
    assert failure.field("witness marks") == ["2"]
    assert failure.field("left running, killed") == ["sleep 1000"]


def test_a_session_is_shown_step_by_step(show: Show, everything_address: str) -> None:
    shown = show(everything_address, "#case=sessions/steps/sh-command")
    heads = shown.texts("#panel h3")
    assert "step 1 of 2: exited(0)" in heads
    assert "step 2 of 2, its repetition 4: exited(3)" in heads
    assert "body in sh, step 2 of 2" in heads
    assert shown.field("decision") == ["block"]


@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("codes/two/adapter", "unavailable: the shell or the runner is missing"),
        ("sessions/steps/adapter", "skipped: the route cannot express the fixture"),
        ("codes/two/sh-command", "error: the harness or the route is broken"),
        ("bytes/nul/pwsh-file", "judged on text"),
    ],
)
def test_what_was_not_run_or_rests_on_text_is_said_so(
    id_: str, words: str, show: Show, everything_address: str
) -> None:
    assert words in show(everything_address, f"#case={id_}").text("#panel")


# ---- keys ----


def test_the_arrows_move_through_the_grid_and_enter_opens_a_case(shown: Shown) -> None:
    shown.tab.evaluate("document.querySelector('#theme').focus()")
    shown.tab.evaluate("document.querySelector('[type=reset]').focus()")
    shown.tab.press("Tab")
    assert shown.focus == "ok"
    for key, text in (
        ("ArrowRight", "dev 0>7"), ("ArrowRight", "FAIL 2>3221225477"), ("ArrowDown", "FAIL 0>9?"),
        ("ArrowLeft", "ok~"),
        ("ArrowUp", "dev 0>7"), ("ArrowUp", "dev 0>7"), ("End", "-"), ("Home", "ok"), ("ArrowLeft", "ok"),
        ("PageDown", "ok"), ("PageUp", "ok"), ("ArrowDown", "ok"), ("ArrowDown", "FIXED"),
    ):  # fmt: skip
        shown.tab.press(key)
        assert shown.focus == text, key
    shown.tab.press("End", control=True)
    assert shown.focus == "skip"
    shown.tab.press("Home", control=True)
    shown.tab.press("ArrowRight")
    shown.tab.press("Enter")
    assert shown.fragment == f"#case={FAILING}&on={PWSH}"
    assert shown.focus == FAILING
    shown.tab.press("Escape")
    assert not shown.panel_is_open
    assert shown.focus == "dev 0>7"
    assert shown.fragment in ("", "#")


def test_only_one_cell_is_on_the_way_of_the_tab_key(shown: Shown) -> None:
    shown.tab.evaluate("grid.focus(2, 1); grid.focus(0, 3)")
    assert shown.tab.evaluate("document.querySelectorAll('#grid [tabindex=\"0\"]').length") == 1


def test_the_skip_link_leads_to_the_grid(shown: Shown) -> None:
    shown.tab.press("Tab")
    assert shown.focus == "Skip to the results"
    box = shown.tab.evaluate("document.activeElement.getBoundingClientRect().top")
    assert box >= 0
    shown.tab.press("Enter")
    shown.tab.wait_for("document.activeElement.id === 'grid'")
    shown.tab.press("Tab")
    assert shown.focus == "ok"


def test_n_and_p_go_through_what_is_shown_and_around(show: Show, everything_address: str) -> None:
    shown = show(everything_address, "#result=fail&result=error&case=codes/two/sh-command")
    assert "3 of 3" in shown.text("#panel .bar")
    for key, case in (("n", FAILING), ("n", "bytes/nul/pwsh-file"), ("p", FAILING), ("p", "codes/two/sh-command")):
        shown.tab.press(key)
        assert shown.text("#case-title") == case
    assert shown.fragment == "#result=fail&result=error&case=codes/two/sh-command"


def test_n_is_a_letter_where_text_is_typed(failure: Shown) -> None:
    failure.tab.evaluate("form.elements.text.focus()")
    failure.tab.press("n")
    assert failure.text("#case-title") == FAILING
    assert failure.tab.evaluate("form.elements.text.value") == "n"


def test_a_click_opens_a_case_and_back_closes_it(shown: Shown) -> None:
    shown.tab.click("#grid td.error")
    assert shown.text("#case-title") == "codes/two/sh-command"
    shown.tab.evaluate("history.back()")
    shown.tab.wait_for("document.querySelector('#panel').hidden")
    assert shown.fragment == ""


def test_what_has_no_result_opens_nothing(shown: Shown) -> None:
    shown.tab.click("#grid td.none")
    assert not shown.panel_is_open


def test_what_is_wrong_leads_to_its_case(shown: Shown) -> None:
    shown.tab.click("#wrong li:nth-child(3) a")
    shown.tab.wait_for("!document.querySelector('#panel').hidden")
    assert shown.fragment == FAILURE


def test_all_that_can_be_used_has_a_name_and_the_roles_are_told(failure: Shown) -> None:
    nodes = failure.tab.call("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in nodes if not node["ignored"]}
    assert {"grid", "gridcell", "row", "rowheader", "columnheader", "dialog", "status", "search", "main"} <= roles
    for node in nodes:
        if not node["ignored"] and node["role"]["value"] in (
            "button",
            "textbox",
            "searchbox",
            "checkbox",
            "gridcell",
            "link",
            "dialog",
            "grid",
        ):
            assert node["name"]["value"].strip(), node
    names = [node["name"]["value"] for node in nodes if node["role"].get("value") == "gridcell"]
    assert "fail 2>3221225477" in names
    assert "fail 0>9? provisional" in names


# ---- what is copied ----


def expected_citation(number: int) -> str:
    """Return what `conformance cite` says, with the command in the place of a script."""
    lines = lines_of_everything()
    again = Sentences(f"To see it again: conformance repro {lines[number]['id']}")
    return as_markdown(citation(header_of_everything(lines), lines[number], again))


@pytest.mark.parametrize("number", range(len(lines_of_everything())))
def test_a_citation_is_that_of_the_command(number: int, show: Show, everything_address: str) -> None:
    line = lines_of_everything()[number]
    shown = show(everything_address, f"#case={line['id']}&on={line['environment']}")
    shown.tab.allow_clipboard()
    shown.click_button("copy as citation")
    shown.tab.wait_for("document.querySelector('.said').innerText === 'Copied.'")
    assert shown.tab.evaluate("navigator.clipboard.readText()") == expected_citation(number)


def test_a_citation_has_all_that_a_bug_report_needs() -> None:
    cited = expected_citation(2)
    for part in (
        FAILING,
        "shell-exit-conformance 0.1.0",
        "ab" * 32,
        BODY,
        "{{body}}",
        "exited(2)",
        "0xC0000005",
        WINDOWS,
    ):
        assert part in cited


def test_the_command_is_copied(failure: Shown) -> None:
    failure.tab.allow_clipboard()
    failure.click_button("copy repro command")
    failure.tab.wait_for("document.querySelector('.said').innerText === 'Copied.'")
    assert failure.tab.evaluate("navigator.clipboard.readText()") == f"conformance repro {FAILING}"


@pytest.mark.parametrize("missing", ["undefined", "{ writeText: () => Promise.reject(new Error('no')) }"])
def test_without_a_clipboard_the_text_is_there_to_be_copied(missing: str, failure: Shown) -> None:
    failure.tab.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {missing} }})")
    failure.click_button("copy as citation")
    failure.tab.wait_for("document.querySelector('.said textarea')")
    assert failure.tab.evaluate("document.activeElement.value") == expected_citation(2)
    selected = failure.tab.evaluate("((e) => [e.selectionStart, e.selectionEnd])(document.activeElement)")
    assert selected == [0, len(expected_citation(2))]


def test_the_markdown_of_any_text_is_that_of_the_command(shown: Shown) -> None:
    texts = [
        "", "plain, (text) 1:2;3", "1. item", "1) item", "12 apples", "- item", "`", "a `b` ``c``", "``", "<b>",
        "@me", "#1", "a_b",
        "https://example.org/a?b=c#d", "https://example.org/<b>", "http://x y", "see https://example.org",
        "Www.example.org", "gh-12", "xGH-12", "\u00e9GH-1",
        "javascript:alert(1)", "é ü ß", "日本", "٣. x", "a\nb", "²",
        "a|b", "[x](y)", "![x](y)", "$x$", "\u202eabc", "\0", "::error::x",
        "e\u0301", "\ud83d\ude00", "*", "a*b", "~~a~~", "&amp;", "½ x",
    ]  # fmt: skip
    shown_texts = [printable(text) for text in texts]
    found = shown.tab.evaluate(
        f"{json.dumps(shown_texts)}.map((text) => [escaped(text), code(text.replaceAll('\\n', ' '))])"
    )
    assert found == [[escaped(text), code(text)] for text in texts]


def test_all_bytes_can_be_told_from_what_is_shown_of_them(shown: Shown) -> None:
    text = shown.tab.evaluate("escapedBytes(Uint8Array.from({ length: 256 }, (none, byte) => byte))")
    assert text.replace("\n", "").replace("\t", "").isprintable()
    assert text.encode("ascii").decode("unicode_escape").encode("latin-1") == bytes(range(256))
