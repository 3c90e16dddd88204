"""What tests of scripts share: cases of their own, and the comparison of a script with the harness."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from conftest import SEEN_HERE, TINY_ROUTE

from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.contract import Terms
from conformance.engine import open_engine, terms_of
from conformance.model import Case
from conformance.observation import Result, ResultKind
from conformance.repro import Recipe, bash, powershell, recipe_of
from conformance.runners.local_posix import ProgramsInFolder
from conformance.runners.natives import Natives
from conformance.shapes import ANYTHING, BEGINS
from conformance.status import Exited, ExitStatus, FailedToStart, Signalled, TimedOut

PWSH = os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh")


@dataclass(frozen=True)
class ScriptShell:
    """A shell that runs scripts."""

    command: tuple[str, ...]
    extension: str
    write: Callable[[Recipe], str]
    natives: Callable[[str], Natives]
    signal_word: Callable[[int], str]
    """What its scripts say of a death by a signal."""

    def run(self, script: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
        """Run `script` in an environment as small as a stranger's may be."""
        variables = {"PATH": os.environ["PATH"], "CONFORMANCE_PWSH": PWSH, "DOTNET_ROOT": os.environ.get("DOTNET_ROOT")}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"a script{self.extension}")
            path.write_text(script, encoding="utf-8")
            return subprocess.run(
                [*self.command, path],
                env={name: value for name, value in {**variables, **changes}.items() if value is not None},
                capture_output=True,
                encoding="utf-8",
                timeout=120,
                check=False,
            )

    def word(self, status: ExitStatus) -> str:
        """Return what its scripts say of `status`."""
        if isinstance(status, Exited):
            return f"exited {status.code}"
        if isinstance(status, Signalled):
            return self.signal_word(status.number)
        assert isinstance(status, TimedOut | FailedToStart)
        return "timed out" if isinstance(status, TimedOut) else "failed to start"


BASH = ScriptShell(
    ("bash", "--noprofile", "--norc"),
    ".bash",
    bash.bash_script,
    ProgramsInFolder,
    lambda number: f"signalled {number}",
)
POWERSHELL = ScriptShell(
    (PWSH or "pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-File"),
    ".ps1",
    powershell.powershell_script,
    powershell.ScriptNatives,
    lambda number: f"exited {128 + number}",
)


def told(shell: ScriptShell, result: Result, terms: Terms) -> list[str]:
    """Return what a script must print of `result`: its status, and the streams whose text is not a shell's own."""
    assert result.observation is not None, result.reason
    (observed,) = result.observation.steps
    lines = [f"status: {shell.word(observed.status)}"]
    for name in ("stdout", "stderr"):
        stream = getattr(observed, name)
        documented = terms.deviation and getattr(terms.deviation.observed[0], name)
        own = documented == ANYTHING or (isinstance(documented, str) and documented.startswith(BEGINS))
        if not own and getattr(terms.expectations[-1], name) is not None:
            lines.append(f"{name}: {stream.length} bytes, sha256 {stream.sha256}")
    return lines


def compare(shell: ScriptShell, catalog: Catalog, cases: Iterable[Case]) -> list[str]:
    """Run `cases` through the harness and their scripts of `shell`, and return where the two disagree."""
    wrong = []
    with local_runner() as (runner, _), open_engine(catalog, runner, 1.0) as engine:
        for case in cases:
            result = engine.execute(case)
            key = runner.environment_key(case.route)
            terms = terms_of(catalog, case, key)
            finished = shell.run(shell.write(recipe_of(case, terms, key, 1.0, shell.natives)))
            kept = result.kind in (ResultKind.PASS, ResultKind.FIXED)
            missing = [line for line in told(shell, result, terms) if line not in finished.stdout.splitlines()]
            if missing or finished.stderr or finished.returncode != (0 if kept else 1):
                wrong.append(f"{case.id}: harness {missing or result.kind}, script {finished}")
    return wrong


FIXTURE = """
[[fixture]]
id = "one"
summary = "A body of the test's own"
source = "https://example.org"
started = "unprovable: the test decides what the body is"
body.sh = {body}
{more}
[[fixture.expect]]
exit = 0
reason = "r"
seen = {seen}
"""


def catalog_of(folder: Path, route: str, body: str = "'exit 0'", more: str = "") -> Catalog:
    """Return a catalogue of one fixture on one route; what is given is TOML."""
    fixtures = folder / "fixtures"
    fixtures.mkdir()
    text = FIXTURE.format(body=body, more=more, seen=SEEN_HERE)
    (fixtures / "t.toml").write_text(text, encoding="utf-8")
    (folder / "matrix.toml").write_text(TINY_ROUTE + route, encoding="utf-8")
    return load_catalog([str(folder / "matrix.toml")], fixture_folder=fixtures)


ODD = '\x1b[31m \u202e\u2028 it\'s \\ "q" $HOME `id` *\t\r\n!é🚫\a %s'


def toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def through_sh(script: str, *arguments: str) -> str:
    return f"argv = [{', '.join(map(toml, ('sh', '-c', script, 'sh', *arguments)))}]\n"


FILES = f"""
argv = ["sh", "{{{{file:a}}}}"]
files.a = "printf %s '{{{{body|sh-quote}}}}'; cat {{{{file:b}}}} | od -c"
files.b = {toml(ODD * 2)}
"""
PLAIN = through_sh("{{body}}")
SAYABLE = {
    "arguments and body": (through_sh('printf "[%s]" "$@"', ODD, "", " ", "{{body}}", "a{{body}}b"), toml(ODD), ""),
    "files in files": (FILES, toml("it's {{filler:3000}}\n"), ""),
    "encoded": (through_sh("echo {{body|base64}} {{body|base64-utf16}}"), toml(f"{ODD} \n\n"), ""),
    "filters in a row": (
        through_sh("printf '%s|' \"{{body|crlf|base64}}\" '{{body|ps-quote}}'"), toml("it''s\none\ntwo\r\n"), ""
    ),
    "escapes": (through_sh("cat <<'END'\n{{body|ps-escape}}\nEND"), toml('a`b "$c"\r\nd\x1be'), ""),
    "environment": (
        through_sh('printf %s "$ODD"; {{body}}') + f"env = {{ ODD = {toml(ODD)}, LANG = 'C' }}",
        "'echo $LANG; env | cut -d = -f 1 | sort'",
        "",
    ),
    "bytes on stdin": (PLAIN, "'cat'", 'stdin = { hex = "00 ff 25 5c 27 0a 0d 1b 80 0a 0a" }'),
    "repeated bytes on stdin": (PLAIN, "'cat'", 'stdin = { repeat = "ab%é\\n", bytes = 200001 }'),
    "a stream on stdin": (PLAIN, "'cat; exit 3'", 'stdin = { stream = "stdin", bytes = 70001 }'),
    "the body on stdin": ('argv = ["sh"]\nstdin = "{{body}}\\necho then {{body|base64}}"', "'echo it; exec 3<&0'", ""),
    "closed and full streams": (
        PLAIN, "'echo lost; cat; echo $?'", 'wiring = { stdin = "closed", stdout = "full" }',
    ),
    "a long body": (PLAIN, "'echo {{filler:2000}}; echo {{filler:90000}} | wc -c'", ""),
    "a body that is too long": (PLAIN, "'echo {{filler:140000}}'", ""),
    "a code that looks like a signal": (PLAIN, "'exit 137'", ""),
    "a signal": (PLAIN, "'kill -INT $$'", ""),
    "empty folders": (PLAIN, """'pwd | sed s,.*/,,; ls -A . "$HOME" "$TMPDIR" | wc -l'""", ""),
}  # fmt: skip


def script_of(shell: ScriptShell, catalog: Catalog, id_: str) -> str:
    """Return the script of the case called `id_`."""
    (case,) = (case for case in catalog.cases() if case.id == id_)
    with local_runner() as (runner, _):
        key = runner.environment_key(case.route)
    return shell.write(recipe_of(case, terms_of(catalog, case, key), key, 1.0, shell.natives))
