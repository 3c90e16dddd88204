"""Whatever came and whatever is documented: after an update all is as documented, and a second one changes nothing."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from baseline_world import entry
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.baseline.document import Document, write_baseline
from conformance.baseline.evidence import Evidence, Line, evidence_in
from conformance.baseline.narrowing import without_unmatched
from conformance.baseline.revision import Revision
from conformance.baseline.slots import Grounds
from conformance.catalog import Catalog, check_catalog, covers, load_catalog
from conformance.catalog.baselines import read_baseline
from conformance.contract import facts_of, judge, terms_for
from conformance.errors import CatalogError
from conformance.model import Case, Deviation, EnvironmentKey, Seconds
from conformance.observation import (
    CapturedStream,
    Observation,
    ResultKind,
    StdinRecord,
    StepObservation,
    WitnessRecord,
)
from conformance.precedence import expectations_of
from conformance.report.codec import result_line
from conformance.report.findings import judge_run
from conformance.status import Exited, ExitStatus, TimedOut

FIXTURES = (
    "exit-codes/exit-0",
    "exit-codes/exit-2",
    "exit-codes/exit-255",
    "exit-codes/exit-7",
    "native-codes/native-7",
)
ROUTES = ("one", "two")
ROUTE = """
[[route]]
id = "{id}"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "{{{{body}}}}"]
source = "https://example.org/mytool"
"""
KEYS = tuple(
    EnvironmentKey.parse(text)
    for text in (
        "linux-x86_64/bash-5.2.15/local",
        "linux-x86_64/bash-5.1.0/local",
        "windows-amd64/bash-5.2.15/local",
        "linux-x86_64/dash-0.5.12/local",
    )
)
NAME = "mytool.baseline.toml"


@cache
def catalog() -> Catalog:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mytool.toml")
        file.write_text(f"fixtures = {list(FIXTURES)!r}\n" + "".join(ROUTE.format(id=route) for route in ROUTES))
        return load_catalog([str(file)])


def stream() -> CapturedStream:
    return CapturedStream(0, hashlib.sha256().hexdigest(), b"", b"", None)


def line(case: Case, key: EnvironmentKey, status: ExitStatus, deviations: Sequence[Deviation]) -> Line:
    step = StepObservation(
        status, stream(), stream(), StdinRecord(0, broken_pipe=False), WitnessRecord(1), (), Seconds(0.1)
    )
    facts = facts_of(case, key)
    covering = [deviation for deviation in deviations if covers(deviation, case)]
    terms = terms_for(case, expectations_of(case, facts), covering, facts)
    return result_line(judge(case, terms, Observation((step,)), key))


CODES = st.sampled_from([Exited(0), Exited(2), Exited(7), Exited(1), TimedOut()])
REPORT = st.dictionaries(
    st.tuples(st.sampled_from(range(len(FIXTURES) * len(ROUTES))), st.sampled_from(KEYS)), CODES, max_size=30
)
"""What came, by the number of the case and the environment."""
OBSERVED = st.sampled_from(["{ exit = 0 }", "{ exit = 1 }", "{ exit = 7 }", "{ timed_out = true }"])
WHEN = st.sampled_from(
    [
        "",
        "",
        *(f"when = {{ {text} }}\n" for text in ('os = "linux"', 'os = "windows"', 'os = "macos"', 'shell = "bash"')),
    ]
)
GLOBS = st.lists(
    st.sampled_from([*FIXTURES, "exit-codes/*", "*/*-7", "*", "gone/fixture"]), min_size=1, max_size=3, unique=True
)
NAMED_ROUTES = st.sampled_from(['"one"', '"two"', '"one", "two"', '"*"', '"three"'])


@st.composite
def entries(draw: st.DrawFn) -> str:
    """Return a table of a baseline."""
    kind = draw(st.sampled_from(["deviation", "flaky"]))
    several = draw(st.lists(OBSERVED, min_size=1, max_size=2, unique=True))
    observed = several[0] if kind == "deviation" else f"[{', '.join(several)}]"
    excepted = draw(st.sampled_from(["", "", 'except = ["exit-codes/exit-2"]\n', 'except = ["gone/x"]\n']))
    return entry(observed, *draw(GLOBS), kind=kind, routes=draw(NAMED_ROUTES), more=excepted + draw(WHEN))


def revised(evidence: Evidence, text: str, folder: Path) -> tuple[Revision, str]:
    """Update a baseline that is `text`, and return what became of it, once it was written and read back."""
    path = folder / NAME
    path.write_text(text)
    before = read_baseline(path, NAME)
    revision = Revision(catalog(), evidence, Grounds(NAME, "why", "https://example.org/"))
    revision.revise(before)
    after = Document(text, before, NAME).with_slots(revision.slots)
    write_baseline(path, after, [slot.now for slot in revision.slots if slot.now is not None], NAME)
    return revision, after


def lines_of(report: dict[tuple[int, EnvironmentKey], ExitStatus], deviations: Sequence[Deviation]) -> list[Line]:
    return [line(catalog().cases()[number], key, status, deviations) for (number, key), status in report.items()]


@settings(max_examples=150, deadline=None)
@given(reports=st.lists(REPORT, min_size=1, max_size=3), tables=st.lists(entries(), max_size=5))
def test_an_update_documents_all_that_came_and_is_done_at_once(
    reports: list[dict[tuple[int, EnvironmentKey], ExitStatus]], tables: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, text = Path(name), "\n".join(tables)
        evidence = evidence_in(
            [(f"{number}.jsonl", lines_of(report, ())) for number, report in enumerate(reports)], catalog(), ROUTES
        )
        assert evidence.refused == {}
        try:
            revision, after = revised(evidence, text, folder)
        except CatalogError as error:
            assert "ties with" in str(error)  # noqa: PT017 - what is drawn may tie
            return
        found = read_baseline(folder / NAME, NAME)
        matrix = replace(catalog().matrices[0], baseline=found)
        now = replace(catalog(), matrices=(matrix,))
        check_catalog(now)
        assert revision.left == {}
        for report in reports:
            for found_line in lines_of(report, found):
                assert found_line["result"] in (ResultKind.PASS, ResultKind.DEVIATES), after
        again, same = revised(evidence, after, folder)
        assert same == after
        assert all(slot.now == slot.old for slot in again.slots)
        for slot in revision.slots:
            if slot.old is not None and slot.old.condition.os == "macos":  # of which no report tells
                assert slot.now == without_unmatched(slot.old, catalog())


@settings(max_examples=100, deadline=None)
@given(came=st.lists(CODES, min_size=10, max_size=10), tables=st.lists(entries(), max_size=4))
def test_a_run_after_an_update_has_no_findings(came: list[ExitStatus], tables: list[str]) -> None:
    report = {(number, KEYS[0]): status for number, status in enumerate(came)}
    assert len(report) == len(catalog().cases())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evidence = evidence_in([("report.jsonl", lines_of(report, ()))], catalog(), ROUTES)
        try:
            revised(evidence, "\n".join(tables), folder)
        except CatalogError as error:
            assert "ties with" in str(error)  # noqa: PT017
            return
        found = read_baseline(folder / NAME, NAME)
        now = replace(catalog(), matrices=(replace(catalog().matrices[0], baseline=found),))
        lines = lines_of(report, found)
        assert {line["result"] for line in lines} <= {"pass", "deviates"}
        assert judge_run(lines, now) == []
