"""What whole commands cost: the start, collecting, a big stream, the core matrix."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.cases import same_route_many_times
from bench.measure import Figure, ends_well, paired, peak_megabytes, spread, timed
from conformance.campaign import local_runner
from conformance.catalog import load_catalog
from conformance.payload import sha256
from conformance.schedule import run_cases
from conformance.witness import CHUNK_BYTES

STARTS = 20
MANY = "many.toml"
GIBIBYTE = 1 << 30
STREAM_ROUNDS = 5
COLLECT_ROUNDS = 3
CORE_ROUNDS = 2

ROUTE = """
fixtures = ["big/stream"]
[[route]]
id = "plain"
kind = "one-shot"
dialects = ["sh"]
argv = ["{{sh}}", "-c", "{{body}}"]
source = "https://pubs.opengroup.org/onlinepubs/9699919799/utilities/sh.html"
"""
FIXTURE = f"""
[[fixture]]
id = "stream"
summary = "The body prints 1 GiB"
source = "https://pubs.opengroup.org/onlinepubs/9699919799/utilities/sh.html"
body.sh = '''
{{{{mark}}}}
head -c {GIBIBYTE} /dev/zero'''
[[fixture.expect]]
exit = 0
stdout = {{ repeat = "\\u0000", bytes = {GIBIBYTE} }}
reason = "It printed what it was to print"
"""

NOTHING_BUT_NAMES = """
import pytest

class Item(pytest.Item):
    def runtest(self):
        pass

class File(pytest.File):
    def collect(self):
        for number in range(100_000):
            yield Item.from_parent(self, name=f"exit-codes/exit-7/bash-{number}")

def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".txt":
        return File.from_parent(parent, path=file_path)
"""


def version() -> Figure:
    """`conformance --version`, as it is installed."""
    program = Path(sys.executable).with_name("conformance")
    start = timed(ends_well([program, "--version"]))
    bare = timed(ends_well([sys.executable, "-c", "pass"]))
    pairs = paired(start, bare, STARTS)
    times = [1000 * ours for ours, _ in pairs]
    return Figure(
        "conformance --version",
        "at most 80 ms",
        spread(times, "ms"),
        statistics.median(times) <= 80,
        f"python -c pass takes {spread([1000 * bare for _, bare in pairs], 'ms')}",
    )


def collecting_by_command() -> Figure:
    """100,000 cases, named by the command."""
    with tempfile.TemporaryDirectory() as name:
        folder = many_cases(Path(name))
        return _collecting("conformance list cases", ["conformance", "list", "cases", MANY], folder)


def collecting_by_pytest() -> Figure:
    """100,000 cases, collected by pytest, and as many items of a plug-in that does nothing but name them."""
    collect = ["pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        folder = many_cases(Path(name))
        figure = _collecting("pytest --collect-only -q", [*collect, f"--conformance-matrices={MANY}"], folder)
        (Path(other) / "conftest.py").write_text(NOTHING_BUT_NAMES)
        (Path(other) / "names.txt").write_text("")
        bare = [timed(ends_well([sys.executable, "-m", *collect], Path(other)))() for _ in range(COLLECT_ROUNDS)]
    return replace(figure, detail=f"items that are nothing but their names take pytest {spread(bare, 's')}")


def many_cases(folder: Path) -> Path:
    """Write a matrix of 100,000 cases, and an ini file that asks for none, into `folder`, and return that."""
    fixtures = [fixture for fixture in load_catalog(["full"]).fixtures if "sh" in fixture.dialects]
    (folder / MANY).write_text(same_route_many_times(-(-100_000 // len(fixtures)), "*"))
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def _collecting(what: str, arguments: list[str], folder: Path) -> Figure:
    command = [sys.executable, "-m", *arguments]
    seconds = [timed(ends_well(command, folder))() for _ in range(COLLECT_ROUNDS)]
    memory = peak_megabytes(command, folder)
    return Figure(
        f"100,000 cases, the whole of `{what}`",
        "at most 3 s and 300 MB",
        f"{spread(seconds, 's')}, {memory:.0f} MB",
        statistics.median(seconds) <= 3 and memory <= 300,
    )


def stream_first() -> Figure:
    """A case whose body prints 1 GiB, the first of its kind in a run."""
    return _stream("read, compared and digested", sha256.cache_clear)


def stream_again() -> Figure:
    """A case whose body prints 1 GiB that was expected before in this run, so that its digest is known."""
    return _stream("read and compared, its digest known", lambda: None)


def _stream(what: str, begin: Callable[[], None]) -> Figure:
    """Measure against a loop that reads the same and does nothing with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "fixtures").mkdir()
        (folder / "fixtures" / "big.toml").write_text(FIXTURE)
        (folder / "route.toml").write_text(ROUTE)
        catalog = load_catalog([], [folder / "route.toml"], folder / "fixtures")
        with local_runner() as (runner, _):

            def judged() -> None:
                begin()
                (result,) = run_cases(catalog, catalog.cases(), runner, jobs=1, time_scale=10.0)
                assert result.kind == "pass", result.reason

            pairs = paired(timed(judged), timed(read_and_forget), STREAM_ROUNDS)
    ratios = [bare / ours for ours, bare in pairs]
    return Figure(
        f"1 GiB of stdout, {what}, against a bare read loop",
        "at least 0.5 times its speed",
        spread(ratios, "times"),
        statistics.median(ratios) >= 0.5,
        f"the bare loop reads {spread([GIBIBYTE / bare / 1e6 for _, bare in pairs], 'MB/s')}",
    )


def read_and_forget() -> None:
    """Read 1 GiB from a pipe, in chunks as large as the harness reads."""
    with subprocess.Popen(["head", "-c", str(GIBIBYTE), "/dev/zero"], stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), CHUNK_BYTES):
            pass


def core() -> Figure:
    """The core matrix, as a user runs it."""
    seconds = []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(CORE_ROUNDS):
            command = [sys.executable, "-m", "conformance", "run", "--report", "report.jsonl"]
            seconds.append(timed(ends_well(command, Path(name)))())
        lines = [json.loads(line) for line in (Path(name) / "report.jsonl").read_text().splitlines()]
    used = sum(step["seconds"] for line in lines if line["kind"] == "result" for step in line["steps"])
    return Figure(
        f"the core matrix ({lines[0]['cases']} cases), {os.cpu_count()} processors",
        "at most 120 s on two",
        spread(seconds, "s"),
        statistics.median(seconds) <= 120,
        f"its processes ran {used:.0f} s in all",
    )
