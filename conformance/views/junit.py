"""A report as JUnit XML, as Jenkins's xunit plug-in and GitLab read it: a test case for each case.

The order of elements and the attributes are those of Jenkins's schema.
Sources: https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
https://docs.gitlab.com/ci/testing/unit_test_reports/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from conformance.observation import ResultKind
from conformance.report.findings import line_gates
from conformance.report.results import Told
from conformance.views.text import printable, shortened

Line = Mapping[str, Any]

REASON_CHARACTERS = 10_000
_DIFFERS = (ResultKind.FAIL, ResultKind.FIXED)
_NOT_RUN = (ResultKind.UNAVAILABLE, ResultKind.SKIPPED)


def junit(told: Told) -> Iterator[str]:
    """Yield the parts of the file. What is wrong with the run as a whole is a test case of its own each."""
    counts, results = told.results.counts(), told.results
    whole = [*told.findings, *([told.cut_short] if told.cut_short else [])]
    not_counted = sum(counts.get(kind, 0) for kind in _DIFFERS) - results.gating
    totals = {
        "tests": sum(counts.values()) + len(whole),
        "failures": results.gating + len(whole),
        "errors": counts.get(ResultKind.ERROR, 0),
    }
    skipped = sum(counts.get(kind, 0) for kind in _NOT_RUN) + not_counted
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="conformance"{_attributes(totals)}>\n'
    yield f'<testsuite name="conformance"{_attributes({**totals, "skipped": skipped})}>\n'
    for sentence in whole:
        yield '<testcase name="the whole run" classname="conformance">'
        yield _element("failure", sentence) + "</testcase>\n"
    for line in results.lines():
        yield _case(line)
    yield "</testsuite>\n</testsuites>\n"


def _case(line: Line) -> str:
    # Jenkins takes what stands before the last dot for a package.
    class_name = f"{_undotted(line['environment'])}.{_undotted(line['route'])}"
    seconds = sum(step["seconds"] for step in line["steps"])
    head = _attributes({"name": line["id"], "classname": class_name, "time": f"{seconds:.3f}"})
    return f"<testcase{head}>{''.join(_inside(line))}</testcase>\n"


def _inside(line: Line) -> Iterator[str]:
    kind, reason = line["result"], line["reason"]
    if kind == ResultKind.ERROR:
        yield _element("error", reason)
    elif line_gates(line):
        yield _element("failure", reason, type=kind)
    elif kind in _NOT_RUN:
        yield _element("skipped", reason)
    elif kind in _DIFFERS:
        yield _element("skipped", f"provisional, so it fails no run: {kind}: {reason}")
    notes = [f"conformance_result={kind}", f"conformance_basis={line['basis']}"]
    if kind == ResultKind.DEVIATES:
        notes.append(reason)
    yield f"<system-out>{_text(chr(10).join(notes))}</system-out>"


def _element(name: str, text: str, **attributes: str) -> str:
    message = text.partition("\n")[0]
    return f"<{name}{_attributes({'message': message, **attributes})}>{_text(text)}</{name}>"


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f" {name}={quoteattr(_plain(str(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    return escape(_plain(text))


def _plain(text: str) -> str:
    """Return `text` in characters that XML 1.0 may hold, which all printable ones are."""
    return printable(shortened(text, REASON_CHARACTERS))


def _undotted(text: str) -> str:
    return text.replace(".", "_")
