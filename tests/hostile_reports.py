"""Reports whose every text was written by somebody who means harm, and what must never come of them in any view."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable

from conftest import REPORT_ENVIRONMENT
from hypothesis import strategies as st

from conformance.catalog import Catalog
from conformance.condition import Condition
from conformance.model import (
    Case,
    Deviation,
    EnvironmentKey,
    Expectation,
    Fixture,
    Matrix,
    ObservedPattern,
    Origin,
    Route,
    Seconds,
    Started,
    Step,
)
from conformance.observation import (
    SAYS_NOTHING,
    Basis,
    CapturedStream,
    Difference,
    Discrepancy,
    Leftover,
    Observation,
    Result,
    ResultKind,
    StdinRecord,
    StepObservation,
    System,
    WitnessRecord,
)
from conformance.payload import Literal
from conformance.process.capture import HEAD_BYTES, TAIL_BYTES
from conformance.report.codec import json_text, result_line
from conformance.report.findings import exit_code
from conformance.report.header import run_header
from conformance.report.writer import ReportWriter
from conformance.selection import Selection
from conformance.status import Exited, FailedToStart, NotReported, Signalled, TimedOut

NASTY = (
    "\x00", "\x1b[2J\x1b[1;1H", "\x1b]0;title\x07", "\x9b31m", "\r", "\x08\x08\x08", "\x7f", "\u202e", "\u2066",
    "\u200b", "\ufeff", "\u2028", "\udc80", "\ud800", "\ufffe", "\U000e0041", "\n", "\n::error::forged",
    "  ::warning file=a::forged", "\t::add-mask::a", "::stop-commands::x", "##[error]forged", "###[group]forged",
    "##vso[task.setvariable variable=a]b", "##teamcity[testFailed name='a']", "section_start:1:a\r\x1b[0K",
    "%0A::error::forged", "]]>", "<![CDATA[", "<script>alert(1)</script>", "</script>", "<!--", "-->",
    "<img src=x onerror=alert(1)>", "</details>", "<details open>", "&lt;", "&#60;", "&amp;", "'", '"', "`", "```",
    "```` ````", "\n```\n", "|", "\\|", "\\", "@everyone", "#1", "owner/name#1", "GH-1", "www.example.org",
    "https://example.org/a", "mailto:a@example.org", "[a](https://example.org)", "![a](https://example.org/a.png)",
    "[[ATTACHMENT|/etc/passwd]]", "\n- a", "\n# a", "\n| a | b |\n| - | - |", "\n\n    code", "=1+1", "+1", "-1",
    "@SUM(1)", "\t=1", "\r=1", "a" * 3000, "{{body}}", "%s", "{0}", "$(id)",
)  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=5)), max_size=6).map("".join)
NAMES = TEXTS.map(lambda text: text or "nobody")
_PRINTABLE = NAMES.map(lambda text: "".join(char for char in text if char.isprintable() and char != "/"))
KEYS = st.builds(
    EnvironmentKey,
    os=st.just("linux"),
    architecture=_PRINTABLE.map("x86{}".format),
    shell=st.just("bash"),
    version=_PRINTABLE.map("5.2{}".format),
    runner=_PRINTABLE.map("local{}".format),
)
STATUSES = st.one_of(
    st.builds(Exited, st.sampled_from([0, 1, 7, 2**32 - 1])),
    st.builds(Signalled, st.sampled_from([9, 77])),
    st.just(TimedOut()),
    st.builds(FailedToStart, st.integers(1, 133), TEXTS),
    st.builds(NotReported, TEXTS),
)
URLS = st.sampled_from(
    ["https://example.org/a", "https://example.org/<b>\u202e|`@x", "http://x/::error::##[error]&'\"]]>"]
)
ROUTES = ("bash-command", "pwsh-file", "a.b-c")
FIXTURES = ("exit-codes/exit-7", "text/crlf")


@st.composite
def _streams(draw: st.DrawFn) -> CapturedStream:
    data = draw(st.one_of(st.binary(max_size=40), st.just(b"\0\xff::error::\n" * 400)))
    window = Difference(len(data) // 2, 0, data[:20], b"##[error]\x1b[31m")
    return CapturedStream(
        len(data),
        hashlib.sha256(data).hexdigest(),
        data[:HEAD_BYTES],
        data[-TAIL_BYTES:],
        draw(st.sampled_from([None, window])),
    )


_STEPS = st.builds(
    StepObservation,
    status=STATUSES,
    stdout=_streams(),
    stderr=_streams(),
    stdin=st.builds(StdinRecord, st.integers(0, 2**40), st.booleans()),
    witness=st.just(WitnessRecord(1)),
    leftovers=st.lists(st.builds(Leftover, st.integers(1, 2**22), TEXTS), max_size=1).map(tuple),
    seconds=st.floats(0, 1e9).map(Seconds),
)


@st.composite
def _results(draw: st.DrawFn, case: Case, key: EnvironmentKey) -> Result:
    kind = draw(st.sampled_from(ResultKind))
    told = kind not in SAYS_NOTHING
    origin = Origin(draw(TEXTS), draw(st.integers(0, 99)))
    deviation = Deviation(
        ("r",),
        ("f",),
        (),
        (ObservedPattern(Exited(1), None, None, None),),
        Condition(),
        draw(TEXTS),
        draw(URLS),
        origin,
    )
    discrepancies = st.builds(Discrepancy, st.sampled_from(["status", "started", "stdin", "stdout"]), TEXTS, TEXTS)
    system = draw(st.none() | st.builds(System, NAMES, NAMES, st.sampled_from(Basis)))
    return Result(
        id=case.id,
        environment=key,
        kind=kind,
        reason=draw(TEXTS),
        provisional=draw(st.booleans()),
        status=draw(STATUSES) if told else None,
        expected=draw(STATUSES) if told else None,
        rule=Expectation(Exited(7), None, None, None, Condition(), draw(TEXTS), draw(URLS), (), origin)
        if told
        else None,
        discrepancies=tuple(draw(st.lists(discrepancies, max_size=2))) if told else (),
        deviation=deviation if kind in (ResultKind.DEVIATES, ResultKind.FIXED) else None,
        observation=Observation(tuple(draw(st.lists(_STEPS, min_size=1, max_size=2))), system) if told else None,
    )


@st.composite
def _catalogs(draw: st.DrawFn) -> Catalog:
    here = Origin("m.toml", 1)
    steps = (Step({"sh": draw(TEXTS), "pwsh": draw(TEXTS)}, Literal(b""), ()),)
    fixtures = tuple(Fixture(id_, draw(NAMES), draw(NAMES), steps, Started.YES, "", None, here) for id_ in FIXTURES)
    routes = tuple(
        Route(
            id=id_,
            kind=draw(NAMES),
            dialects=("sh", "pwsh"),
            argv=(draw(TEXTS), "{{body}}"),
            files={},
            environment={},
            shells=(),
            judged_by=draw(NAMES),
            source=draw(TEXTS),
            origin=here,
            stdin=draw(st.none() | TEXTS),
        )
        for id_ in ROUTES
    )
    matrix = Matrix(draw(NAMES), None, (), ("*",), routes, (), here)
    return Catalog(fixtures, (matrix,), hashlib.sha256(b"").hexdigest())


@st.composite
def hostile_reports(draw: st.DrawFn) -> bytes:
    """Return a report of several routes in several environments, as the codec and the writer write it."""
    catalog = draw(_catalogs())
    cases = tuple(Case(fixture, route) for fixture in catalog.fixtures for route in catalog.routes)
    chosen = draw(st.lists(st.sampled_from(cases), max_size=4, unique_by=lambda case: case.id))
    keys = draw(st.lists(KEYS, min_size=1, max_size=2, unique_by=str))
    lines = [result_line(draw(_results(case, key))) for case in chosen for key in keys]
    machine = {
        **REPORT_ENVIRONMENT,
        "environment": f"linux-x86_64/{draw(_PRINTABLE) or 'local'}",
        "system": {"release": draw(TEXTS), "distribution": draw(TEXTS), "python": draw(NAMES)},
        "shells": [{"asked": draw(NAMES), "unavailable": draw(NAMES)}],
        "child_environment": {draw(TEXTS): draw(TEXTS)},
    }
    header = run_header(catalog, cases, machine, Selection(ids=(draw(NAMES),))) | {"cases": len(lines)}
    stream = io.StringIO()
    stream.write(json_text(header) + "\n")
    writer = ReportWriter(stream, "in memory")
    for line in lines:
        writer.result(line)
    if draw(st.booleans()):
        findings = draw(st.lists(NAMES, max_size=2))
        writer.footer(findings, exit_code(lines, findings, []))
    return stream.getvalue().encode("utf-8")


def log_commands(log: str) -> list[str]:
    """Return what a CI system would take for commands in `log`: GitHub's runner, Azure Pipelines, TeamCity, GitLab."""
    lines = re.split(r"[\r\n\v\f\x85\u2028\u2029]", log)
    taken = [line for line in lines if line.strip().startswith("::")]
    taken += [line for line in lines if re.search(r"##\w*\[", line)]
    return taken + re.findall(r"section_(?:start|end):[^\r]*\r\x1b\[0K", log)


def moves_a_cursor(log: str, kept: Iterable[str] = "\n\t") -> list[str]:
    """Return the characters of `log` that do something to a terminal, or hide or turn around what stands there."""
    return [char for char in log if not char.isprintable() and char not in kept]
