"""A report is looked up by what its results are, and one whose numbers lie is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report_files import LOCAL_BASH, Line, footer_of, header_of, result_of, write_lines, write_report

from conformance.errors import UsageError
from conformance.report.index import Column, IndexedReport, index_report, temporary_database
from conformance.report.reader import LONGEST_LINE_BYTES, ReportFile, open_report

MAC = "macos-arm64/bash-5.2.15/local"
LINES = [
    result_of("t/b/second", "fail", came=1),
    result_of("t/a/first", environment=MAC),
    result_of("t/a/second", "fail", came=1, provisional=True),
    result_of("t/a/first"),
    result_of("t/b/first", "unavailable", basis="text"),
]


def test_results_come_by_fixture_route_and_environment(tmp_path: Path) -> None:
    path = write_report(tmp_path / "report.jsonl", LINES, cases=5)
    header = json.loads(path.read_text().splitlines()[0])
    assert [route["id"] for route in header["routes"]] == ["second", "first"]
    with index_report(path) as report:
        assert [(line["id"], line["environment"]) for line in report.lines()] == [
            ("t/a/second", LOCAL_BASH),
            ("t/a/first", LOCAL_BASH),
            ("t/a/first", MAC),
            ("t/b/second", LOCAL_BASH),
            ("t/b/first", LOCAL_BASH),
        ]
        assert [line["id"] for line in report.lines(["fail", "unavailable"])] == [
            "t/a/second",
            "t/b/second",
            "t/b/first",
        ]
        assert report.counts() == {"fail": 2, "pass": 2, "unavailable": 1}
        assert (report.gating, report.provisional, report.on_text) == (1, 1, 1)
        assert report.columns() == (Column("second", LOCAL_BASH), Column("first", LOCAL_BASH), Column("first", MAC))
        assert report.complete


def test_the_last_result_of_a_case_that_was_run_again_counts(tmp_path: Path) -> None:
    lines = [result_of("t/a/r", "fail", came=1), result_of("t/a/r")]
    with index_report(write_lines(tmp_path / "r", header_of(lines), *lines, footer_of(lines))) as report:
        assert [line["result"] for line in report.lines()] == ["pass"]
        assert report.counts() == {"pass": 1}


def test_results_are_read_while_others_are_asked_for(tmp_path: Path) -> None:
    with open_report(write_report(tmp_path / "r", LINES, cases=5)) as report:
        places = [(stored.offset, stored.size) for stored in report]
        for number, stored in enumerate(report):
            other = places[-1 - number]
            assert report.result_at(*other) == LINES[-1 - number]
            assert stored.value == LINES[number]


def lying(tmp_path: Path, header: Line, footer: Line) -> str:
    path = write_lines(tmp_path / "r", header, *LINES, footer)
    with pytest.raises(UsageError) as refused, index_report(path):
        pass
    return str(refused.value)


def test_a_footer_that_counts_what_is_not_there_is_refused(tmp_path: Path) -> None:
    said = lying(tmp_path, header_of(LINES, cases=5), footer_of(LINES[1:]))
    assert "the footer counts other results than there are" in said


def test_a_whole_report_that_lacks_results_is_refused(tmp_path: Path) -> None:
    assert "5 results of 6 cases" in lying(tmp_path, header_of(LINES, cases=6), footer_of(LINES))


def test_a_report_that_was_cut_short_may_lack_results(tmp_path: Path) -> None:
    with index_report(write_lines(tmp_path / "r", header_of(LINES, cases=6), *LINES)) as report:
        assert not report.complete
        assert sum(report.counts().values()) == 5


def test_a_line_that_is_longer_than_any_is_not_read_as_a_whole() -> None:
    class Endless:
        """A stream of one line, which notes how much of it was asked for."""

        asked = 0

        def seek(self, offset: int) -> None: ...

        def readline(self, size: int = -1) -> bytes:
            assert size > 0, "a line of any length would be read"
            self.asked += size
            return b"[" * size

    stream = Endless()
    with pytest.raises(UsageError, match="a line of more than 8 MiB"):
        ReportFile(stream, "r")  # type: ignore[arg-type]
    assert stream.asked == LONGEST_LINE_BYTES


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = write_report(tmp_path / "r", LINES, cases=5)
    with open_report(path) as report, temporary_database() as database:
        IndexedReport(report, database)
    assert list(tmp_path.iterdir()) == [path]
