"""What the page of 20,000 results costs: to make, to hold, and to open in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import Figure, peak_megabytes, spread
from bench.reports import write_report

RESULTS = 20_000
ROUNDS = 5
MOST_SECONDS = 20
MOST_MEGABYTES = 30
MOST_SECONDS_TO_OPEN = 1
MAKE = """
import sys
from pathlib import Path
from conformance.report.index import index_report
from conformance.views.html import page
with index_report(Path(sys.argv[1])) as report, open(sys.argv[2], "w", encoding="utf-8") as stream:
    stream.writelines(page(report) if sys.argv[3] == "page" else [])
"""
WATCH = """
(() => {
  const look = () => {
    if (!document.querySelector("#grid td")) requestAnimationFrame(look);
    else requestAnimationFrame(() => { window.usableAfter = performance.now(); });
  };
  look();
})();
"""
SEARCH = """
new Promise((done) => {
  const started = performance.now();
  addEventListener("hashchange", () => requestAnimationFrame(() => done(performance.now() - started)), { once: true });
  location.hash = "#text=COLLAPSED&result=fail";
})
"""


def html() -> Figure:
    """Measure the page of 20,000 results, of which one in ten fails, each in its own words and with its own bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report, page = folder / "report.jsonl", folder / "page.html"
        write_report(report, RESULTS, failing=10)
        _make_telling(report)
        bare = peak_megabytes([sys.executable, "-c", MAKE, report, page, "nothing"], Path.cwd())
        started = time.perf_counter()
        held = peak_megabytes([sys.executable, "-c", MAKE, report, page, "page"], Path.cwd())
        seconds = time.perf_counter() - started
        megabytes = page.stat().st_size / 1e6
        opened, searched = _in_the_browser(page)
    met = seconds <= MOST_SECONDS and megabytes <= MOST_MEGABYTES and held - bare <= megabytes
    if opened:
        met = met and max(opened) <= MOST_SECONDS_TO_OPEN
        shown = f"usable after {spread(opened, 's')}, a search takes {spread(searched, 's')}"
    else:
        shown = "no Chromium or Chrome, in which it could be opened"
    return Figure(
        f"the page of {RESULTS:,} results",
        f"made in {MOST_SECONDS} s, {MOST_MEGABYTES} MB, no more memory, usable in {MOST_SECONDS_TO_OPEN} s",
        f"{seconds:.3g} s, {megabytes:.3g} MB, {held - bare:.3g} MB held beyond the index",
        met,
        shown,
    )


def _make_telling(report: Path) -> None:
    """Give each failure its own reason and bytes, and what passed one of a few hundred outputs, as real reports do."""
    lines = report.read_text(encoding="utf-8").splitlines()
    with report.open("w", encoding="utf-8") as stream:
        for number, line in enumerate(lines):
            stream.write(json.dumps(_telling(json.loads(line), number)) + "\n")


def _telling(line: dict[str, Any], number: int) -> dict[str, Any]:
    if line["kind"] == "result":
        (step,) = line["steps"]
        failed = line["result"] == "fail"
        step["stdout"] = _stream(f"output {number if failed else number % 300}\n".encode() * 40, differs=failed)
        step["seconds"] = number / 1000
        if failed:
            line["reason"] += f"\nthe case number {number}: " + "00 11 22 33 44 55 66 77  " * 12
    return line


def _stream(data: bytes, *, differs: bool) -> dict[str, Any]:
    head, tail, window = (base64.b64encode(part).decode() for part in (data[:2048], data[-2048:], data[:64]))
    difference = {"offset": 9, "window_offset": 0, "expected": window, "observed": window} if differs else None
    digest = hashlib.sha256(data).hexdigest()
    return {"bytes": len(data), "sha256": digest, "head": head, "tail": tail, "difference": difference}


def _in_the_browser(page: Path) -> tuple[list[float], list[float]]:
    """Return how many seconds after the page is asked for its grid can be used, and how many a search takes."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "html"))
    from browser import find_browser, running_browser  # the one that the tests look at the page with

    program = find_browser()
    if program is None:
        return [], []
    opened, searched = [], []
    with running_browser(program) as browser:
        for _ in range(ROUNDS):
            with browser.tab() as tab:
                tab.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
                tab.open(page.as_uri())
                tab.wait_for("window.usableAfter")
                opened.append(tab.evaluate("usableAfter") / 1000)
                searched.append(tab.evaluate(SEARCH) / 1000)
    return opened, searched
