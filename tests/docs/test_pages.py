"""The pages that are made from data agree with the data, and nobody edited them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT, command_environment
from report_files import footer_of, header_of, result_of, write_lines, write_report

from conformance.catalog import Catalog, load_catalog
from conformance.engine import terms_of
from conformance.model import Case, EnvironmentKey
from conformance.routes.expressible import why_skipped

DOCS = ROOT / "docs"

if not DOCS.is_dir():
    pytest.skip("the documents are not installed", allow_module_level=True)

from docs.coverage_page import coverage_page, reports_of  # noqa: E402
from docs.routes_page import Seen, environments_of, routes_page  # noqa: E402

ROUTES = (DOCS / "routes.md").read_text(encoding="utf-8")


@cache
def full() -> Catalog:
    return load_catalog(["full", "sessions"])


def documented(catalog: Catalog, case: Case, environment: str) -> Seen:
    """Return what the catalogue says that a report holds of `case`."""
    if why_skipped(case):
        return Seen(environment, "skipped")
    terms = terms_of(catalog, case, EnvironmentKey.parse(environment))
    return Seen(environment, "pass" if terms.deviation is None else "deviates")


def page_of(catalog: Catalog) -> str:
    environments = environments_of(ROUTES)
    cases = catalog.cases()
    return routes_page(catalog, {case.id: documented(catalog, case, environments[case.route.id]) for case in cases})


def test_the_page_of_routes_is_what_the_matrices_say() -> None:
    assert page_of(full()) == ROUTES, "docs/routes.md is stale: see docs/__main__.py"


def test_a_deviation_less_makes_the_page_of_routes_stale() -> None:
    first, *others = full().matrices
    matrix = replace(first, deviations=first.deviations[1:])
    assert page_of(replace(full(), matrices=(matrix, *others))) != ROUTES


def test_every_route_has_its_losses_or_keeps_all() -> None:
    for route in full().routes:
        section = re.search(rf"^## {re.escape(route.id)}\n(.*?)(?=^## |\Z)", ROUTES, re.DOTALL | re.MULTILINE)
        assert section, route.id
        assert "\n- **" in section[1] or "It keeps every fixture." in section[1]
        assert "not as documented" not in section[1]


def test_the_reference_route_loses_nothing_but_what_is_named() -> None:
    named = re.search(r"^## pwsh-preserving\n(.*)", ROUTES, re.DOTALL | re.MULTILINE)
    assert named
    losses = re.findall(r"^- \*\*.*?\*\* — (.+?) \(\[source\]\((https://\S+)\)\)", named[1], re.MULTILINE)
    assert losses
    assert all(len(reason) > 40 for reason, _ in losses)


def test_the_page_of_coverage_is_what_the_fixtures_say() -> None:
    page = (DOCS / "coverage.md").read_text(encoding="utf-8")
    assert page == coverage_page(full()), "docs/coverage.md is stale: see docs/__main__.py"
    for fixture in full().fixtures:
        for url in reports_of(fixture):
            assert re.search(
                rf"^\| `{re.escape(fixture.id)}` .*\({re.escape(url)}\)|<{re.escape(url)}>", page, re.MULTILINE
            )


def run_docs(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docs", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=command_environment(), capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_the_program_writes_the_pages(tmp_path: Path) -> None:
    environments = environments_of(ROUTES)
    seen = {case.id: documented(full(), case, environments[case.route.id]) for case in full().cases()}
    lines = [result_of(id_, found.result, environment=found.environment) for id_, found in seen.items()]
    report = write_report(tmp_path / "report.jsonl", lines, digest=full().digest)
    written = run_docs("routes", report)
    assert (written.returncode, written.stderr, written.stdout) == (0, "", ROUTES)
    written = run_docs("coverage")
    assert (written.returncode, written.stdout) == (0, (DOCS / "coverage.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("proves", ["another suite", "incomplete"])
def test_a_report_that_proves_nothing_is_refused(proves: str, tmp_path: Path) -> None:
    lines = [result_of("exit-codes/exit-0/bash-command")]
    header = header_of(lines, digest="0" * 64 if proves == "another suite" else full().digest)
    footer = [] if proves == "incomplete" else [footer_of(lines)]
    report = write_lines(tmp_path / "report.jsonl", header, *lines, *footer)
    refused = run_docs("routes", report)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"docs: {report}: not the whole report")


def test_wrong_arguments_are_one_sentence() -> None:
    refused = run_docs("everything")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
