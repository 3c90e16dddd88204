"""Memory stays bounded, whatever a body prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import valid_report

from conformance.catalog import load_catalog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")

GIBIBYTE = 1024 * 1024 * 1024
MOST_KILOBYTES = 100_000

FIXTURES = f"""
[[fixture]]
id = "as-expected"
summary = "A body prints 1 GiB"
source = "https://example.org/"
body.sh = '''
{{{{mark}}}}
head -c {GIBIBYTE} /dev/zero'''
[[fixture.expect]]
exit = 0
stdout = {{ repeat = "\\u0000", bytes = {GIBIBYTE} }}
reason = "It printed what it was to print"
seen = ["dash 0.5.12 linux"]

[[fixture]]
id = "undocumented"
summary = "A body prints 100 MiB that nobody expects, to stderr"
source = "https://example.org/"
body.sh = '''
{{{{mark}}}}
head -c 104857600 /dev/zero >&2'''
[[fixture.expect]]
exit = 0
reason = "It was to print nothing"
seen = ["dash 0.5.12 linux"]
"""
ROUTE = """
fixtures = ["big/*"]
[[route]]
id = "plain"
kind = "one-shot"
dialects = ["sh"]
argv = ["{{sh}}", "-c", "{{body}}"]
source = "https://example.org/"
"""
# The peak of this process's own memory: getrusage would count that of the process it was forked from as well.
PROGRAM = """
import json, sys
from pathlib import Path
from conformance.campaign import Plan, perform
from conformance.catalog import load_catalog
from conformance.report.writer import ReportWriter

folder = Path(sys.argv[1])
catalog = load_catalog([], [folder / "route.toml"], folder / "fixtures")
with (folder / "report.jsonl").open("w") as stream:
    outcome = perform(Plan(catalog, catalog.cases(), 2, 10.0), ReportWriter(stream, "report"), lambda line: None)
peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
results = {result.id: [result.kind, result.observation.steps[0].stdout.length] for result in outcome.results}
reasons = [result.reason for result in outcome.results]
json.dump({"kilobytes": int(peak), "results": results, "reasons": reasons}, sys.stdout)
"""


def test_a_gibibyte_of_output_is_judged_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "big.toml").write_text(FIXTURES)
    (tmp_path / "route.toml").write_text(ROUTE)
    load_catalog([], [tmp_path / "route.toml"], tmp_path / "fixtures")  # a mistake in the texts above shows best here
    run = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], stdout=subprocess.PIPE, check=True, timeout=300)
    found = json.loads(run.stdout)
    assert found["results"] == {
        "big/as-expected/plain": ["pass", GIBIBYTE],
        "big/undocumented/plain": ["fail", 0],
    }, found["reasons"]
    assert found["kilobytes"] < MOST_KILOBYTES
    assert len(valid_report(tmp_path / "report.jsonl").results) == 2
    assert (tmp_path / "report.jsonl").stat().st_size < MOST_KILOBYTES
