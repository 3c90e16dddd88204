"""Reports of strangers: whatever their texts hold, the page shows it as text, and nothing of it happens."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hostile_reports import hostile_reports, moves_a_cursor
from html_reading import ReadPage, read_page
from html_world import Show, html_of, stream_of, write_page
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_files import DEVIATION, exited, footer_of, header_of, result_of, write_lines

from conformance.errors import UsageError
from conformance.views.text import printable

pytest_plugins = ("html_fixtures",)

Line = Mapping[str, Any]

OUR_TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "div", "h1", "button", "ul", "li", "b", "noscript",
    "p", "dl", "dt", "dd", "details", "summary", "main", "form", "fieldset", "legend", "label", "input", "datalist",
    "table", "aside", "script",
}  # fmt: skip
HOSTILE = (
    "<script>hurt()</script>", "</script><script>hurt()</script>", "</SCRIPT >", "<!--", "-->", "<!-- <script>", "]]>",
    "<img src=x onerror=hurt()>", "\"><svg onload=hurt()>", "' onmouseover='hurt()", "&lt;b&gt;", "&#x3c;",
    "\u2028hurt()\u2029",
    "javascript:hurt()", "javascript://x.example/%0ahurt()", "file://x.example/x",
    "https://example.org/\"onclick=\"hurt()", "https://example.org/ x",
    "data:text/html,<script>hurt()</script>",
    "\u202e\u2066rtl\u2069", "\ud800", "\udfff\ud800", "\0", "\x1b[2J\x07", "\r\n::error::x", "##[error]x",
    "$verdict ${program} $$",
    "__proto__", "constructor", "</style><style>*{display:none}", "</noscript><script>hurt()</script>",
    "a" * 5000, "\ufeff", "`" * 9,
    "{{body}}", "%s %(x)s {0}", "\\u003c", "]}</script>", "// <![CDATA[", "</title><script>hurt()</script>",
)  # fmt: skip
texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(), max_size=30),
    st.builds("{}{}".format, st.text(max_size=3), st.sampled_from(HOSTILE)),
)


def hostile_report(path: Path, text: str, other: str) -> Path:
    """Write a report in which `text` or `other` stands wherever a report may hold any text."""
    part = "".join(char for char in text if char.isprintable() and char != "/") or "x"
    environment = f"linux-{part}/bash-5{part}/{part}"
    step = {
        **result_of("t/t/t")["steps"][0],
        "stdout": stream_of(text.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")),
        "leftovers": [{"pid": 1, "command": text}],
        "status": {"kind": "not_reported", "reason": other},
    }
    discrepancies = [{"subject": "stdout", "meaning": text}]
    odd: dict[str, Any] = {"reason": text, "steps": [step], "discrepancies": discrepancies}
    deviation = {**DEVIATION, "reason": text}
    system = {"name": text or "x", "version": other or "x"}
    lines = [
        result_of("a/one/r", "fail", came=1, environment=environment, system=system, **odd),
        result_of("a/one/s", "error", reason=other),
        result_of("a/two/r", "deviates", came=1, deviation=deviation, **odd),
        result_of("a/two/s", "fixed", rule={"reason": other, "url": "https://x.example/" + re.sub(r"\s", "", text)}),
        result_of("a/two/t", "pass", status=exited(0), reason=text),
    ]  # fmt: skip
    header = json.loads(json.dumps(header_of(lines, cases=len(lines))))
    header["suite"]["matrices"] = [text or "x"]
    header["tool"]["version"] = other or "x"
    (run,) = header["runs"]
    run["environment"] = f"linux-{part}/{part}"
    run["system"].update(release=text, distribution=other, python=text or "x")
    run["shells"] = [
        {"asked": text or "x", "unavailable": other or "x"},
        {"asked": "bash", "name": "bash", "version": text or "x", "path": other or "x", "found": text or "x"},
    ]
    run["child_environment"] = {text: other, other: text}
    run["selection"] = text or "x"
    for route in header["routes"]:
        route.update(
            argv=[text, other],
            stdin=text,
            source=other,
            kind=text or "x",
            judged_by=other or "x",
            dialects=[text or "x"],
        )
    for fixture in header["fixtures"]:
        fixture.update(summary=text or "x", source=other or "x")
        fixture["steps"] = [{"bodies": {text or "x": other}, "stdin": text or "x"}]
    return write_lines(path, header, *lines, footer_of(lines, findings=[text or "x", other or "x"]))


def check(source: str) -> ReadPage:
    """Read a page, which may have no element, attribute or program but ours."""
    read = read_page(source)
    assert {element.tag for element in read.root.all()} - {""} <= OUR_TAGS
    assert [element.attributes.get("type") for element in read.elements("script")] == ["application/json"] * 3 + [None]
    assert len(read.elements("style")) == len(read.elements("title")) == 1
    for element in read.root.all():
        assert not [name for name in element.attributes if name.startswith("on") or name in ("src", "style")]
    for link in read.links:
        assert link is not None
        assert link.startswith("#")
    for element in read.elements("script"):
        assert "<" not in element.text or element.attributes.get("type") is None
        assert element.text.isascii() or element.attributes.get("type") is None
    return read


@given(data=hostile_reports())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_is_only_text(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.jsonl")
        path.write_bytes(data)
        source = html_of(path)
    assert moves_a_cursor(source) == []
    check(source)


@given(text=texts, other=texts)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_only_text(text: str, other: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = html_of(hostile_report(Path(folder, "r.jsonl"), text, other))
    assert moves_a_cursor(source) == []
    read = check(source)
    known = read.data("pool")["texts"]
    assert printable(text) in known
    assert printable(other) in known
    assert len(read.data("results")) == 2
    assert printable(other or "x") in read.items("wrong")[1]


def test_an_environment_that_is_no_text_is_refused(tmp_path: Path) -> None:
    line = result_of("a/b/c", environment="linux-\ud800/bash-5/local")
    report = write_lines(tmp_path / "r.jsonl", header_of([line]), line, footer_of([line]))
    with pytest.raises(UsageError, match=r"r\.jsonl:2: .* has a character that is not printable\.$"):
        html_of(report)


def test_in_the_browser_nothing_of_it_happens(show: Show, tmp_path: Path) -> None:
    """The tab is watched: no error, no dialog, no request and no refusal by the policy is told."""
    everything = "\n".join(HOSTILE)
    address = write_page(hostile_report(tmp_path / "r.jsonl", everything, everything[::-1]))
    shown = show(address)
    shown.tab.evaluate("window.hurt = () => { document.documentElement.dataset.hurt = 'yes'; }")
    for case in ("a/one/r", "a/one/s", "a/two/r", "a/two/s", "a/two/t"):
        shown.tab.evaluate(f"location.hash = 'case={case}'")
        shown.tab.wait_for(f"document.querySelector('#case-title')?.innerText === {case!r}")
        shown.tab.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        shown.click_button("copy as citation")
    assert shown.tab.evaluate("document.documentElement.dataset.hurt ?? 'no'") == "no"
    assert shown.tab.evaluate("document.querySelectorAll('img, svg, iframe, object, embed, link, base').length") == 0
    assert shown.tab.evaluate("document.scripts.length") == 4
    assert "<script>hurt()</script>" in shown.text("#panel")
    links = shown.tab.evaluate("[...document.links].map((a) => a.getAttribute('href'))")
    assert [link for link in links if not link.startswith(("#", "https://"))] == []


def test_a_link_goes_to_the_web_or_is_none(show: Show, tmp_path: Path) -> None:
    for number, hostile in enumerate(HOSTILE):
        if not hostile.startswith(("java", "data", "https", "file")):
            continue
        line = result_of("a/b/c")
        header = json.loads(json.dumps(header_of([line])))
        header["fixtures"][0]["source"] = hostile
        shown = show(
            write_page(write_lines(tmp_path / f"{number}.jsonl", header, line, footer_of([line]))), "#case=a/b/c"
        )
        assert shown.field("source of the hook") == [printable(hostile)]
        found = shown.tab.evaluate("[...document.links].map((a) => a.getAttribute('href'))")
        assert hostile not in found


def test_the_policy_stops_what_gets_in_all_the_same(show: Show, tmp_path: Path) -> None:
    """Even a page that somebody has put a program into runs none but its own."""
    address = write_page(hostile_report(tmp_path / "r.jsonl", "x", "y"))
    path = tmp_path / "r.html"
    hurt = "document.body.dataset.hurt = 'yes'"
    hurt = f'<script>{hurt}</script><img src=x onerror="{hurt}">'
    path.write_text(path.read_text(encoding="utf-8").replace("</h1>", "</h1>" + hurt), encoding="utf-8")
    shown = show(address)
    assert shown.tab.evaluate("document.querySelectorAll('[data-hurt]').length") == 0
    shown.tab.evaluate("1")
    assert len(shown.tab.problems) == 3
    assert all("Content Security Policy" in problem for problem in shown.tab.problems)
    shown.tab.problems.clear()
    shown.tab.requests.clear()  # what was refused is told as asked for
