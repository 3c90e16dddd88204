"""A report as one HTML file that needs no other: no network, no server, no program but the browser.

Nothing that a report says becomes markup. What is shown before the page's program runs is escaped; all else is JSON, of
which the program makes text nodes only. The page's policy lets nothing run or load but that one program and its style.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from string import Template

from conformance.report.index import IndexedReport
from conformance.report.results import told_of
from conformance.views.html import summary
from conformance.views.html.pool import Pool
from conformance.views.html.results import overview_json, results_json
from conformance.views.verdict import verdict

_FOLDER = Path(__file__).resolve().parent
PROGRAM = ("address.js", "bytes.js", "markdown.js", "data.js", "grid.js", "panel.js", "page.js")
"""The parts of the one program, in their order."""
STREAMED = "<!-- results and pool -->"


def page(report: IndexedReport) -> Iterator[str]:
    """Yield the parts of the page. The results are read and written one after the other."""
    found = verdict(told_of(report))
    style = _source("page.css")
    program = '"use strict";\n' + "\n".join(map(_source, PROGRAM))
    wrong = "".join(summary.what_is_wrong(report))
    before, _, after = _source("page.html").partition(STREAMED)
    values = {
        "style_hash": _hash(style),
        "program_hash": _hash(program),
        "style": style,
        "program": program,
        "verdict": summary.text(found.sentence),
        "verdict_class": "right" if found.is_good else "wrong",
        "wrong": f'<ul id="wrong">{wrong}</ul>' if wrong else "",
        "counts": "".join(summary.counts(report)),
        "counts_sentence": summary.counts_sentence(report),
        "notes": "".join(f"<li>{note}</li>" for note in summary.notes(report)),
        "facts": "".join(summary.facts(report)),
        "overview": overview_json(report),
    }
    yield Template(before).substitute(values)
    pool = Pool()
    yield '<script type="application/json" id="results">'
    yield from results_json(report, pool)
    yield '</script>\n<script type="application/json" id="pool">'
    yield from pool.chunks()
    yield "</script>"
    yield Template(after).substitute(values)


def _source(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    """Return what a Content-Security-Policy lets `source` in by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
