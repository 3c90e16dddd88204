"""Reports that are made up, as a run writes them: for tests that run nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conftest import REPORT_ENVIRONMENT

from conformance.observation import SAYS_NOTHING
from conformance.report.codec import FORMAT
from conformance.report.findings import exit_code

Line = Mapping[str, Any]

TIME = "2026-01-31T12:00:00+00:00"
EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
NO_STREAM = {"bytes": 0, "sha256": EMPTY_SHA256, "head": "", "tail": "", "difference": None}
LOCAL_BASH = "linux-x86_64/bash-5.2.15/local"
DEVIATION = {
    "origin": "m.toml:3",
    "happens": "always",
    "reason": "it is so",
    "url": "https://example.org/deviation",
    "anything": [],
}


def exited(code: int) -> dict[str, Any]:
    return {"kind": "exited", "code": code}


def result_of(id_: str, result: str = "pass", *, came: int = 0, environment: str = LOCAL_BASH, **more: Any) -> Line:
    """Return the result line of the case `id_`, which should exit 0; `more` are other values of its keys."""
    fixture, _, route = id_.rpartition("/")
    told = result not in SAYS_NOTHING
    step = {
        "status": exited(came),
        "stdout": NO_STREAM,
        "stderr": NO_STREAM,
        "stdin": {"sent": 0, "broken_pipe": False},
        "witness": {"marks": 1, "received": []},
        "leftovers": [],
        "seconds": 0.1,
        "repetition": 1,
        "decision": None,
    }
    return {
        "kind": "result",
        "id": id_,
        "environment": environment,
        "fixture": fixture,
        "route": route,
        "result": result,
        "status": exited(came) if told else None,
        "expected": exited(0) if told else None,
        "rule": {"reason": "it must", "url": "https://example.org/rule"} if told else None,
        "reason": f"{result} for a reason",
        "discrepancies": [{"subject": "status", "meaning": "another code"}] if told and came else [],
        "basis": "bytes",
        "system": None,
        "provisional": False,
        "deviation": DEVIATION if result in ("deviates", "fixed") else None,
        "steps": [step] if told else [],
        **more,
    }


def header_of(
    lines: Sequence[Line],
    *,
    digest: str = "ab" * 32,
    shard: tuple[int, int] = (1, 1),
    environment: str = "linux-x86_64/local",
    cases: int | None = None,
) -> Line:
    """Return the header of a run that gave `lines`; `cases` is how many it should have given."""
    count = len({line["id"] for line in lines}) if cases is None else cases
    run = {
        **REPORT_ENVIRONMENT,
        "environment": environment,
        "selection": "the matrix",
        "shard": {"part": shard[0], "of": shard[1]},
        "cases": count,
        "started_at": TIME,
    }
    routes = dict.fromkeys(line["route"] for line in lines)
    fixtures = dict.fromkeys(line["fixture"] for line in lines)
    return {
        "kind": "header",
        "format": FORMAT,
        "tool": {"name": "shell-exit-conformance", "version": "0.1.0"},
        "suite": {"digest": digest, "matrices": ["core"]},
        "runs": [run],
        "routes": [
            {
                "id": route.partition("+")[0],
                "aliases": [],
                "kind": "one-shot",
                "dialects": ["bash", "sh"],
                "argv": ["bash", "-c", "{{body}}"],
                "stdin": None,
                "judged_by": "last-statement",
                "source": "",
            }
            for route in routes
        ],
        "fixtures": [
            {
                "id": fixture,
                "aliases": [],
                "summary": f"what {fixture} is",
                "source": "https://example.org/fixture",
                "steps": [{"bodies": {"sh": "exit 0"}, "stdin": "0 bytes"}],
            }
            for fixture in fixtures
        ],
        "cases": count,
    }


def footer_of(lines: Sequence[Line], *, findings: Sequence[str] = (), incomplete: Sequence[int] = ()) -> Line:
    last = {(line["id"], line["environment"]): line for line in lines}.values()
    return {
        "kind": "footer",
        "results": dict(sorted(Counter(line["result"] for line in last).items())),
        "findings": list(findings),
        "incomplete": list(incomplete),
        "exit_code": 3 if incomplete else exit_code(list(last), findings, []),
        "finished_at": TIME,
    }


def write_lines(path: Path, *lines: Line) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def write_report(path: Path, lines: Sequence[Line], **header: Any) -> Path:
    """Write a whole report of `lines` to `path`."""
    return write_lines(path, header_of(lines, **header), *lines, footer_of(lines))
