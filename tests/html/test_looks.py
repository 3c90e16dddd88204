"""How the page looks: on a wide and a narrow window, in light and dark, and printed; in a real browser."""

from __future__ import annotations

import pytest
from html_world import FAILING, WINDOWS, Show, Shown

pytest_plugins = ("html_fixtures",)

NARROW = {"width": 390, "height": 844}
CASE = f"#case={FAILING}&on={WINDOWS}"
EVERYWHERE = ["", "#result=fail", CASE]
LEAST_CONTRAST = 4.5
"""https://www.w3.org/TR/WCAG22/#contrast-minimum"""
FAINT_TEXTS = """
(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
      if (colour[3] > 0) throw new Error("a ground that shines through");
    }
    throw new Error("no ground");
  };
  const faint = [];
  let seen = 0;
  for (const element of document.querySelectorAll("body *")) {
    if (["SCRIPT", "STYLE"].includes(element.tagName) || !element.checkVisibility()) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    seen += 1;
    const pair = [parts(getComputedStyle(element).color), ground(element)].map(light).sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < LEAST) faint.push(`${contrast.toFixed(2)} ${element.className} ${element.innerText}`);
  }
  return { seen, faint };
})()
""".replace("LEAST", str(LEAST_CONTRAST))


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("fragment", EVERYWHERE)
def test_every_text_stands_out_enough(fragment: str, colours: str, show: Show, everything_address: str) -> None:
    shown = show(everything_address, fragment, dark=colours == "dark")
    found = shown.tab.evaluate(FAINT_TEXTS)
    assert found["seen"] > 50
    assert found["faint"] == []


def ground(shown: Shown) -> str:
    return str(shown.tab.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_it_has_the_colours_that_the_system_asks_for_unless_it_is_told_others(
    show: Show, everything_address: str
) -> None:
    shown = show(everything_address)
    light = ground(shown)
    assert shown.text("#theme") == "dark"
    shown.tab.prefer(dark=True)
    dark = ground(shown)
    assert dark != light
    shown.tab.wait_for("document.querySelector('#theme').innerText === 'light'")
    shown.tab.click("#theme")
    assert ground(shown) == light
    shown.at("")
    assert ground(shown) == light
    shown.tab.click("#theme")
    assert ground(shown) == dark


@pytest.mark.parametrize("fragment", EVERYWHERE)
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_itself_never_scrolls_sideways(fragment: str, width: int, show: Show, everything_address: str) -> None:
    shown = show(everything_address, fragment, width=width)
    for root in ("document.documentElement", "document.querySelector('#panel')"):
        assert shown.tab.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), root
    assert shown.tab.evaluate(
        "[...document.querySelectorAll('body *')].filter((e) => "
        "!e.closest('#scroller, #panel pre') && e.checkVisibility()"
        " && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML)"
    ) == []  # fmt: skip


def test_on_a_narrow_window_the_grid_scrolls_and_the_panel_fills_it(show: Show, everything_address: str) -> None:
    shown = show(everything_address, **NARROW)
    assert shown.tab.evaluate("scroller.scrollWidth > scroller.clientWidth")
    shown.tab.evaluate("location.hash = 'case=bytes/nul/sh-command'")
    shown.tab.wait_for("!document.querySelector('#panel').hidden")
    box = shown.tab.evaluate("((b) => [b.left, b.top])(document.querySelector('#panel').getBoundingClientRect())")
    assert box == [0, 0]
    for _ in range(12):
        shown.tab.press("Tab")
        assert shown.tab.evaluate("document.activeElement === document.body || panel.contains(document.activeElement)")
    shown.tab.press("Escape")
    assert shown.tab.evaluate("document.activeElement.tagName") == "TD"


def test_on_a_wide_window_the_panel_hides_nothing_of_the_grid(show: Show, everything_address: str) -> None:
    shown = show(everything_address, CASE, width=1280)
    assert shown.tab.evaluate(
        "scroller.getBoundingClientRect().right <= document.querySelector('#panel').getBoundingClientRect().left"
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_the_cell_of_an_opened_case_can_be_seen(width: int, show: Show, everything_address: str) -> None:
    """On a wide window, where the panel leaves room for it, beside the panel."""
    shown = show(everything_address, "#case=sessions/steps/adapter", width=width)
    if width < 1200:
        shown.tab.press("Escape")
        shown.tab.wait_for("document.activeElement.tagName === 'TD'")
        assert shown.focus == "skip"
    cell = "(document.querySelector('[aria-selected=true]') ?? document.activeElement).getBoundingClientRect()"
    left, right, top, bottom = shown.tab.evaluate(f"((b) => [b.left, b.right, b.top, b.bottom])({cell})")
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= 901


def test_the_focus_can_be_seen(shown: Shown) -> None:
    for _ in range(20):
        shown.tab.press("Tab")
        style = shown.tab.evaluate(
            "((s) => [s.outlineStyle, s.outlineWidth])(getComputedStyle(document.activeElement))"
        )
        assert style == ["solid", "2px"], shown.focus


def test_printed_it_is_light_and_whole(show: Show, everything_address: str) -> None:
    shown = show(everything_address, dark=True)
    shown.tab.call("Emulation.setEmulatedMedia", media="print")
    assert ground(shown) == "rgb(255, 255, 255)"
    assert shown.tab.evaluate("scroller.scrollHeight <= scroller.clientHeight + 1")
    assert not shown.tab.evaluate("document.querySelector('.fields').checkVisibility()")


def test_without_its_program_it_says_what_is_wrong(show: Show, everything_address: str) -> None:
    shown = show("about:blank")
    shown.tab.call("Emulation.setScriptExecutionDisabled", value=True)
    shown.tab.call("Page.navigate", url=everything_address)
    shown.tab.requests.clear()
    document = shown.tab.call("DOM.getDocument", depth=-1)
    while "noscript" not in str(document):
        document = shown.tab.call("DOM.getDocument", depth=-1)
    assert "The grid of results needs JavaScript" in str(document)
    assert "ERROR" in str(document)
