"""JUnit XML: what Jenkins and GitLab make of it, whatever a report holds."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree.ElementTree import Element, fromstring

import pytest
from hostile_reports import hostile_reports, log_commands, moves_a_cursor
from hypothesis import given
from report_files import DEVIATION, result_of
from view_world import HOSTILE, indexed, report_of

from conformance.views.junit import junit

ALLOWED = {
    "testsuites": ({"testsuite"}, {"name"}),
    "testsuite": ({"properties", "testcase"}, {"name", "tests", "failures", "errors", "skipped"}),
    "properties": ({"property"}, set()),
    "property": (set(), {"name", "value"}),
    "testcase": ({"failure", "error", "skipped", "system-out"}, {"name", "classname", "time"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
    "system-out": (set(), set()),
}
"""The children and attributes that all readers take: Jenkins's junit-10.xsd, of which this is a part."""


def check_junit(element: Element) -> None:
    children, attributes = ALLOWED[element.tag]
    assert {child.tag for child in element} <= children
    assert set(element.attrib) <= attributes
    if element.tag == "testcase":
        assert set(element.attrib) == attributes
        assert len([child for child in element if child.tag != "system-out"]) <= 1
        assert re.fullmatch(r"\d+(\.\d{3})?", element.attrib["time"])
        assert element.attrib["classname"].count(".") == 1, "Jenkins cuts it at the last one"
    for child in element:
        check_junit(child)
    if element.tag == "testsuite":
        outcomes = Counter(inner.tag for test in element.iter("testcase") for inner in test)
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[attribute]) == outcomes[tag]


def outcomes(root: Element) -> dict[str, str]:
    return {test.attrib["name"]: next((child.tag for child in test), "passes") for test in root.iter("testcase")}


def test_each_result_is_what_a_ci_system_makes_of_it() -> None:
    results = {
        "pass": "passes", "deviates": "system-out", "fail": "failure", "fixed": "failure",
        "error": "error", "unavailable": "skipped", "skipped": "skipped",
    }  # fmt: skip
    lines = [result_of(f"a/{result}/r", result) for result in results]
    lines.append(result_of("a/provisional/r", "fail", provisional=True))
    with report_of(lines) as report:
        root = fromstring("".join(junit(report)))
    check_junit(root)
    found = outcomes(root)
    assert {name: found[f"a/{name}/r"] for name in results} == results
    assert found["a/provisional/r"] == "skipped"
    assert (found["complete"], found["findings"], found["required-shells"]) == ("passes", "passes", "passes")
    deviates = next(test for test in root.iter("testcase") if test.attrib["name"] == "a/deviates/r")
    assert (deviates.findtext("system-out") or "").split("\n") == [
        "[[PROPERTY|conformance_result=deviates]]",
        "[[PROPERTY|conformance_environment=linux-x86_64/bash-5.2.15/local]]",
        "[[PROPERTY|conformance_basis=bytes]]",
        f"deviates as documented: {DEVIATION['reason']} ({DEVIATION['url']})",
    ]


@pytest.mark.parametrize(
    ("whole", "findings", "exit_code", "name", "outcome"),
    [
        (False, [], None, "complete", "error"),
        (True, ["two routes disagree"], None, "findings", "failure"),
        (True, [], 3, "required-shells", "error"),
    ],
)
def test_a_run_that_proves_nothing_is_not_green(
    whole: bool,  # noqa: FBT001 - a parameter of the test
    findings: list[str],
    exit_code: int | None,
    name: str,
    outcome: str,
) -> None:
    with report_of([result_of("a/b/r")], whole=whole, findings=findings, exit_code=exit_code) as report:
        root = fromstring("".join(junit(report)))
    check_junit(root)
    assert outcomes(root)[name] == outcome
    assert list(outcomes(root).values()).count("passes") == 3


def test_a_suite_is_a_route_in_an_environment() -> None:
    keys = ["linux-x86_64/bash-5.2/local", "linux-x86_64/bash-5.1/local"]
    lines = [result_of(f"a/{name}/{route}", environment=key) for name in "xy" for route in "rs" for key in keys]
    with report_of(lines) as report:
        root = fromstring("".join(junit(report)))
    names = [suite.attrib["name"] for suite in root]
    assert names == ["the run as a whole", *(f"{route} on {key}" for route in "rs" for key in reversed(keys))]
    assert {test.attrib["classname"] for test in root[1].iter("testcase")} == {"linux-x86_64/bash-5_1/local.r"}


@given(hostile_reports())
@HOSTILE
def test_junit_of_a_hostile_report_is_xml_of_that_kind(content: bytes) -> None:
    with indexed(content) as report:
        text = "".join(junit(report))
        ids = [line["id"] for line in report.lines_by_column()]
        gating = report.gating
    root = fromstring(text.encode("utf-8"))
    check_junit(root)
    assert not moves_a_cursor(text)
    assert not log_commands(text)
    tests = [test for test in root.iter("testcase") if test.attrib["classname"] != "conformance.run"]
    assert [test.attrib["name"] for test in tests] == ids
    assert sum(test.find("failure") is not None for test in tests) == gating
    for output in root.iter("system-out"):
        assert re.findall(r"\[\[(\w+)\|", output.text or "") == ["PROPERTY"] * 3


def test_the_check_can_fail() -> None:
    lying = '<testsuites name="a"><testsuite name="a" tests="2" failures="0" errors="0" skipped="0"/></testsuites>'
    with pytest.raises(AssertionError):
        check_junit(fromstring(lying))
