"""Scripts of `repro`: under plain bash they show what the harness saw."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil
import pytest
from conftest import ROOT, TINY_ROUTE, call_cli, run_cli
from repro_world import BASH, ODD, PWSH, SAYABLE, catalog_of, compare, script_of, through_sh, toml

from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.contract import Terms
from conformance.engine import terms_of
from conformance.errors import UsageError
from conformance.model import ONE_SHOT, Case
from conformance.repro import recipe_of
from conformance.repro.bash_words import quoted
from conformance.status import Signalled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts of this test are for POSIX")

SEED_VARIABLE = "CONFORMANCE_REPRO_SEED"
Predicate = Callable[[Case, Terms], bool]


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


def on(*shells: str) -> Predicate:
    """Let the cases through whose body one of `shells` runs, and that their route can express."""
    return lambda case, terms: (
        case.route.kind == ONE_SHOT
        and case.route.shells[0] in shells
        and not (case.route.stdin and (case.fixture.steps[0].stdin.length or "stdin" in case.fixture.steps[0].wiring))
    )


def both(one: Predicate, other: Predicate) -> Predicate:
    return lambda case, terms: one(case, terms) and other(case, terms)


SMALL = on("bash", "sh", "dash")
POWER = on("pwsh")
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
            "bash": (5, both(on("bash"), QUICK)),
            "sh": (5, both(on("sh", "dash"), QUICK)),
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
    wrong = compare(BASH, full, drawn(full, strata, seed).values())
    assert not wrong, f"repeat with {SEED_VARIABLE}={seed}\n" + "\n".join(wrong)


@pytest.mark.parametrize("what", SAYABLE)
def test_what_a_route_and_a_fixture_may_say(what: str, tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, *SAYABLE[what])
    assert compare(BASH, catalog, catalog.cases()) == []


@pytest.fixture(scope="module")
def script(full: Catalog) -> str:
    return script_of(BASH, full, "native-codes/native-7/bash-file")


def test_a_kept_and_a_broken_contract(script: str, tmp_path: Path) -> None:
    kept = BASH.run(script)
    assert (kept.returncode, kept.stderr) == (0, "")
    assert kept.stdout.splitlines()[0] == "status: exited 7"
    assert kept.stdout.splitlines()[-2:] == ["started: yes", "contract: kept"]
    catalog = catalog_of(tmp_path, 'argv = ["sh", "-c", "echo more; {{body}}; exit 7"]', "'true'")
    broken = BASH.run(script_of(BASH, catalog, "t/one/r"))
    assert (broken.returncode, broken.stderr) == (1, "")
    assert " 6d 6f 72 65 0a\n" in broken.stdout
    assert "\nexpected status: exited 0\n" in broken.stdout
    assert broken.stdout.endswith("\ncontract: broken in status stdout\n")


def test_a_script_from_a_pipe_shows_the_same(script: str) -> None:
    piped = subprocess.run(["bash", "-s"], input=script, capture_output=True, text=True, check=False)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout == BASH.run(script).stdout


def test_what_a_witness_received_is_told(full: Catalog) -> None:
    finished = BASH.run(script_of(BASH, full, "bytes/stdin-5k-read/sh-command"))
    assert re.search(r"^received: 5120 bytes, sha256 [0-9a-f]{64}$", finished.stdout, flags=re.MULTILINE)
    lossy = script_of(BASH, full, "bytes/stdin-5k-read/sh-command").replace("stream stdin 5120", "stream stdin 5119")
    assert BASH.run(lossy).stdout.endswith("contract: broken in received\n")


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
    path.write_text(script_of(BASH, full, "native-codes/native-7/pwsh-file"), encoding="utf-8")
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
    finished = BASH.run(script, TMPDIR=name if name == "relative" else str(folder))
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
        script = script_of(BASH, full, case)
        assert script == script_of(BASH, full, case)
        for text in private:
            assert text not in script


def test_no_script_holds_a_character_that_cannot_be_seen(full: Catalog, tmp_path: Path) -> None:
    hostile = catalog_of(tmp_path, through_sh(ODD, "{{body}}"), toml(f"{ODD}\nBODY\n"))
    scripts = [script_of(BASH, hostile, "t/one/r")]
    with local_runner() as (runner, _):
        for case in full.cases():
            key = runner.environment_key(case.route)
            try:
                scripts.append(BASH.write(recipe_of(case, terms_of(full, case, key), key, 1.0, BASH.natives)))
            except UsageError as error:
                known = ("NUL", "skipped", "more than one launch")
                assert any(word in str(error) for word in known)  # noqa: PT017 - most cases raise nothing
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
    finished = BASH.run(script_of(BASH, full, "processes/hang-outside-group/bash-command"), TMPDIR=str(tmp_path))
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
        ["shellcheck", "-"], input=script_of(BASH, full, case), capture_output=True, encoding="utf-8", check=False
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_command_prints_and_runs_the_script(tmp_path: Path) -> None:
    case = "native-codes/native-7/sh-command"
    printed = call_cli("repro", case)
    assert (printed.code, printed.err) == (0, "")
    ran = run_cli("repro", case, "--run", env={"BASH_ENV": "/nonexistent", "TMPDIR": str(tmp_path)})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == BASH.run(printed.out).stdout
    assert list(tmp_path.iterdir()) == []


def test_a_broken_contract_is_the_exit_code_of_the_command_too(tmp_path: Path) -> None:
    route = tmp_path / "mine.toml"
    route.write_text(
        TINY_ROUTE.replace('"t/one"', '"exit-codes/exit-7"') + 'argv = ["sh", "-c", "({{body}}); exit 3"]', "utf-8"
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
        script_of(BASH, catalog_of(tmp_path, route, body, more), "t/one/r")
