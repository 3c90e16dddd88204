"""`conformance fingerprint`: what a maintainer sees of a route, on real shells and on miniatures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished, call_cli, run_cli, run_on_terminal, valid_report

from conformance.report.policies import SMALL_SHELLS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the miniatures run /bin/sh")

MINIATURES = Path(__file__).parents[1] / "miniatures"
ROUTE = """
[[route]]
id = "{id_}"
kind = "one-shot"
dialects = ["sh"]
argv = ["/bin/sh", "{path}", "{{{{body}}}}"]
source = "https://example.org/miniature"
"""
TELLING = tuple(word for row in SMALL_SHELLS for word in ("--fixture", row.fixture))


def miniature(folder: Path, name: str, *, stated: str | None = None) -> Path:
    path = folder / f"{name}.toml"
    text = ROUTE.format(id_=name, path=MINIATURES / f"{name}.sh")
    path.write_text(text + (f'fingerprint = "{stated}"\n' if stated else ""))
    return path


def told(finished: Finished) -> Any:
    return json.loads(finished.out)


def test_a_shell_is_seen_as_what_it_is_on_one_screen(tmp_path: Path) -> None:
    shown = run_on_terminal(80, {}, "fingerprint", "bash-command", cwd=tmp_path)
    screen = shown[shown.index("bash-command: last-statement") :].splitlines()
    assert len(screen) <= 40
    assert "stated: last-statement (as the matrix states)" in shown
    assert "not asked, for want of a body in bash or sh: errors/failing-cmdlet" in shown


def test_the_traits_of_a_shell_are_told() -> None:
    whole = told(run_cli("fingerprint", "bash-file", "--json"))
    assert (whole["fingerprint"], whole["stated"], whole["as_stated"]) == ("last-statement", "last-statement", True)
    words = {trait["name"]: [note["words"] for note in trait["notes"]] for trait in whole["traits"]}
    assert words["signals"] == ["exited(137), which is 128 and the signal's number"]
    assert words["hangs"] == ["it runs until its deadline and is killed there"]
    assert words["stdin"] == ["64 KiB + 1 arrive whole"]
    assert words["stdout"] == words["stderr"] == words["exit 2 and 255"] == ["exact"]
    rows = {row["fixture"]: row for row in whole["rows"]}
    assert rows["native-codes/not-found"]["status"] == {"kind": "exited", "code": 127}
    assert rows["native-codes/not-found"]["policies"] == {"last-statement": 127, "success-flag": 1, "exit-only": 0}
    assert "mixtures/native-2-then-throw" in whole["not_asked"]


@pytest.mark.parametrize(
    ("name", "fingerprint"),
    [("faithful", "last-statement"), ("always-exits-0", "none of these"), ("collapses-to-1", "none of these")],
)
def test_a_miniature_is_seen_as_what_it_is(name: str, fingerprint: str, tmp_path: Path) -> None:
    finished = run_cli("fingerprint", miniature(tmp_path, name), "--json")
    assert (finished.code, told(finished)["fingerprint"]) == (0, fingerprint)


def test_what_a_route_loses_beside_its_status_is_told(tmp_path: Path) -> None:
    finished = run_cli("fingerprint", miniature(tmp_path, "merges-streams"))
    assert finished.code == 0
    assert finished.out.startswith("merges-streams: last-statement\n")
    assert "stdout has the other stream appended to it (bytes/nul, " in finished.out


def test_a_route_that_is_not_what_it_states(tmp_path: Path) -> None:
    finished = run_cli("fingerprint", miniature(tmp_path, "always-exits-0", stated="last-statement"))
    assert finished.code == 1
    assert "The matrix states last-statement, which is not what was seen." in finished.out
    assert "exited(0) for exit 7 (exit-codes/exit-7, there 7)" in finished.out.splitlines()[0]


def test_a_launcher_without_any_file() -> None:
    finished = run_cli("fingerprint", "--", "sh", "-c", "{{body}}\nexit 0")
    assert finished.code == 0
    assert finished.out.startswith("fingerprint: exit-only\n")


# In a run, and from its report.


def run(folder: Path, file: Path, *options: str) -> tuple[Finished, list[str], Path]:
    report = folder / "report.jsonl"
    finished = run_cli("run", "--route", file, "--report", report, *options)
    footer = valid_report(report).footer
    assert footer is not None
    return finished, footer["findings"], report


def test_a_run_that_shows_another_fingerprint_than_is_stated_fails(tmp_path: Path) -> None:
    file = miniature(tmp_path, "faithful", stated="exit-only")
    finished, (finding,), report = run(tmp_path, file, *TELLING)
    assert finished.code == 1
    assert finding.startswith(f'{file}:2: the route faithful states fingerprint = "exit-only" and was seen to be last-')
    assert finding in finished.out
    judged = call_cli("fingerprint", file, "--report", report)
    assert judged.code == 1
    assert judged.out.startswith("faithful: last-statement\n")


@pytest.mark.parametrize("part", [("-k", "native-codes"), ("--shard", "1/2"), ("--shard", "2/2")])
def test_a_part_of_a_run_judges_no_fingerprint(part: tuple[str, str], tmp_path: Path) -> None:
    finished, findings, _ = run(tmp_path, miniature(tmp_path, "faithful", stated="exit-only"), *TELLING, *part)
    assert (finished.code, findings) == (0, [])


def test_a_route_that_is_what_it_states_passes(tmp_path: Path) -> None:
    finished, findings, _ = run(tmp_path, miniature(tmp_path, "faithful", stated="last-statement"), *TELLING)
    assert (finished.code, findings) == (0, [])


def test_a_report_with_a_part_of_the_telling_results_says_what_is_missing(tmp_path: Path) -> None:
    file = miniature(tmp_path, "faithful")
    _, _, report = run(tmp_path, file, "--fixture", "exit-codes/exit-7", "--fixture", "native-codes/native-7")
    judged = call_cli("fingerprint", file, "--report", report)
    assert judged.code == 0
    assert "it was not run: exit-codes/none, " in judged.out
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(report.read_text().splitlines(keepends=True)[:-1]))
    judged = call_cli("fingerprint", file, "--report", cut)
    assert judged.out.endswith(f"incomplete: {cut} has the results of 2 of 2 cases\n")


def test_a_report_without_any_telling_result_is_nothing(tmp_path: Path) -> None:
    file = miniature(tmp_path, "faithful")
    _, _, report = run(tmp_path, file, "--fixture", "native-codes/native-2")
    judged = call_cli("fingerprint", file, "--report", report)
    assert (judged.code, judged.out) == (4, "")


def test_a_route_that_cannot_be_started_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "gone.toml"
    file.write_text(ROUTE.format(id_="gone", path="x").replace('"/bin/sh"', '"/nonexistent/shell"'))
    finished = run_cli("fingerprint", file)
    assert finished.code == 3
    assert "gone: nothing was seen" in finished.out
    assert "did not come" in finished.out


def test_a_shell_that_is_missing(tmp_path: Path) -> None:
    finished = run_cli("fingerprint", "pwsh-command", env={"CONFORMANCE_PWSH": str(tmp_path / "nowhere")})
    assert finished.code == 3
    assert "pwsh-command: nothing was seen" in finished.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bash-comand"], "unknown route 'bash-comand'"),
        (["nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--", "bash", "-c", "exit 0"], "no {{body}}"),
        (["--report", "r.jsonl", "--", "bash", "-c", "{{body}}"], "a report knows routes by their ids"),
        (["bash-command", "--report", "r.jsonl"], "r.jsonl: cannot be read as a report"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words: list[str], sentence: str) -> None:
    finished = call_cli("fingerprint", *words)
    assert (finished.code, finished.out) == (2, "")
    assert sentence in finished.err
    assert finished.err.count("\n") == 1


def test_a_file_with_several_routes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(ROUTE.format(id_="one", path="x") + ROUTE.format(id_="two", path="x"))
    finished = call_cli("fingerprint", file)
    assert finished.code == 2
    assert "holds several routes" in finished.err
