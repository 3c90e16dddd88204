"""What several tests share: the `conformance` command, run as a user runs it or inside the test's own process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import conformance
from conformance.catalog import Catalog, load_catalog
from conformance.cli import main
from conformance.paths import schema_file
from conformance.report.reader import Report, read_report
from conformance.runners.local import local_os

ROOT = Path(conformance.__file__).resolve().parents[1]
"""What holds the package, which the command finds from any folder, installed or not."""
COMMAND = (sys.executable, "-m", "conformance")
UNWANTED = (
    "CONFORMANCE_PWSH", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES",
    "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTHONUNBUFFERED",
)  # fmt: skip
"""Variables of the developer's that would change what the command does."""


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what runs remember out of the developer's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@dataclass(frozen=True)
class Finished:
    """A command that ran to its end. Its output was decoded as UTF-8, as a terminal would."""

    code: int
    out: str
    err: str


def command_environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return this process's environment without what is unwanted, and with `changes` (None takes a variable out)."""
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    for name, value in (changes or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def run_cli(
    *arguments: str | Path,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> Finished:
    """Run `conformance ARGUMENTS` as a process of its own. `env` changes the environment; None takes a variable out.

    It remembers no earlier run, unless `env` says where they are (XDG_CACHE_HOME).
    """
    with tempfile.TemporaryDirectory() as cache:
        completed = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            env=command_environment({"XDG_CACHE_HOME": cache, **(env or {})}),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
    return Finished(completed.returncode, completed.stdout, completed.stderr)


def run_on_terminal(columns: int, changes: Mapping[str, str | None], *arguments: str, cwd: Path, code: int = 0) -> str:
    """Run the command on a terminal of that many columns, and return all that it sent there. It must exit `code`."""
    import pty  # there is none on Windows

    controller, terminal = pty.openpty()  # type: ignore[attr-defined, unused-ignore]
    environment = command_environment({"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "24", **changes})
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=environment, cwd=cwd
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # what Linux says when the last writer has gone
                break
            if not part:
                break
            shown += part
    os.close(controller)
    assert process.returncode == code, shown
    return shown.decode().replace("\r\n", "\n")


def call_cli(*arguments: str | Path) -> Finished:
    """Call the command inside this process: much cheaper, and enough where nothing is run."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ending:
            code = ending.code
    assert isinstance(code, int)
    return Finished(code, out.getvalue(), err.getvalue())


@cache
def report_schema() -> Draft202012Validator:
    """Return what checks a line of a report against the published schema."""
    schema = json.loads(schema_file("report").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def valid_lines(text: str) -> list[dict[str, Any]]:
    """Return the lines of a report that are whole, each of which must fit the published schema."""
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    for line in lines:
        misfit = best_match(report_schema().iter_errors(line))
        assert misfit is None, f"{misfit.json_path}: {misfit.message}"
    return lines


def valid_report(path: Path) -> Report:
    """Read the report at `path`, whose lines must fit the published schema and come in its order."""
    kinds = [line["kind"] for line in valid_lines(path.read_text(encoding="utf-8"))]
    assert re.fullmatch("(header)?(,result)*(,footer)?", ",".join(kinds))
    return read_report(path)


REPORT_ENVIRONMENT = {
    "environment": "linux-x86_64/local",
    "system": {"release": "6.1", "distribution": "", "python": "3.11.2"},
    "shells": [
        {"asked": "bash", "name": "bash", "version": "5.2.15", "path": "/bin/bash", "found": "PATH"},
        {"asked": "pwsh", "unavailable": "pwsh is not on PATH"},
    ],
    "child_environment": {"HOME": "{{place}}/home"},
}
"""What a header says of a machine, in tests that run nothing."""


TINY_FIXTURE = """
[[fixture]]
id = "one"
summary = "s"
source = "https://example.org"
started = "unprovable: the test decides what the body is"
body.sh = {body}
[[fixture.expect]]
exit = 7
stdout = {stdout}
reason = "r"
seen = {seen}
"""
TINY_ROUTE = """
fixtures = ["t/one"]
[[route]]
id = "r"
kind = "one-shot"
dialects = ["sh"]
source = "https://example.org"
"""


SEEN_HERE = f'["dash 0.5.12 {local_os()}", "bash 5.2.15 {local_os()}"]'


def tiny_catalog(folder: Path, route: str, body: str, *, stdout: str = '""', seen: str = SEEN_HERE) -> Catalog:
    """Return a catalogue of one fixture, which must exit 7, on one route; what is given is TOML."""
    fixtures = folder / "fixtures"
    fixtures.mkdir(exist_ok=True)
    (fixtures / "t.toml").write_text(TINY_FIXTURE.format(body=body, stdout=stdout, seen=seen))
    matrix = folder / "matrix.toml"
    matrix.write_text(TINY_ROUTE + route)
    return load_catalog([str(matrix)], fixture_folder=fixtures)


MATRIX = """
fixtures = ["exit-codes/exit-0", "exit-codes/exit-7"]

[[route]]
id = "faithful"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "{{body}}"]
source = "https://example.org/faithful"

[[route]]
id = "always-0"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "sh {{body_file}}; exit 0"]
source = "https://example.org/always-0"
"""
DEVIATION = """
[[deviation]]
routes = ["always-0"]
fixtures = ["exit-codes/exit-7"]
observed.exit = {code}
reason = "it always says 0"
url = "https://example.org/always-0"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose ini file names a matrix of its own."""
    pytester.makeini("[pytest]\nconformance_matrices = matrix.toml\n")
    return pytester


def write_matrix(pytester: pytest.Pytester, text: str) -> None:
    (pytester.path / "matrix.toml").write_text(text)
