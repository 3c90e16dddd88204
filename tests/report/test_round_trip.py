"""A result goes into a report and comes back the same, and a report that was cut is never taken for a whole one."""

from __future__ import annotations

import hashlib
import io
import json
from functools import cache
from pathlib import Path

import pytest
from conftest import REPORT_ENVIRONMENT, valid_lines, valid_report
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.catalog import Catalog, load_catalog
from conformance.condition import Condition
from conformance.errors import HarnessError, UsageError
from conformance.model import Deviation, EnvironmentKey, Expectation, ObservedPattern, Origin, Seconds
from conformance.observation import (
    SAYS_NOTHING,
    CapturedStream,
    Difference,
    Discrepancy,
    Leftover,
    Observation,
    Received,
    Result,
    ResultKind,
    StdinRecord,
    StepObservation,
    WitnessRecord,
)
from conformance.process.capture import HEAD_BYTES, TAIL_BYTES
from conformance.report.codec import decode_bytes, encode_bytes, result_line
from conformance.report.decoding import observation_in
from conformance.report.reader import read_report
from conformance.report.writer import ReportWriter
from conformance.selection import Selection
from conformance.status import Exited, FailedToStart, NotReported, Signalled, TimedOut, status_from_json

# Lone surrogates stand for bytes that are not UTF-8: os.fsdecode gives DC80 to DCFF, never the other half of a pair.
TEXTS = st.lists(
    st.one_of(st.text(max_size=10), st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)), max_size=8
).map("".join)
SMALL_BYTES = st.binary(max_size=40)
STATUSES = st.one_of(
    st.builds(Exited, st.integers(0, 2**32 - 1)),
    st.builds(Signalled, st.integers(1, 64)),
    st.just(TimedOut()),
    st.builds(FailedToStart, st.integers(1, 133), TEXTS),
    st.builds(NotReported, TEXTS),
)


@st.composite
def streams(draw: st.DrawFn) -> CapturedStream:
    data = draw(st.one_of(SMALL_BYTES, st.integers(HEAD_BYTES - 1, 3 * HEAD_BYTES).map(lambda size: b"ab" * size)))
    offset = draw(st.integers(0, len(data)))
    difference = Difference(offset, draw(st.integers(0, offset)), draw(SMALL_BYTES), draw(SMALL_BYTES))
    digest = hashlib.sha256(data).hexdigest()
    return CapturedStream(
        len(data), digest, data[:HEAD_BYTES], data[-TAIL_BYTES:], draw(st.sampled_from([None, difference]))
    )


STEPS = st.builds(
    StepObservation,
    status=STATUSES,
    stdout=streams(),
    stderr=streams(),
    stdin=st.builds(StdinRecord, st.integers(0, 2**40), st.booleans()),
    witness=st.builds(
        WitnessRecord,
        st.integers(0, 9),
        st.lists(st.builds(Received, st.integers(0, 9), st.just("ab" * 32)), max_size=2).map(tuple),
    ),
    leftovers=st.lists(st.builds(Leftover, st.integers(1, 2**22), TEXTS), max_size=2).map(tuple),
    seconds=st.floats(0, 1e6).map(Seconds),
    repetition=st.integers(1, 9),
)
RULE = Expectation(Exited(7), None, None, None, Condition(), "it is so", "https://x/rule", (), Origin("f", 1))
KEY = EnvironmentKey("linux", "x86_64", "bash", "5.2.15", "local")
PATTERNS = (
    ObservedPattern(Exited(1), "empty", "anything", None),
    ObservedPattern(None, "anything", "anything", None, received="anything"),
)
UNTOLD = ["stderr", "stdin", "stdout"]
DEVIATION = Deviation(("r",), ("f",), (), PATTERNS, Condition(), "why", "https://x", Origin("m", 3))

DOCUMENTED = (ResultKind.DEVIATES, ResultKind.FIXED)


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Return a result as the engine gives it: a case that was not run has no status and no steps."""
    kind = draw(st.sampled_from(ResultKind))
    told = kind not in SAYS_NOTHING or (kind is ResultKind.ERROR and draw(st.booleans()))
    found = st.lists(st.builds(Discrepancy, st.just("status"), TEXTS, TEXTS), max_size=2)
    return Result(
        id=draw(st.sampled_from(["exit-codes/exit-7/bash-file", "text/crlf/pwsh-file+docker"])),
        environment=KEY,
        kind=kind,
        reason=draw(TEXTS),
        provisional=draw(st.booleans()),
        status=draw(STATUSES) if told else None,
        expected=draw(STATUSES) if told else None,
        rule=RULE if told else None,
        discrepancies=tuple(draw(found)),
        deviation=DEVIATION if kind in DOCUMENTED else draw(st.sampled_from([None, DEVIATION])),
        observation=Observation(tuple(draw(st.lists(STEPS, min_size=1, max_size=2)))) if told else None,
    )


RESULTS = results()


@cache
def catalog() -> Catalog:
    return load_catalog(["core"])


def report_of(results: list[Result], *, footer: bool = True) -> bytes:
    stream = io.StringIO()
    writer = ReportWriter(stream, "in memory")
    writer.header(catalog(), (), REPORT_ENVIRONMENT, Selection())
    for result in results:
        writer.result(result_line(result))
    if footer:
        writer.footer(["something is wrong"], 1)
    return stream.getvalue().encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(RESULTS)
def test_a_result_comes_back_as_it_was(result: Result) -> None:
    (line,) = valid_lines(json.dumps(result_line(result)) + "\n")
    assert line["kind"] == "result"
    assert (line["id"], line["environment"]) == (result.id, str(KEY))
    assert f"{line['fixture']}/{line['route']}" == result.id
    assert ResultKind(line["result"]) is result.kind
    assert line["reason"] == result.reason
    assert line["provisional"] is result.provisional
    for key, status in (("status", result.status), ("expected", result.expected)):
        assert (None if line[key] is None else status_from_json(line[key])) == status
    assert [found["meaning"] for found in line["discrepancies"]] == [found.meaning for found in result.discrepancies]
    documented = {"origin": "m:3", "happens": "always", "reason": "why", "url": "https://x", "anything": UNTOLD}
    assert line["deviation"] == (None if result.deviation is None else documented)
    assert (observation_in(line) if line["steps"] else None) == result.observation


@given(st.binary(max_size=200))
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    assert decode_bytes(encode_bytes(data)) == data
    assert encode_bytes(data).isascii()


@pytest.mark.parametrize("text", ["A", "AA==x", "é", "AA =="])
def test_what_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_bytes(text)


@settings(max_examples=30, deadline=None)
@given(st.lists(RESULTS, max_size=3))
def test_a_report_comes_back_line_by_line(tmp_path_factory: pytest.TempPathFactory, results: list[Result]) -> None:
    path = tmp_path_factory.mktemp("report") / "report.jsonl"
    data = report_of(results)
    assert data.isascii()
    assert not set(data) & (set(range(32)) - {10})
    path.write_bytes(data)
    report = valid_report(path)
    assert report.complete
    assert report.footer is not None
    assert report.footer["exit_code"] == 1
    assert sum(report.footer["results"].values()) == len({(result.id, result.environment) for result in results})
    assert report.header["suite"]["digest"] == catalog().digest
    assert list(report.results) == [json.loads(json.dumps(result_line(result))) for result in results]


@settings(max_examples=25, deadline=None)
@given(st.lists(RESULTS, max_size=2), st.data())
def test_a_report_that_was_cut_is_incomplete(
    tmp_path_factory: pytest.TempPathFactory, results: list[Result], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("report") / "report.jsonl"
    whole = report_of(results)
    ends = [position for position, byte in enumerate(whole) if byte == 10]
    near = st.sampled_from(ends).flatmap(lambda end: st.integers(max(0, end - 1), min(len(whole) - 1, end + 1)))
    for cut in data.draw(st.lists(st.one_of(near, st.integers(0, len(whole) - 1)), min_size=5, max_size=5)):
        path.write_bytes(whole[:cut])
        if cut <= ends[0]:
            with pytest.raises(UsageError, match=r"report\.jsonl:1: not a report"):
                read_report(path)
            continue
        report = valid_report(path)
        assert not report.complete
        assert report.footer is None
        assert len(report.results) == sum(end < cut for end in ends[1:-1])
        assert list(report.results) == [json.loads(json.dumps(result_line(r))) for r in results[: len(report.results)]]


def test_an_interrupted_run_has_no_footer(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_bytes(report_of([], footer=False))
    assert not valid_report(path).complete


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "report.jsonl:1: not a report: it has no whole line"),
        ("{}", "report.jsonl:1: not a report: it has no whole line"),
        ("{}\n", "report.jsonl:1: not a report: a header is expected here"),
        ("[1]\n", "report.jsonl:1: not a report: a header is expected here"),
        ('{"kind": "result"}\n', "report.jsonl:1: not a report: a header is expected here"),
        ('{"kind": "header"}\n', "report.jsonl:1: not a report of format 2, the one that is known here"),
        ('{"kind": "header", "format": 2}\n', "report.jsonl:1: the header does not fit `conformance schema report`"),
        ("HEADER\nnothing\n", "report.jsonl:2: not a line of a report: Expecting value"),
        ('HEADER\n{"kind": "Footer"}\n', "report.jsonl:2: not a report: a result or a footer is expected here"),
        ("HEADER\n\n", "report.jsonl:2: not a line of a report"),
        ("HEADER\nHEADER\n", "report.jsonl:2: not a report: a result or a footer is expected here"),
        ("HEADER\nFOOTER\nFOOTER\n", "report.jsonl:3: a line behind the footer. Join reports with `conformance merge`"),
    ],
)
def test_what_is_no_report_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    header, footer = report_of([]).decode().splitlines()
    path = tmp_path / "report.jsonl"
    path.write_text(text.replace("HEADER", header).replace("FOOTER", footer), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_report(path)
    assert message in str(caught.value)


def test_a_report_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read as a report"):
        read_report(tmp_path / "none.jsonl")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(UsageError, match=r"not a line of a report: 'utf-8' codec can't decode"):
        read_report(tmp_path / "bytes.jsonl")


def test_a_full_disk_is_a_harness_error_that_says_what_to_do() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    stream = full.open("w", encoding="utf-8")
    writer = ReportWriter(stream, "report.jsonl")
    with pytest.raises(HarnessError, match=r"report\.jsonl cannot be written: No space left on device.*--report"):
        writer.header(catalog(), (), {}, Selection())
    with pytest.raises(OSError, match="No space left"):
        stream.close()


def test_a_report_has_plain_line_ends_whatever_the_system_writes(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    with path.open("w", encoding="utf-8", newline="\r\n") as stream:
        ReportWriter(stream, "the report").result({"id": "a/b/c", "environment": "e", "result": "pass"})
    assert path.read_bytes() == b'{"id": "a/b/c", "environment": "e", "result": "pass"}\n'
