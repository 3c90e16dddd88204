"""Whatever stands in reports, no citation and no comparison of them executes, breaks out or commands who reads it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import call_cli
from hostile_reports import hostile_reports, log_commands, moves_a_cursor
from hypothesis import HealthCheck, given, settings
from markdown_reading import check_markdown
from view_world import HOSTILE, indexed

from conformance.views.citation import citation
from conformance.views.document import Sentences, as_markdown

REPORTS = hostile_reports()
few = settings(HOSTILE, max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@few
@given(REPORTS)
def test_a_citation_is_ours_and_nothing_else(data: bytes) -> None:
    with indexed(data) as report:
        for line in report.lines():
            check_markdown(as_markdown(citation(report.header, line, Sentences("No script."))))


@few
@given(REPORTS, REPORTS)
def test_a_comparison_is_told_without_harm(old: bytes, new: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("old.jsonl", "new.jsonl")]
        for path, data in zip(paths, (old, new), strict=True):
            path.write_bytes(data)
        for form in ([], ["--markdown"], ["--json"]):
            shown = call_cli("diff", *paths, "--allow-incomplete", *form)
            assert shown.code in (0, 1, 4)
            assert not moves_a_cursor(shown.out + shown.err)
            assert not log_commands(shown.out + shown.err)
            if form == ["--json"] and shown.out:
                assert isinstance(json.loads(shown.out), Mapping)
            if form == ["--markdown"]:
                check_markdown(shown.out)


def test_the_checks_can_fail() -> None:
    for text in (
        "<script>a</script>",
        "![a](https://example.org/a.png)",
        "[a](mailto:b@c)",
        "@everyone",
        "a #1",
        "::error::x",
    ):
        with pytest.raises(AssertionError):
            check_markdown(text)
    assert log_commands("a\n  ::error::b")
    assert moves_a_cursor("a\x1b[1mb")
