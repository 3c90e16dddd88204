"""Nothing that a hook, an adapter, a shell or a report says is a command in a CI system's log, whatever prints it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from adapter_world import adapter_route
from conftest import COMMAND, call_cli, command_environment
from hostile_reports import FIXTURES, ROUTES, hostile_reports, log_commands, moves_a_cursor
from hypothesis import HealthCheck, Phase, given, settings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the shells of the routes are /bin/sh")

FORGED = "\n::error::forged\n  ::add-mask::forged ##[error]forged ##vso[task.forged]x ##teamcity[forged]"
LOUD = """
fixtures = ["exit-codes/exit-0", "exit-codes/exit-7"]

[[route]]
id = "prints"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", '''echo "$1"; echo "$1" >&2; sh {{{{body_file}}}}''', "sh", {forged}]
source = "https://example.org/"

[[route]]
id = "quiet"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "{{{{body}}}}"]
source = "https://example.org/"

[[route]]
id = "unstartable"
kind = "one-shot"
dialects = ["sh"]
argv = [{forged}, "{{{{body}}}}"]
source = "https://example.org/"

[[route]]
id = "no-pwsh"
kind = "one-shot"
dialects = ["pwsh"]
argv = ["{{{{pwsh}}}}", "-Command", "{{{{body}}}}"]
source = "https://example.org/"

[[deviation]]
routes = ["quiet"]
fixtures = ["exit-codes/exit-7"]
observed.exit = 0
reason = {forged}
url = "https://example.org/::error::forged/##[error]forged"
"""
CASE = "exit-codes/exit-7/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with routes that say what a log would take for commands, a pwsh that does, and a report of all that."""
    folder = tmp_path_factory.mktemp("loud")
    forged = '"' + FORGED.replace("\n", "\\n") + '"'
    (folder / "loud.toml").write_text(LOUD.format(forged=forged), encoding="utf-8")
    pwsh = folder / "pwsh"
    pwsh.write_text(f"#!/bin/sh\ncat <<'EOF'\n{FORGED}\nEOF\ncat <<'EOF' >&2\n{FORGED}\nEOF\n", encoding="utf-8")
    pwsh.chmod(0o755)
    said(folder, "run", "loud.toml", "--report", "r.jsonl")
    return folder


def said(folder: Path, *arguments: str) -> str:
    finished = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=command_environment({"CONFORMANCE_PWSH": str(folder / "pwsh"), "GITHUB_ACTIONS": "true"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in finished.stderr
    return finished.stdout + finished.stderr


COMMANDS: Sequence[Sequence[str]] = [
    ["run", "loud.toml", "--report", "again.jsonl"],
    ["run", "loud.toml", "--json"],
    ["run", "loud.toml", "--route", FORGED],
    ["run", FORGED],
    ["run", "--report", f"{FORGED}/r.jsonl"],
    ["try", "--dialect", "sh", "--", "sh", "-c", "{{body}}", FORGED],
    ["agree", "prints", "quiet", "--report", "r.jsonl"],
    ["agree", "prints", "quiet", "--report", "r.jsonl", "--equal", "bytes", "--json"],
    ["agree", "quiet", FORGED, "--report", "r.jsonl"],
    ["fingerprint", "loud.toml", "--report", "r.jsonl"],
    ["fingerprint", "--", "sh", "-c", "{{body}}", FORGED],
    *(
        ["explain", f"{CASE}{route}", "--matrix", "loud.toml"]
        for route in ("prints", "quiet", "unstartable", "no-pwsh")
    ),
    ["explain", f"{CASE}prints", "--matrix", "loud.toml", "--markdown"],
    ["explain", f"{CASE}prints", "--matrix", "loud.toml", "--json"],
    ["explain", FORGED],
    *(["show", f"{CASE}{route}", "--matrix", "loud.toml"] for route in ("prints", "quiet", "unstartable")),
    ["show", f"{CASE}prints", "--matrix", "loud.toml", "--json"],
    ["show", FORGED],
    ["cite", f"{CASE}quiet", "--matrix", "loud.toml", "--report", "r.jsonl"],
    ["verify", f"{CASE}prints", "--matrix", "loud.toml", "-n", "1"],
    ["diff", "r.jsonl", FORGED],
    ["merge", "r.jsonl", FORGED, "-o", "m.jsonl"],
    ["report", "r.jsonl"],
    ["report", FORGED],
    ["list", FORGED],
    ["doctor"],
    ["doctor", "--json"],
    ["systems", "report", "--report", FORGED],
    [FORGED],
    [f"--{FORGED}"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: ascii(" ".join(arguments))[1:60])
def test_what_is_printed_forges_nothing(arguments: Sequence[str], folder: Path) -> None:
    text = said(folder, *arguments)
    assert text
    assert not log_commands(text)


def test_what_would_be_a_command_is_still_told(folder: Path) -> None:
    shown = said(folder, "report", "r.jsonl")
    assert "x23#[error]forged" in shown
    assert "forged" in said(folder, "explain", f"{CASE}no-pwsh", "--matrix", "loud.toml")


FORGERS = {
    "its name": "Adapter(name=FORGED, version=FORGED).serve()",
    "an error of its": """
class Fails(Adapter):
    def reply(self, request):
        return {"id": request["id"], "error": FORGED}
Fails().serve()
""",
    "its last words": "sys.exit(FORGED)",
}


@pytest.mark.parametrize("said_in", FORGERS)
def test_an_adapter_forges_nothing(said_in: str, tmp_path: Path) -> None:
    route = adapter_route(tmp_path, f"FORGED = {FORGED!r}\n{FORGERS[said_in]}\n")
    (tmp_path / "a.toml").write_text('fixtures = ["exit-codes/exit-7"]\n' + route, encoding="utf-8")
    texts = [
        said(tmp_path, *arguments)
        for arguments in (["run", "a.toml"], ["explain", f"{CASE}r", "--matrix", "a.toml"], ["systems", "report"])
    ]
    assert "forged" in "".join(texts)
    for text in texts:
        assert not log_commands(text)


def test_pytest_forges_nothing(folder: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "conformance.pytest_plugin",
         "--conformance-matrices=loud.toml"],
        cwd=folder,
        env=command_environment({"CONFORMANCE_PWSH": str(folder / "pwsh"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )  # fmt: skip
    assert "x23#[error]forged" in finished.stdout
    assert not log_commands(finished.stdout + finished.stderr)


@given(hostile_reports())
@settings(
    max_examples=15,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a whole report takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_nor_does_a_report_through_any_command_that_reads_one(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    report = folder / "r.jsonl"
    report.write_bytes(content)
    commands: Sequence[Sequence[str | Path]] = (
        ["agree", *ROUTES[:2], "--report", report],
        ["agree", *ROUTES[:2], "--report", report, "--json"],
        ["fingerprint", ROUTES[1], "--report", report],
        ["fingerprint", ROUTES[1], "--report", report, "--json"],
        ["systems", "report", "--report", report],
        ["systems", "report", "--report", report, "--json"],
        ["cite", f"{FIXTURES[0]}/{ROUTES[0]}", "--report", report],
        ["merge", report, "--allow-incomplete", "-o", folder / "m.jsonl"],
        ["report", report],
        ["report", report, "--markdown", "-"],
    )
    for arguments in commands:
        finished = call_cli(*arguments)
        text = finished.out + finished.err
        assert not log_commands(text), arguments
        assert not moves_a_cursor(text), arguments
