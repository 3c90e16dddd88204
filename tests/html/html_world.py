"""The page of a made-up report that has everything, and what tests ask of a page that is shown."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from browser import Tab
from report_files import exited, footer_of, header_of, result_of, write_lines

from conformance.report.index import index_report
from conformance.views.html import page

Line = Mapping[str, Any]

BASH = "linux-x86_64/bash-5.2.15/local"
PWSH = "linux-x86_64/pwsh-7.6.9/local"
WINDOWS = "windows-amd64/pwsh-7.6.9/local"
ACCESS_VIOLATION = 0xC0000005
EXPECTED = b"first line\nsecond line\n\0\xff end"
CAME = b"first line\nSECOND line\n\0\xff end\n"
BODY = "printf 'first line\\nsecond line\\n'; exit 2"
COLLAPSED = "the code collapsed, so a deny hook let the tool run"
FAILING = "bytes/lines/pwsh-file"


def stream_of(data: bytes, expected: bytes | None = None) -> Line:
    """Return how a report tells of a stream that held `data`, and where that departs from what was `expected`."""
    difference = None
    if expected is not None:
        both = range(min(len(data), len(expected)))
        offset = next((n for n in both if data[n] != expected[n]), len(both))
        window = max(0, offset - 8)
        sides = (expected[window : window + 48], data[window : window + 48])
        encoded = [base64.b64encode(side).decode() for side in sides]
        difference = {"offset": offset, "window_offset": window, "expected": encoded[0], "observed": encoded[1]}
    return {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "head": base64.b64encode(data[:2048]).decode(),
        "tail": base64.b64encode(data[-2048:]).decode(),
        "difference": difference,
    }


def lines_of_everything() -> list[Line]:
    """Return results of all seven kinds, on one to two environments a route, with bytes, sessions and a text basis."""
    step = result_of("t/t/t")["steps"][0]
    two: dict[str, Any] = {"steps": [step, {**step, "status": exited(3), "decision": "block", "repetition": 4}]}
    failing_step = {
        **step,
        "status": exited(ACCESS_VIOLATION),
        "stdout": stream_of(CAME, EXPECTED),
        "stderr": stream_of(b"warning: \x1b[31mred\x1b[0m\n" * 200),
        "stdin": {"sent": 5000, "broken_pipe": True},
        "witness": {"marks": 2, "received": [{"bytes": 4096, "sha256": "cd" * 32}]},
        "leftovers": [{"pid": 17, "command": "sleep 1000"}],
    }
    losses = [
        {"subject": "status", "meaning": COLLAPSED},
        {"subject": "stdout", "meaning": "other bytes came"},
    ]
    fail = partial(result_of, result="fail", came=ACCESS_VIOLATION, discrepancies=losses, steps=[failing_step])
    return [
        result_of("bytes/lines/sh-command"),
        result_of("bytes/lines/pwsh-file", "deviates", came=7, environment=PWSH),
        fail("bytes/lines/pwsh-file", environment=WINDOWS, expected=exited(2), reason="expected 2\ncame another"),
        result_of("bytes/nul/sh-command"),
        result_of("bytes/nul/pwsh-file", environment=PWSH, basis="text"),
        result_of("bytes/nul/pwsh-file", "fail", came=9, environment=WINDOWS, provisional=True),
        result_of("codes/seven/sh-command", "fixed"),
        result_of("codes/seven/pwsh-file", environment=PWSH),
        result_of("codes/seven/pwsh-file", environment=WINDOWS),
        result_of("codes/two/sh-command", "error", reason="the route broke: no answer"),
        result_of("codes/two/adapter", "unavailable", reason="npm is missing"),
        result_of("sessions/steps/sh-command", **two),
        result_of("sessions/steps/adapter", "skipped", reason="it performs one body a process"),
    ]


def header_of_everything(lines: Sequence[Line]) -> dict[str, Any]:
    header = json.loads(json.dumps(header_of(lines, cases=len(lines))))
    for fixture in header["fixtures"]:
        fixture["steps"] = [{"bodies": {"sh": BODY}, "stdin": "0 bytes"}]
        if fixture["id"] == "sessions/steps":
            fixture["steps"] *= 2
    header["runs"].append({**header["runs"][0], "environment": "windows-amd64/local"})
    return dict(header)


def write_everything(path: Path) -> Path:
    lines = lines_of_everything()
    footer = footer_of(lines, findings=["the route sh-command is not what it says: run it again"])
    return write_lines(path, header_of_everything(lines), *lines, footer)


def html_of(report: Path) -> str:
    with index_report(report) as indexed:
        return "".join(page(indexed))


def write_page(report: Path) -> str:
    """Write the page of `report` beside it and return its address."""
    path = report.with_suffix(".html")
    path.write_text(html_of(report), encoding="utf-8")
    return path.resolve().as_uri()


@dataclass(frozen=True)
class Shown:
    """A page in a tab."""

    tab: Tab
    address: str

    def at(self, fragment: str) -> None:
        """Go to a link into the page, as from elsewhere."""
        self.tab.open("about:blank")
        self.tab.open(self.address + fragment)

    @property
    def fragment(self) -> str:
        return str(self.tab.evaluate("location.hash"))

    def text(self, selector: str) -> str:
        """Return what a reader sees of the first element that `selector` names."""
        return str(self.tab.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def texts(self, selector: str) -> list[str]:
        found = self.tab.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText)")
        return [str(text).strip() for text in found]

    @property
    def rows(self) -> list[list[str]]:
        """What stands in the grid, a list for each row, without the topics."""
        script = (
            "[...grid.table.querySelectorAll('tbody tr:not(.topic)')].map((r) => [...r.cells].map((c) => c.innerText))"
        )
        return list(self.tab.evaluate(script))

    @property
    def hits(self) -> list[str]:
        """The cells that are what the filters ask for."""
        return self.texts("#grid td:not(.other):not(.none)")

    @property
    def focus(self) -> str:
        """The text of the element that has the focus."""
        return str(self.tab.evaluate("document.activeElement.innerText"))

    @property
    def panel_is_open(self) -> bool:
        return not self.tab.evaluate("document.querySelector('#panel').hidden")

    def field(self, name: str) -> list[str]:
        """Return the values that the panel has under a name."""
        script = f"[...document.querySelectorAll('#panel dt')].filter((e) => e.innerText === {json.dumps(name)})"
        return list(self.tab.evaluate(f"{script}.map((e) => e.nextElementSibling.innerText)"))

    def click_button(self, name: str) -> None:
        """Click on the button of that name in the panel."""
        script = (
            f"[...document.querySelectorAll('#panel button')].find((e) => e.innerText === {json.dumps(name)}).click()"
        )
        self.tab.evaluate(script)


Show = Callable[..., Shown]
"""Opens the page at an address, at a fragment of it, in surroundings that a tab has."""
