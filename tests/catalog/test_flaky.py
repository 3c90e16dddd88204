"""Known to be flaky: either as the contract has it, or exactly as one of the documented observations."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import Finished, call_cli, valid_report

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the miniatures run /bin/sh")

ALTERNATES = Path(__file__).parents[1] / "miniatures" / "alternates.sh"
CASE = "exit-codes/exit-7/mytool"
ROUTE = f"""
[[route]]
id = "mytool"
kind = "one-shot"
dialects = ["sh"]
argv = ["/bin/sh", {json.dumps(str(ALTERNATES))}, "{{{{body}}}}", "{{{{folder}}}}/runs"]
source = "https://example.org/mytool"
"""
FLAKY = """
[[flaky]]
routes = ["mytool"]
fixtures = ["exit-codes/exit-7"]
observed = [{ stdout = "anything" }, { exit = 1 }]
reason = "mytool forgets the code now and then"
url = "https://example.org/mytool/issues/1"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mytool.toml"
    path.write_text(text)
    return path


def run(folder: Path, text: str, *arguments: str) -> tuple[Finished, dict[str, object]]:
    """Run the one case, and return what the command said and the line of the report."""
    report = folder / "report.jsonl"
    file = write(folder, text)
    finished = call_cli("run", "--route", file, "-k", CASE, "--report", report, *arguments)
    (line,) = valid_report(report).results
    return finished, line


def test_it_passes_as_the_contract_has_it_and_deviates_as_documented(tmp_path: Path) -> None:
    first, kept = run(tmp_path, ROUTE + FLAKY)
    second, lost = run(tmp_path, ROUTE + FLAKY)
    assert (first.code, kept["result"]) == (0, "pass"), first.out
    assert (second.code, lost["result"]) == (0, "deviates"), second.out
    origin = f"{tmp_path / 'mytool.toml'}:{(ROUTE + FLAKY).splitlines().index('[[flaky]]') + 1}"
    known = f"It is known to be flaky, as documented at {origin} (mytool forgets the code now and then; "
    assert known in str(kept["reason"])
    assert "sometimes stdout anything; or exited(1)." in str(kept["reason"])
    for line in (kept, lost):
        assert line["deviation"] == {
            "origin": origin,
            "happens": "sometimes",
            "reason": "mytool forgets the code now and then",
            "url": "https://example.org/mytool/issues/1",
            "anything": ["stdout"],
        }


def test_a_deviation_says_that_it_happens_always(tmp_path: Path) -> None:
    text = ROUTE + FLAKY.replace("flaky", "deviation").replace(
        '[{ stdout = "anything" }, { exit = 1 }]', "{ exit = 1 }"
    )
    (finished, line) = run(tmp_path, text)
    assert (finished.code, line["result"]) == (1, "fixed")
    deviation = line["deviation"]
    assert isinstance(deviation, dict)
    assert deviation["happens"] == "always"


@pytest.mark.parametrize(
    "observed",
    ["[{ exit = 3 }]", '[{ exit = 1, stdout = { text = "x" } }]', "[{ exit = 3 }, { timed_out = true }]"],
    ids=["another code", "more than came", "neither"],
)
def test_anything_else_fails(observed: str, tmp_path: Path) -> None:
    flaky = FLAKY.replace('[{ stdout = "anything" }, { exit = 1 }]', observed)
    run(tmp_path, ROUTE + flaky)
    finished, line = run(tmp_path, ROUTE + flaky)
    assert (finished.code, line["result"]) == (1, "fail")
    assert "This is not what the deviation documented at" in str(line["reason"])
    assert "it documents sometimes " in str(line["reason"])


def test_it_never_hides_an_error(tmp_path: Path) -> None:
    text = ROUTE.replace('"/bin/sh", ', '"/nonexistent/shell", ') + FLAKY
    finished, line = run(tmp_path, text)
    assert (finished.code, line["result"]) == (3, "error")


def test_one_that_did_not_happen_is_not_unused_and_one_that_cannot_apply_is(tmp_path: Path) -> None:
    finished, line = run(tmp_path, ROUTE + FLAKY)
    assert (finished.code, line["result"]) == (0, "pass")
    unused = FLAKY.replace('[{ stdout = "anything" }, { exit = 1 }]', "[{ exit = 7 }]")
    finished, _ = run(tmp_path, ROUTE + unused)
    assert finished.code == 1
    assert "the deviation is unused" in finished.out


def test_an_exact_id_and_more_keys_win_as_for_a_deviation(tmp_path: Path) -> None:
    broad = FLAKY.replace('"exit-codes/exit-7"', '"exit-codes/*"').replace("{ exit = 1 }", "{ exit = 3 }")
    run(tmp_path, ROUTE + broad + FLAKY)
    finished, line = run(tmp_path, ROUTE + broad + FLAKY)
    assert (finished.code, line["result"]) == (0, "deviates")


def test_a_tie_with_a_deviation_names_both(tmp_path: Path) -> None:
    deviation = FLAKY.replace("flaky", "deviation").replace('[{ stdout = "anything" }, { exit = 1 }]', "{ exit = 1 }")
    file = write(tmp_path, ROUTE + deviation + FLAKY)
    lines = file.read_text().splitlines()
    finished = call_cli("run", "--route", file, "-k", CASE, "--report", tmp_path / "report.jsonl")
    assert finished.code == 2
    places = [f"{file}:{lines.index(header) + 1}" for header in ("[[deviation]]", "[[flaky]]")]
    assert (
        f"{places[1]}: ties with {places[0]}" in finished.err or f"{places[0]}: ties with {places[1]}" in finished.err
    )


def test_show_explain_and_repro_know_it(tmp_path: Path) -> None:
    file = write(tmp_path, ROUTE.replace("{{folder}}", str(tmp_path)) + FLAKY)
    (shown,) = json.loads(call_cli("show", CASE, "--matrix", file, "--matrix", "core", "--json").out)["deviations"]
    assert (shown["happens"], [list(pattern) for pattern in shown["observed"]]) == (
        "sometimes",
        [["stdout"], ["status"]],
    )
    script = call_cli("repro", CASE, "--route", file).out
    assert "# It is known as flaky: sometimes stdout anything; or exited(1).\n" in script
    kept, lost = (json.loads(call_cli("explain", CASE, "--route", file, "--json").out) for _ in range(2))
    assert kept["deviation"]["happened"] == "not this time: the contract was kept, as it sometimes is"
    assert lost["deviation"]["happened"] == "one of these happened this time"
    told = call_cli("explain", CASE, "--route", file).out
    assert "  sometimes      stdout anything\n  sometimes      status exited(1)\n" in told


@pytest.mark.parametrize(
    ("old", "new", "below", "complaint"),
    [
        ('[{ stdout = "anything" }, { exit = 1 }]', "[]", 0, "'observed' is [], but an array of one or more tables"),
        ('[{ stdout = "anything" }, { exit = 1 }]', "{ exit = 1 }", 3, "'observed' is {'exit': 1}, but an array of"),
        ("{ exit = 1 }", "{ code = 1 }", 3, "unknown key 'code' in 'observed[1]'"),
        ("{ exit = 1 }", '{ exit = 1, signal = "KILL" }', 0, "exit and signal exclude each other"),
        ('routes = ["mytool"]\n', "", 0, "[[flaky]] lacks the key 'routes'"),
        ('"exit-codes/exit-7"', '"exit-codes/exit-8"', 0, "'exit-codes/exit-8' matches no fixture"),
    ],
)
def test_a_broken_table_is_one_sentence_with_its_line(
    old: str, new: str, below: int, complaint: str, tmp_path: Path
) -> None:
    assert FLAKY.count(old) == 1
    file = write(tmp_path, ROUTE + FLAKY.replace(old, new))
    finished = call_cli("run", "--route", file)
    assert finished.code == 2
    assert finished.err.startswith(f"conformance: {file}:{ROUTE.count(chr(10)) + 2 + below}: ")
    assert complaint in finished.err
