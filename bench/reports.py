"""What becomes of time and memory when reports grow: merge, diff and the summaries of 10,000 to 1,000,000 results."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.measure import Figure, peak_megabytes
from conformance.report.codec import FORMAT

ROUTES = 50
SIZES = (10_000, 100_000, 1_000_000)
LARGEST_MEGABYTES = 300
TIME = "2026-01-31T12:00:00+00:00"
EMPTY = {
    "bytes": 0,
    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "head": "",
    "tail": "",
    "difference": None,
}


def result_line(fixture: str, route: str, code: int) -> str:
    """Return the line of a case that exits with `code`, where 7 is expected; one that does not fails."""
    step = {
        "status": {"kind": "exited", "code": code},
        "stdout": EMPTY,
        "stderr": EMPTY,
        "stdin": {"sent": 0, "broken_pipe": False},
        "witness": {"marks": 1, "received": []},
        "leftovers": [],
        "seconds": 0.1,
        "repetition": 1,
        "decision": None,
    }
    meaning = "the code collapsed to 1, so a caller that blocks on 2 takes the hook for broken and carries on"
    line = {
        "kind": "result",
        "id": f"{fixture}/{route}",
        "environment": "linux-x86_64/bash-5.2.15/local",
        "fixture": fixture,
        "route": route,
        "result": "pass" if code == 7 else "fail",
        "status": step["status"],
        "expected": {"kind": "exited", "code": 7},
        "rule": {"reason": "the code of the native is the status", "url": "https://example.org/rule"},
        "reason": "exited(7), and every byte, as expected" if code == 7 else f"expected 7, came {code}: {meaning}",
        "discrepancies": [] if code == 7 else [{"subject": "status", "meaning": meaning}],
        "basis": "bytes",
        "system": None,
        "provisional": False,
        "deviation": None,
        "steps": [step],
    }
    return json.dumps(line) + "\n"


def write_report(path: Path, results: int, shard: tuple[int, int] = (1, 1), failing: int = 0) -> Path:
    """Write a report of `results` results (those of a `shard`), of which one in `failing` fails."""
    part, of = shard
    fixtures = [f"topic-{number % 40}/name-{number}" for number in range(results // ROUTES)]
    routes = [f"route-{number}" for number in range(ROUTES)]
    mine = range(part - 1, results, of)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(_header(fixtures, routes, shard, len(mine))) + "\n")
        failed = 0
        for number in mine:
            fails = bool(failing) and number % failing == 0
            failed += fails
            stream.write(result_line(fixtures[number // ROUTES], routes[number % ROUTES], 1 if fails else 7))
        counts = {name: count for name, count in (("fail", failed), ("pass", len(mine) - failed)) if count}
        footer = {
            "kind": "footer",
            "results": counts,
            "findings": [],
            "incomplete": [],
            "exit_code": int(bool(failed)),
            "finished_at": TIME,
        }
        stream.write(json.dumps(footer) + "\n")
    return path


def _header(fixtures: Sequence[str], routes: Sequence[str], shard: tuple[int, int], cases: int) -> dict[str, Any]:
    run = {
        "environment": "linux-x86_64/local",
        "system": {"release": "6.1", "distribution": "", "python": "3.11.2"},
        "shells": [{"asked": "bash", "name": "bash", "version": "5.2.15", "path": "/bin/bash", "found": "PATH"}],
        "child_environment": {},
        "selection": "the matrix",
        "shard": {"part": shard[0], "of": shard[1]},
        "cases": cases,
        "started_at": TIME,
    }
    steps = [{"bodies": {"bash": "{{native:7}}"}, "stdin": "0 bytes"}]
    return {
        "kind": "header",
        "format": FORMAT,
        "tool": {"name": "shell-exit-conformance", "version": "0.1.0"},
        "suite": {"digest": "ab" * 32, "matrices": ["made-up"]},
        "runs": [run],
        "routes": [
            {
                "id": route,
                "aliases": [],
                "kind": "one-shot",
                "dialects": ["bash"],
                "argv": ["bash", "-c", "{{body}}"],
                "stdin": None,
                "judged_by": "last-statement",
                "source": "",
            }
            for route in routes
        ],
        "fixtures": [
            {"id": id_, "aliases": [], "summary": "s", "source": "https://example.org", "steps": steps}
            for id_ in fixtures
        ],
        "cases": cases,
    }


def merge() -> Figure:
    """Measure `merge` of two shards."""

    def command(folder: Path, results: int) -> list[str | Path]:
        parts = [write_report(folder / f"{part}.jsonl", results, (part, 2), failing=1000) for part in (1, 2)]
        return ["merge", *parts, "-o", folder / "merged.jsonl"]

    return _growth("conformance merge of two shards", command)


def diff() -> Figure:
    """Measure `diff` of two reports, in which one result in a hundred changed."""

    def command(folder: Path, results: int) -> list[str | Path]:
        old = write_report(folder / "old.jsonl", results, failing=100)
        return ["diff", old, write_report(folder / "new.jsonl", results), "--fail-on", "added"]

    return _growth("conformance diff, one in a hundred changed", command)


def summaries() -> Figure:
    """Measure all views but the page, one in a thousand fails."""

    def command(folder: Path, results: int) -> list[str | Path]:
        report = write_report(folder / "report.jsonl", results, failing=1000)
        views = [word for name in ("markdown", "junit", "badge", "csv") for word in (f"--{name}", folder / name)]
        return ["report", report, *views]

    return _growth("conformance report: Markdown, JUnit, badge and CSV", command)


def _growth(name: str, command: Callable[[Path, int], Sequence[str | Path]]) -> Figure:
    seconds, megabytes = [], []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            arguments = command(Path(folder), size)
            started = time.perf_counter()
            megabytes.append(peak_megabytes([sys.executable, "-m", "conformance", *arguments], Path.cwd()))
            seconds.append(time.perf_counter() - started)
    times = ", ".join(f"{size:,}: {spent:.3g} s" for size, spent in zip(SIZES, seconds, strict=True))
    grows = seconds[-1] / seconds[-2] / (SIZES[-1] / SIZES[-2])
    return Figure(
        name,
        f"{SIZES[-1]:,} results in at most {LARGEST_MEGABYTES} MB, the time growing as they do",
        f"{max(megabytes):.0f} MB; {times}",
        max(megabytes) <= LARGEST_MEGABYTES and grows <= 1.2,
    )
