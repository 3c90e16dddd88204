"""Indexed reports for tests of views: made-up ones, and those of somebody who means harm."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import Phase, settings
from report_files import Line, footer_of, header_of, write_lines

from conformance.report.index import IndexedReport, index_report

HOSTILE = settings(
    max_examples=120,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a whole report takes minutes
)
"""For properties of hostile reports."""


@contextmanager
def indexed(content: bytes) -> Iterator[IndexedReport]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.jsonl")
        path.write_bytes(content)
        with index_report(path) as report:
            yield report


@contextmanager
def report_of(
    lines: Sequence[Line], *, findings: Sequence[str] = (), whole: bool = True, exit_code: int | None = None
) -> Iterator[IndexedReport]:
    footer = footer_of(lines, findings=findings)
    footer = footer if exit_code is None else {**footer, "exit_code": exit_code}
    with tempfile.TemporaryDirectory() as folder:
        path = write_lines(
            Path(folder, "r.jsonl"), header_of(lines, cases=len(lines)), *lines, *([footer] if whole else [])
        )
        with index_report(path) as report:
            yield report
