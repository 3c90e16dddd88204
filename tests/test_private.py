"""Nothing private of a user or a machine is in anything that people paste into a bug report."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import COMMAND, DEVIATION, MATRIX, command_environment

USER = "planted-user-27182"
TOKEN = "planted-token-31415"

LOUD = """
[[route]]
id = "leaves-things"
kind = "one-shot"
dialects = ["sh"]
argv = ["{{sh}}", "-c", "env | grep -v ^PATH=; echo $0 {{body_file}} $PWD >&2; sleep 60 & sh {{body_file}}"]
source = "https://example.org/leaves-things"
[[route]]
id = "unstartable"
kind = "one-shot"
dialects = ["sh"]
argv = ["HOME/bin/no-such-program", "{{body}}"]
source = "https://example.org/unstartable"
[[route]]
id = "other-shell"
kind = "one-shot"
dialects = ["pwsh"]
argv = ["{{pwsh}}", "-Command", "{{body}}"]
source = "https://example.org/other-shell"
"""


class Machine:
    """A user with a name, a home with a cache and programs in it, and a token in the environment."""

    def __init__(self, folder: Path, temporary: str) -> None:
        self.home = folder / USER
        (self.home / "bin").mkdir(parents=True)
        (self.home / "tmp").mkdir()
        self.project = self.home / "project"
        self.project.mkdir()
        pwsh = self.home / "bin" / "pwsh"
        pwsh.write_text("#!/bin/sh\necho I am no PowerShell, $GITHUB_TOKEN of $HOME >&2; exit 3\n")
        pwsh.chmod(0o755)
        (self.project / "matrix.toml").write_text(
            MATRIX + DEVIATION.format(code=0) + LOUD.replace("HOME", str(self.home))
        )
        self.variables = {
            "HOME": str(self.home), "USERPROFILE": str(self.home), "USER": USER, "LOGNAME": USER, "USERNAME": USER,
            "XDG_CACHE_HOME": str(self.home / ".cache"), "GITHUB_TOKEN": TOKEN, "AWS_SECRET_ACCESS_KEY": TOKEN,
            "TMPDIR": str(self.home / "tmp") if temporary == "in the home" else None,
            "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip

    def outputs(self, *command: str) -> Iterator[tuple[str, str]]:
        """Run `command` in the project and yield its output and all files that it left there or in the cache."""
        completed = subprocess.run(
            command,
            cwd=self.project,
            env=command_environment(self.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert "Traceback" not in completed.stderr
        # The one line of pytest's own that tells where it is.
        yield "standard output", re.sub("^-+ generated xml file: .*\n", "", completed.stdout, flags=re.MULTILINE)
        yield "standard error", completed.stderr
        for path in self.home.rglob("*"):
            if path.is_file() and path.name not in ("matrix.toml", "pwsh"):
                yield path.name, path.read_text(encoding="utf-8")

    def secrets(self) -> list[str]:
        host = socket.gethostname()
        return [str(self.home), USER, TOKEN, *([host] if len(host) > 5 and host != "localhost" else [])]


def decoded(text: str) -> Iterator[str]:
    """Yield `text`, and everything in base64 that its JSON holds, as a whole or in lines."""
    yield text
    for part in [text, *text.splitlines()]:
        if part.startswith("{"):
            with suppress(json.JSONDecodeError):
                yield from _strings(json.loads(part))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("head", "tail", "expected", "observed") and isinstance(inner, str):
                yield base64.b64decode(inner, validate=True).decode("utf-8", "replace")
            else:
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


@pytest.mark.parametrize("temporary", ["as usual", "in the home"])
@pytest.mark.parametrize(
    "command",
    [
        [*COMMAND, "run", "matrix.toml"],
        [*COMMAND, "run", "matrix.toml", "--json"],
        [*COMMAND, "run", "core", "-k", "bytes/*/bash-file"],
        [*COMMAND, "try", "--", "sh", "-c", "{{body}}; exit 0"],
        [*COMMAND, "try", "--json", "--dialect", "sh", "--", "sh", "-c", "env | grep -v ^PATH=; {{body}}"],
        [*COMMAND, "list", "cases", "full"],
        [*COMMAND, "doctor"],
        [*COMMAND, "systems", "report"],
        [*COMMAND, "systems", "report", "--report", "{home}/no-such-report.jsonl"],
        [*COMMAND, "doctor", "--json"],
        [*COMMAND, "show", "exit-codes/exit-7/pwsh-preserving"],
        [*COMMAND, "explain", "exit-codes/exit-7/leaves-things", "--matrix", "matrix.toml"],
        [*COMMAND, "explain", "exit-codes/exit-7/leaves-things", "--route", "{home}/project/matrix.toml", "--json"],
        [*COMMAND, "explain", "exit-codes/exit-7/other-shell", "--matrix", "matrix.toml", "--markdown"],
        [*COMMAND, "verify", "exit-codes/exit-7/", "--matrix", "matrix.toml", "-n", "1"],
        [*COMMAND, "verify", "exit-codes/exit-7/", "--matrix", "matrix.toml", "-n", "1", "--json"],
        [*COMMAND, "--help"],
        [*COMMAND, "run", "{home}/no-such-matrix.toml"],
        [*COMMAND, "run", "{home}/project/matrix.toml", "--report", "{home}/report.jsonl", "--fail-fast"],
        [*COMMAND, "run", "matrix.toml", "--report", "{home}/no/such/folder/report.jsonl"],
        [*COMMAND, "run", "--route", "{home}/project/matrix.toml"],
        [sys.executable, "-m", "pytest", "-q", "--conformance-report=r.jsonl", "--junit-xml=j.xml",
         "-p", "no:cacheprovider", "--conformance-matrices=matrix.toml", "-rA"],
    ],
    ids=lambda command: " ".join(command[len(COMMAND) : len(COMMAND) + 3]),
)  # fmt: skip
def test_nothing_private_is_shown(command: list[str], temporary: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path, temporary)
    seen = 0
    for name, output in machine.outputs(*(word.replace("{home}", str(machine.home)) for word in command)):
        for text in decoded(output):
            seen += len(text)
            for secret in machine.secrets():
                assert secret not in text, f"{name} shows {secret!r}: {text[max(0, text.index(secret) - 300) :][:600]}"
    assert seen
