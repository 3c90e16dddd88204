"""Scripts of `repro`: under plain bash they show what the harness saw."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psutil
import pytest
from conftest import ROOT, SEEN_HERE, call_cli, run_cli

from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.contract import Terms
from conformance.engine import open_engine, terms_of
from conformance.errors import UsageError
from conformance.model import Case
from conformance.observation import Result, ResultKind
from conformance.repro import recipe_of
from conformance.repro.bash import ScriptNatives, bash_script, quoted
from conformance.shapes import ANYTHING
from conformance.status import Exited, ExitStatus, FailedToStart, Signalled, TimedOut

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts of this test are for POSIX")

SEED_VARIABLE = "CONFORMANCE_REPRO_SEED"
PWSH = os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh")
Predicate = Callable[[Case, Terms], bool]


def run_script(script: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """Run `script` under plain bash, in an environment as small as a stranger's may be."""
    variables = {"PATH": os.environ["PATH"], "CONFORMANCE_PWSH": PWSH, "DOTNET_ROOT": os.environ.get("DOTNET_ROOT")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-s"],
        input=script,
        env={name: value for name, value in {**variables, **changes}.items() if value is not None},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def in_words(status: ExitStatus) -> str:
    if isinstance(status, Exited):
        return f"exited {status.code}"
    if isinstance(status, Signalled):
        return f"signalled {status.number}"
    assert isinstance(status, TimedOut | FailedToStart)
    return "timed out" if isinstance(status, TimedOut) else "failed to start"


def told(result: Result, terms: Terms) -> list[str]:
    """Return what a script must print of `result`: its status, and the streams whose text is not the shell's own."""
    assert result.observation is not None, result.reason
    (observed,) = result.observation.steps
    free = terms.expectations[-1].stderr is None or (
        terms.deviation is not None and terms.deviation.observed.stderr == ANYTHING
    )
    streams = {"stdout": observed.stdout, **({} if free else {"stderr": observed.stderr})}
    return [
        f"status: {in_words(observed.status)}",
        *(f"{name}: {stream.length} bytes, sha256 {stream.sha256}" for name, stream in streams.items()),
    ]


def compare(catalog: Catalog, cases: Iterable[Case]) -> list[str]:
    """Run `cases` through the harness and their scripts under plain bash, and return where the two disagree."""
    wrong = []
    with local_runner() as (runner, _), open_engine(catalog, runner, 1.0) as engine:
        for case in cases:
            result = engine.execute(case)
            key = runner.environment_key(case.route)
            terms = terms_of(catalog, case, key)
            finished = run_script(bash_script(recipe_of(case, terms, key, 1.0, ScriptNatives)))
            kept = result.kind in (ResultKind.PASS, ResultKind.FIXED)
            missing = [line for line in told(result, terms) if line not in finished.stdout.splitlines()]
            if missing or finished.stderr or finished.returncode != (0 if kept else 1):
                wrong.append(f"{case.id}: harness {missing or result.kind}, script {finished}")
    return wrong


def drawn(catalog: Catalog, strata: Mapping[str, tuple[int, Predicate]], seed: int) -> dict[str, Case]:
    """Return cases of `catalog` by id, at random: of each stratum so many as it says."""
    chance, found = random.Random(seed), {}
    with local_runner() as (runner, _):
        terms = {case.id: terms_of(catalog, case, runner.environment_key(case.route)) for case in catalog.cases()}
    for name, (count, belongs) in strata.items():
        members = [case for case in catalog.cases() if belongs(case, terms[case.id]) and case.id not in found]
        assert len(members) >= count, f"{name}: {len(members)} cases are too few"
        found.update({case.id: case for case in chance.sample(members, count)})
    return found


def on(*routes: str) -> Predicate:
    return lambda case, terms: case.route.id in routes


def both(one: Predicate, other: Predicate) -> Predicate:
    return lambda case, terms: one(case, terms) and other(case, terms)


SMALL = on("bash-command", "bash-file", "sh-command")
POWER = on("pwsh-command", "pwsh-file", "pwsh-epilogue", "pwsh-preserving")
HANGS: Predicate = lambda case, terms: case.fixture.deadline is not None  # noqa: E731
QUICK: Predicate = lambda case, terms: case.fixture.deadline is None  # noqa: E731
FED: Predicate = lambda case, terms: case.fixture.steps[0].stdin.length > 0  # noqa: E731
DIES: Predicate = lambda case, terms: isinstance(terms.expectations[-1].status, Signalled)  # noqa: E731
DEVIATES: Predicate = lambda case, terms: terms.deviation is not None  # noqa: E731
KEEPS: Predicate = lambda case, terms: terms.deviation is None  # noqa: E731


@pytest.fixture(scope="module")
def full() -> Catalog:
    return load_catalog(["full"])


@pytest.mark.parametrize(
    "strata",
    [
        {
            "hangs": (1, both(SMALL, HANGS)),
            "dies of a signal": (1, both(SMALL, DIES)),
            "is fed": (2, both(SMALL, FED)),
            "bash": (5, both(on("bash-command", "bash-file"), QUICK)),
            "sh": (5, both(on("sh-command"), QUICK)),
        },
        pytest.param(
            {
                "is fed": (1, both(POWER, FED)),
                "deviates": (3, both(both(POWER, DEVIATES), QUICK)),
                "keeps": (2, both(both(POWER, KEEPS), QUICK)),
            },
            marks=pytest.mark.skipif(PWSH is None, reason="pwsh is missing"),
        ),
    ],
    ids=["fourteen of bash and sh", "six of pwsh"],
)
def test_twenty_random_cases(full: Catalog, strata: Mapping[str, tuple[int, Predicate]]) -> None:
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().randrange(10**6))
    wrong = compare(full, drawn(full, strata, seed).values())
    assert not wrong, f"repeat with {SEED_VARIABLE}={seed}\n" + "\n".join(wrong)


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
ROUTE = """
fixtures = ["t/one"]
[[route]]
id = "r"
kind = "one-shot"
dialects = ["sh"]
source = "https://example.org"
"""


def catalog_of(folder: Path, route: str, body: str = "'exit 0'", more: str = "") -> Catalog:
    """Return a catalogue of one fixture on one route; what is given is TOML."""
    fixtures = folder / "fixtures"
    fixtures.mkdir()
    text = FIXTURE.format(body=body, more=more, seen=SEEN_HERE)
    (fixtures / "t.toml").write_text(text, encoding="utf-8")
    (folder / "matrix.toml").write_text(ROUTE + route, encoding="utf-8")
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


@pytest.mark.parametrize("what", SAYABLE)
def test_what_a_route_and_a_fixture_may_say(what: str, tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, *SAYABLE[what])
    assert compare(catalog, catalog.cases()) == []


def script_of(catalog: Catalog, id_: str) -> str:
    (case,) = (case for case in catalog.cases() if case.id == id_)
    with local_runner() as (runner, _):
        key = runner.environment_key(case.route)
    return bash_script(recipe_of(case, terms_of(catalog, case, key), key, 1.0, ScriptNatives))


@pytest.fixture(scope="module")
def script(full: Catalog) -> str:
    return script_of(full, "native-codes/native-7/bash-file")


def test_a_kept_and_a_broken_contract(script: str, tmp_path: Path) -> None:
    kept = run_script(script)
    assert (kept.returncode, kept.stderr) == (0, "")
    assert kept.stdout.splitlines()[0] == "status: exited 7"
    assert kept.stdout.splitlines()[-2:] == ["started: yes", "contract: kept"]
    catalog = catalog_of(tmp_path, 'argv = ["sh", "-c", "echo more; {{body}}; exit 7"]', "'true'")
    broken = run_script(script_of(catalog, "t/one/r"))
    assert (broken.returncode, broken.stderr) == (1, "")
    assert " 6d 6f 72 65 0a\n" in broken.stdout
    assert "\nexpected status: exited 0\n" in broken.stdout
    assert broken.stdout.endswith("\ncontract: broken in status stdout\n")


def test_what_a_witness_received_is_told(full: Catalog) -> None:
    finished = run_script(script_of(full, "bytes/stdin-5k-read/sh-command"))
    assert re.search(r"^received: 5120 bytes, sha256 [0-9a-f]{64}$", finished.stdout, flags=re.MULTILINE)
    lossy = script_of(full, "bytes/stdin-5k-read/sh-command").replace("stream stdin 5120", "stream stdin 5119")
    assert run_script(lossy).stdout.endswith("contract: broken in received\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"CONFORMANCE_PWSH": "/nonexistent/pwsh"}, "/nonexistent/pwsh is missing"),
        ({"CONFORMANCE_PWSH": None, "PATH": "/nonexistent"}, "pwsh is missing"),
    ],
)
def test_a_missing_shell(change: dict[str, str | None], message: str, full: Catalog, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    path = tmp_path / "repro"
    path.write_text(script_of(full, "native-codes/native-7/pwsh-file"), encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), **change}
    finished = subprocess.run(
        [bash, path],
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (3, "")
    assert finished.stderr.startswith(message)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["plain", "with blanks & 'quotes'", "no such folder", "relative"])
def test_any_folder_for_temporary_files(name: str, script: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    if name not in ("no such folder", "relative"):
        folder.mkdir()
    finished = run_script(script, TMPDIR=name if name == "relative" else str(folder))
    assert (finished.returncode, finished.stderr) == (0, "")
    assert not folder.exists() or list(folder.iterdir()) == []


def test_it_needs_bash_and_says_so(script: str) -> None:
    sh = shutil.which("dash") or shutil.which("sh")
    assert sh is not None
    finished = subprocess.run([sh, "-s"], input=script, capture_output=True, text=True, check=False)
    if "dash" in Path(sh).resolve().name:
        assert (finished.returncode, finished.stdout) == (3, "")
        assert finished.stderr == "This script needs bash: run it with bash.\n"
    else:
        assert finished.returncode in (0, 3)


@pytest.mark.parametrize("variables", [{"POSIXLY_CORRECT": "1"}, {"CDPATH": "/", "IFS": "/", "TERM": "xterm"}])
def test_odd_surroundings(variables: dict[str, str], script: str, tmp_path: Path) -> None:
    path = tmp_path / "a script"
    path.write_text(script, encoding="utf-8")
    finished = subprocess.run(
        ["bash", path],
        env={"PATH": os.environ["PATH"], **variables},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")


def test_nothing_of_this_machine_is_in_a_script(full: Catalog) -> None:
    private = [str(ROOT), str(Path.home()), sys.executable, os.environ["PATH"], *([PWSH] if PWSH else [])]
    for case in ("native-codes/native-7/bash-file", "bytes/echo-1m/sh-command", "text/param-first/pwsh-preserving"):
        script = script_of(full, case)
        assert script == script_of(full, case)
        for text in private:
            assert text not in script


def test_no_script_holds_a_character_that_cannot_be_seen(full: Catalog, tmp_path: Path) -> None:
    hostile = catalog_of(tmp_path, through_sh(ODD, "{{body}}"), toml(f"{ODD}\nBODY\n"))
    scripts = [script_of(hostile, "t/one/r")]
    with local_runner() as (runner, _):
        for case in full.cases():
            key = runner.environment_key(case.route)
            try:
                scripts.append(bash_script(recipe_of(case, terms_of(full, case, key), key, 1.0, ScriptNatives)))
            except UsageError as error:
                assert "NUL" in str(error) or "skipped" in str(error)  # noqa: PT017 - most cases raise nothing
    for script in scripts:
        assert all(char.isprintable() or char == "\n" for char in script)
        assert len(script.encode()) < 50_000


@pytest.mark.parametrize("text", ["", "a", "it's", "a b", "\\", "\n", "'\n\\'\x1b\u202e", "é\t", "-n", "$(id)`id`!"])
def test_words_mean_what_they_are_made_of(text: str) -> None:
    completed = subprocess.run(
        ["bash", "-c", f"printf '%s.' {quoted(text)}"], capture_output=True, encoding="utf-8", check=True
    )
    assert completed.stdout == f"{text}."


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="nothing tells of processes outside the group")
def test_nothing_that_it_started_outlives_it(full: Catalog, tmp_path: Path) -> None:
    finished = run_script(script_of(full, "processes/hang-outside-group/bash-command"), TMPDIR=str(tmp_path))
    assert finished.stdout.startswith("status: timed out\n")
    assert not [process for process in psutil.process_iter(["cmdline"])
                if any(str(tmp_path) in word for word in process.info["cmdline"] or ())]  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is missing")
@pytest.mark.parametrize(
    "case",
    [
        "native-codes/native-7/bash-file",
        "bytes/echo-1m/sh-command",
        "text/param-first/pwsh-preserving",
        "text/crlf/pwsh-file",
    ],
)
def test_scripts_are_clean(case: str, full: Catalog) -> None:
    linted = subprocess.run(
        ["shellcheck", "-"], input=script_of(full, case), capture_output=True, encoding="utf-8", check=False
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_command_prints_and_runs_the_script(tmp_path: Path) -> None:
    case = "native-codes/native-7/sh-command"
    printed = call_cli("repro", case)
    assert (printed.code, printed.err) == (0, "")
    ran = run_cli("repro", case, "--run", env={"BASH_ENV": "/nonexistent", "TMPDIR": str(tmp_path)})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == run_script(printed.out).stdout
    assert list(tmp_path.iterdir()) == []


def test_a_broken_contract_is_the_exit_code_of_the_command_too(tmp_path: Path) -> None:
    route = tmp_path / "mine.toml"
    route.write_text(
        ROUTE.replace('"t/one"', '"exit-codes/exit-7"') + 'argv = ["sh", "-c", "({{body}}); exit 3"]', "utf-8"
    )
    ran = run_cli("repro", "exit-codes/exit-7/r", "--route", route, "--run")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.endswith("contract: broken in status\n")


@pytest.mark.parametrize(
    ("route", "body", "more", "message"),
    [
        ('argv = ["sh"]\nstdin = "{{body}}"', "'exit 0'", 'stdin = "x"', "hands over the body on standard input"),
        ('argv = ["sh", "{{body_file}}"]', '"exit 0\\u0000"', "", "has a NUL in its text"),
    ],
)
def test_what_no_script_can_show(route: str, body: str, more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        script_of(catalog_of(tmp_path, route, body, more), "t/one/r")
