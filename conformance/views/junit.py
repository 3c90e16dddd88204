"""JUnit XML for CI systems: what both Jenkins and GitLab read of it.

Jenkins: https://github.com/jenkinsci/xunit-plugin (model/xsd/junit-10.xsd), which knows properties of suites only.
GitLab: https://docs.gitlab.com/ci/testing/unit_test_reports/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring
from xml.sax.saxutils import quoteattr

from conformance.observation import SAYS_NOTHING, Basis, ResultKind
from conformance.report.findings import line_gates
from conformance.report.index import Column, ColumnCounts, IndexedReport
from conformance.report.results import Told, told_of
from conformance.views.text import printable, shortened

Line = Mapping[str, Any]

TEXT_CHARACTERS = 10_000
MESSAGE_CHARACTERS = 300
WHOLE = "conformance.run"
"""The class of the tests that stand for what no single result shows."""
_DIRECTIVE = re.compile(r"\[\[(?=\w+\|)")
"""What attaches a file of the machine to a test, or gives it a property, where it stands in its output."""


def junit(report: IndexedReport) -> Iterator[str]:
    """Yield the XML of `report`: a suite for each route in each environment, a test for each case.

    A provisional result fails no run, so it is skipped here.
    """
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="conformance">\n'
    yield from _whole(told_of(report))
    counts = report.column_counts()
    for column, lines in groupby(report.lines_by_column(), lambda line: Column(line["route"], line["environment"])):
        yield from _suite(column, counts[column])
        yield _xml(_properties(column, report))
        for line in lines:
            yield _xml(_test(line))
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _whole(told: Told) -> Iterator[str]:
    """Yield a suite of what is wrong with the run as a whole, so that it is not taken for one in which all passed."""
    tests = {
        "complete": ("error", told.cut_short),
        "findings": ("failure", "\n".join(told.findings)),
        "required-shells": ("error", "a required shell is missing" if told.lacks_a_shell else ""),
    }
    bad = [element for element, text in tests.values() if text]
    yield _open("the run as a whole", len(tests), bad.count("failure"), bad.count("error"), 0)
    for name, (element, text) in tests.items():
        test = Element("testcase", name=name, classname=WHOLE, time="0")
        if text:
            _say(test, element, element, text)
        yield _xml(test)
    yield "</testsuite>\n"


def _suite(column: Column, counts: ColumnCounts) -> Iterator[str]:
    results = counts.results
    told = sum(results.get(kind, 0) for kind in ("pass", "deviates", "error")) + counts.gating
    total = sum(results.values())
    name = f"{column.route} on {column.environment}"
    yield _open(name, total, counts.gating, results.get(ResultKind.ERROR, 0), total - told)


def _open(name: str, tests: int, failures: int, errors: int, skipped: int) -> str:
    values = {"name": _text(name), "tests": tests, "failures": failures, "errors": errors, "skipped": skipped}
    return f"<testsuite {' '.join(f'{key}={quoteattr(str(value))}' for key, value in values.items())}>\n"


def _properties(column: Column, report: IndexedReport) -> Element:
    properties = Element("properties")
    for name, value in (
        ("conformance_route", column.route),
        ("conformance_environment", column.environment),
        ("conformance_suite", report.header["suite"]["digest"]),
        ("conformance_version", report.header["tool"]["version"]),
    ):
        SubElement(properties, "property", name=name, value=_text(value))
    return properties


def _test(line: Line) -> Element:
    # Jenkins takes what stands before the last full stop for a package.
    package, name = (_text(line[key]).replace(".", "_") for key in ("environment", "route"))
    seconds = sum(step["seconds"] for step in line["steps"])
    test = Element("testcase", name=line["id"], classname=f"{package}.{name}", time=f"{seconds:.3f}")
    kind, reason = line["result"], line["reason"]
    if kind == ResultKind.ERROR:
        _say(test, "error", kind, reason)
    elif line_gates(line):
        _say(test, "failure", kind, reason)
    elif kind in (ResultKind.FAIL, ResultKind.FIXED):
        _say(test, "skipped", kind, f"provisional, not seen on this shell and system before: {reason}")
    elif kind in SAYS_NOTHING:
        _say(test, "skipped", kind, reason)
    if kind != ResultKind.PASS or line["basis"] == Basis.TEXT:
        SubElement(test, "system-out").text = _output(line)
    return test


def _say(test: Element, element: str, kind: str, text: str) -> None:
    message = shortened(text.split("\n", 1)[0], MESSAGE_CHARACTERS)
    SubElement(test, element, type=kind, message=_text(message)).text = _text(text)


def _output(line: Line) -> str:
    """Return the properties of a test, by the names that the pytest plug-in has for them, and what is documented."""
    told = {"result": line["result"], "environment": line["environment"], "basis": line["basis"]}
    rows = [f"[[PROPERTY|conformance_{name}={_text(value)}]]" for name, value in told.items()]
    deviation = line["deviation"]
    if line["result"] == ResultKind.DEVIATES and deviation is not None:
        rows.append(f"deviates as documented: {_text(deviation['reason'])} ({_text(deviation['url'])})")
    return "\n".join(rows)


def _text(text: str) -> str:
    return _DIRECTIVE.sub(r"[\\x5b", printable(shortened(text, TEXT_CHARACTERS)))


def _xml(element: Element) -> str:
    return tostring(element, encoding="unicode") + "\n"
