"""A former id means today's, wherever a user names something by its id."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Finished, run_cli

import conformance

FIXTURE, FORMER_FIXTURE = "exit-codes/exit-7", "old-codes/seven"
ROUTE, FORMER_ROUTE = "bash-command", "old-bash"
CASE = f"{FIXTURE}/{ROUTE}"
FORMER_CASES = [f"{FORMER_FIXTURE}/{ROUTE}", f"{FIXTURE}/{FORMER_ROUTE}", f"{FORMER_FIXTURE}/{FORMER_ROUTE}"]
FIXTURES = f"""
[[fixture]]
id = "exit-7"
aliases = ["{FORMER_FIXTURE}"]
summary = "The body ends with exit 7"
source = "https://example.org/"
body.sh = '''
{{{{mark}}}}
exit 7'''
[[fixture.expect]]
exit = 7
reason = "An exit wins"
seen = ["bash 5.2.15 linux", "dash 0.5.12 linux"]
"""
MATRIX = f"""
fixtures = ["exit-codes/*"]
[[route]]
id = "{ROUTE}"
aliases = ["{FORMER_ROUTE}"]
kind = "one-shot"
dialects = ["sh"]
argv = ["{{{{bash}}}}", "-c", "{{{{body}}}}"]
source = "https://example.org/"

[[route]]
id = "sh-command"
kind = "one-shot"
dialects = ["sh"]
argv = ["{{{{sh}}}}", "-c", "{{{{body}}}}"]
source = "https://example.org/"
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a suite in which a fixture and a route had other ids before."""
    folder = tmp_path_factory.mktemp("project")
    ignored = shutil.ignore_patterns("__pycache__", "fixtures", "matrices", "adapters")
    shutil.copytree(Path(conformance.__file__).parent, folder / "conformance", ignore=ignored)
    for name, text in (
        ("fixtures/exit-codes.toml", FIXTURES),
        ("matrices/core.toml", MATRIX),
        ("matrices/telling.toml", 'fixtures = ["exit-codes/*"]'),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "adapters/npm").mkdir(parents=True)
    return folder


def said(*renamed: tuple[str, str]) -> str:
    return "".join(f"conformance: {former} was renamed, it is {today} now\n" for former, today in renamed)


def call(suite: Path, *arguments: str | Path) -> Finished:
    """Run the command of the copy."""
    return run_cli(*arguments, cwd=suite)


@pytest.mark.parametrize("former", FORMER_CASES)
def test_show_of_a_case(former: str, suite: Path) -> None:
    shown = call(suite, "show", former, "--json")
    assert (shown.code, shown.err) == (0, said((former, CASE)))
    described = json.loads(shown.out)
    assert described["case"] == CASE
    assert described["aliases"] == [FORMER_FIXTURE]
    assert described["route"]["aliases"] == [FORMER_ROUTE]


def test_show_of_a_fixture(suite: Path) -> None:
    shown = call(suite, "show", FORMER_FIXTURE, "--json")
    assert (shown.code, shown.err) == (0, said((FORMER_FIXTURE, FIXTURE)))
    assert json.loads(shown.out)["fixture"] == FIXTURE
    assert call(suite, "show", FIXTURE, "--json").err == ""


@pytest.mark.parametrize(
    ("options", "renamed"),
    [
        (["-k", FORMER_CASES[2]], [(FORMER_CASES[2], CASE)]),
        (["--fixture", FORMER_FIXTURE, "--route", ROUTE], [(FORMER_FIXTURE, FIXTURE)]),
        (["--fixture", FIXTURE, "--route", FORMER_ROUTE], [(FORMER_ROUTE, ROUTE)]),
        (["--fixture", FORMER_FIXTURE, "--route", FORMER_ROUTE], [(FORMER_ROUTE, ROUTE), (FORMER_FIXTURE, FIXTURE)]),
    ],
    ids=["case", "fixture", "route", "both"],
)
def test_a_selection(options: list[str], renamed: list[tuple[str, str]], suite: Path) -> None:
    listed = call(suite, "list", *options)
    assert (listed.code, listed.out, listed.err) == (0, f"{CASE}\n", said(*renamed))


@pytest.mark.parametrize(
    "options",
    [
        ["-k", "old-codes/*"],
        ["-k", f"*/{FORMER_ROUTE}"],
        ["-k", f"{FORMER_FIXTURE}/bash"],
        ["--fixture", "old-codes/sev*"],
        ["--fixture", "seven"],
    ],
    ids=" ".join,
)
def test_patterns_match_no_former_id(options: list[str], suite: Path) -> None:
    listed = call(suite, "list", *options)
    assert (listed.code, listed.out) == (4, "")
    assert "renamed" not in listed.err


def test_run_and_its_report(suite: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    ran = call(suite, "run", "-k", FORMER_CASES[0], "--report", report)
    assert ran.code == 0
    assert said((FORMER_CASES[0], CASE)) in ran.err
    assert json.loads(report.read_text().splitlines()[1])["id"] == CASE
    cited = call(suite, "cite", FORMER_CASES[2], "--report", report)
    assert (cited.code, cited.err) == (0, said((FORMER_CASES[2], CASE)))
    assert cited.out.startswith(f"### {CASE}: ")
    old = tmp_path / "old.jsonl"
    old.write_text(report.read_text().replace(FIXTURE, FORMER_FIXTURE).replace(ROUTE, FORMER_ROUTE))
    assert call(suite, "cite", FORMER_CASES[2], "--report", old).out.startswith(f"### {FORMER_CASES[2]}: ")


@pytest.mark.parametrize("command", ["explain", "repro", "cite"])
def test_commands_on_one_case(command: str, suite: Path) -> None:
    done = call(suite, command, FORMER_CASES[2])
    assert (done.code, done.err) == (0, said((FORMER_CASES[2], CASE)))
    assert CASE in done.out


def test_verify(suite: Path) -> None:
    verified = call(suite, "verify", FORMER_CASES[2], "-n", "1")
    assert verified.code == 0
    assert verified.err.startswith(said((FORMER_CASES[2], CASE)))
    assert verified.out.startswith(f"stable      {CASE} on ")


def test_try(suite: Path) -> None:
    tried = call(suite, "try", "--fixture", FORMER_FIXTURE, "--json", "--", "bash", "-c", "{{body}}")
    assert tried.code == 0
    assert tried.err.startswith(said((FORMER_FIXTURE, FIXTURE)))
    assert f'"id": "{FIXTURE}/try"' in tried.out


def test_agree_and_fingerprint(suite: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    assert call(suite, "run", "--route", ROUTE, "--route", "sh-command", "--report", report).code == 0
    renamed = said((FORMER_ROUTE, ROUTE), (FORMER_FIXTURE, FIXTURE))
    same = f"{ROUTE} and sh-command do the same: 1 fixture compared.\n"
    for options in ((), ("--report", report)):
        agreed = call(suite, "agree", FORMER_ROUTE, "sh-command", "--fixture", FORMER_FIXTURE, *options)
        assert (agreed.code, agreed.out) == (0, same)
        assert set(renamed.splitlines()) <= set(agreed.err.splitlines())
    seen = call(suite, "fingerprint", FORMER_ROUTE, "--report", report)
    assert (seen.code, seen.err) == (0, said((FORMER_ROUTE, ROUTE)))
    assert seen.out.startswith(f"{ROUTE}: ")
    assert call(suite, "agree", ROUTE, FORMER_ROUTE).code == 2, "they are one route"


def test_completion_offers_todays_ids_alone(suite: Path) -> None:
    offered = run_cli(
        cwd=suite,
        env={"_CONFORMANCE_COMPLETE": "bash_complete", "COMP_WORDS": "conformance show ol", "COMP_CWORD": "2"},
    )
    assert "old-codes" not in offered.out
    assert run_cli(
        cwd=suite,
        env={"_CONFORMANCE_COMPLETE": "bash_complete", "COMP_WORDS": "conformance show exi", "COMP_CWORD": "2"},
    ).out.count(CASE)
