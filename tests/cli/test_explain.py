"""`conformance explain`: all that a bug report needs, from one run of one case."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import DEVIATION, MATRIX, Finished, call_cli

from conformance.catalog import load_catalog
from conformance.observation import ResultKind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the routes of this test start sh")

HOSTILE = """
[[route]]
id = "hostile"
kind = "one-shot"
dialects = ["sh"]
argv = [
  "sh", "{{file:wrapper}}",
  "\\u202e ```` \\u001b[31m", " two  blanks ", "a\\nb", "it's \\"quoted\\"", "", "{{file:plain}}",
]
files.plain = "````\\n# </details>\\n```text\\n"
files.wrapper = '''
```
# </details> @somebody #1 \t
{{body}}'''
env = { MARKUP = "`` <b> ``" }
source = "https://example.org/hostile"
"""
OTHER_ROUTES = """
[[route]]
id = "unstartable"
kind = "one-shot"
dialects = ["sh"]
argv = ["./no-such-program", "{{body}}"]
source = "https://example.org/unstartable"
[[route]]
id = "elsewhere"
kind = "one-shot"
dialects = ["sh"]
argv = ["{{cmd}}", "{{body}}"]
source = "https://example.org/elsewhere"
[[route]]
id = "fed"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh"]
stdin = "{{body}}"
source = "https://example.org/fed"
[[route]]
id = "adds-a-line"
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "echo more; sh {{body_file}}"]
source = "https://example.org/adds-a-line"
"""


def explained(text: str, id_: str, *options: str, folder: Path) -> Finished:
    matrix = folder / "matrix.toml"
    matrix.write_text(text, encoding="utf-8")
    return call_cli("explain", id_, "--matrix", matrix, *options)


def explanation(text: str, id_: str, folder: Path) -> dict[str, Any]:
    finished = explained(text, id_, "--json", folder=folder)
    assert finished.err == ""
    found: dict[str, Any] = json.loads(finished.out)
    return found


@pytest.mark.parametrize(
    ("text", "route", "kind", "code"),
    [
        (MATRIX, "faithful", ResultKind.PASS, 0),
        (MATRIX, "always-0", ResultKind.FAIL, 1),
        (MATRIX + DEVIATION.format(code=0), "always-0", ResultKind.DEVIATES, 0),
        (MATRIX + DEVIATION.format(code=1).replace("always-0", "faithful"), "faithful", ResultKind.FIXED, 1),
        (MATRIX + OTHER_ROUTES, "unstartable", ResultKind.ERROR, 3),
        (MATRIX + OTHER_ROUTES, "elsewhere", ResultKind.UNAVAILABLE, 0),
        ('required = ["cmd"]\n' + MATRIX + OTHER_ROUTES, "elsewhere", ResultKind.UNAVAILABLE, 3),
        (MATRIX.replace("exit-codes/exit-0", "bytes/stdin-5k-unread") + OTHER_ROUTES, "fed", ResultKind.SKIPPED, 0),
    ],
)
def test_every_result_is_explained_and_exits_as_run_does(
    text: str, route: str, kind: ResultKind, code: int, tmp_path: Path
) -> None:
    fixture = "bytes/stdin-5k-unread" if kind is ResultKind.SKIPPED else "exit-codes/exit-7"
    case = f"{fixture}/{route}"
    finished = explained(text, case, folder=tmp_path)
    assert (finished.code, finished.err) == (code, "")
    assert finished.out.startswith(f"{case}: {kind}\n")
    ran = call_cli("run", tmp_path / "matrix.toml", "-k", case, "--report", tmp_path / "r.jsonl")
    assert ran.code == code
    line = json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()[1])
    for form in ("--json", "--markdown"):
        assert explained(text, case, form, folder=tmp_path).code == code
    for sentence in re.split(r"\n| /tmp/\S+", line["reason"]):
        assert sentence in finished.out


def test_what_was_launched_is_told_exactly(tmp_path: Path) -> None:
    (launch,) = explanation(MATRIX + HOSTILE, "exit-codes/exit-7/hostile", tmp_path)["launches"]
    assert launch["argv"][2:-1] == ["\u202e ```` \x1b[31m", " two  blanks ", "a\nb", 'it\'s "quoted"', ""]
    plain, file = launch["files"]
    assert [launch["argv"][1], launch["argv"][-1]] == [file["path"], plain["path"]]
    assert file["text"] == "```\n# </details> @somebody #1 \t\n" + launch["body"]
    assert file["sha256"] == hashlib.sha256(file["text"].encode()).hexdigest()
    assert launch["body"].endswith("\nexit 7")
    assert launch["environment"]["MARKUP"] == "`` <b> ``"
    assert launch["environment"]["LANG"] == "C.UTF-8"
    shown = explained(MATRIX + HOSTILE, "exit-codes/exit-7/hostile", folder=tmp_path).out
    for line in (r'"\u202e ```` \u001b[31m"', '" two  blanks "', r'"a\nb"', r'"it' + "'" + r's \"quoted\""', '""'):
        assert f"    | {line}\n" in shown
    assert r'    | "# </details> @somebody #1 \t\n"' in shown


def test_what_a_route_feeds_on_stdin_is_told(tmp_path: Path) -> None:
    (launch,) = explanation(MATRIX + OTHER_ROUTES, "exit-codes/exit-7/fed", tmp_path)["launches"]
    assert base64.b64decode(launch["stdin"]["head"]).decode() == launch["body"]
    shown = explained(MATRIX + OTHER_ROUTES, "exit-codes/exit-7/fed", folder=tmp_path).out
    assert '    | "exit 7"\n' in shown[shown.index("stdin that was sent") :]


def test_both_sides_of_a_stream_and_where_they_part(tmp_path: Path) -> None:
    found = explanation(MATRIX + OTHER_ROUTES, "exit-codes/exit-7/adds-a-line", tmp_path)
    (step,) = found["steps"]
    assert step["contract"]["stdout"]["bytes"] == 0
    assert base64.b64decode(step["came"]["stdout"]["head"]) == b"more\n"
    assert [difference["subject"] for difference in step["differences"]] == ["stdout"]
    shown = explained(MATRIX + OTHER_ROUTES, "exit-codes/exit-7/adds-a-line", folder=tmp_path).out
    assert "  stdout      differs\n" in shown
    assert '  stdout that came:\n    | "more\\n"\n' in shown
    assert "stdout: the first difference:\n    |   expected 00000000  (nothing)\n" in shown


def timeline(case: str) -> list[str]:
    found = json.loads(call_cli("explain", case, "--json").out)
    events = found["launches"][0]["timeline"]
    seconds = [event["seconds"] for event in events]
    assert seconds == sorted(seconds)
    assert seconds[0] == 0
    return [event["event"] for event in events]


def test_the_timeline_of_a_body_that_reads_and_exits() -> None:
    launched, started, received, finished, ended, closed = timeline("bytes/stdin-5k-read/sh-command")
    assert (launched, started, finished) == ("launched", "the body noted: started", "the body noted: finished")
    assert received.startswith("the body noted: received 5120 ")
    assert ended == "the process ended: exited(7)"
    assert closed == "all pipes closed, nothing runs any more"


def test_the_timeline_of_a_hang_ends_with_what_was_killed() -> None:
    *_, killed, closed = timeline("processes/hang/sh-command")
    assert killed == "the deadline came, and the whole tree was killed"
    assert re.match(r"all pipes closed, nothing runs any more; killed then: \d+ .* sleep 60", closed)


def test_a_body_that_never_started(tmp_path: Path) -> None:
    text = MATRIX.replace("sh {{body_file}}; exit 0", ": {{body_file}}; exit 0")
    found = explanation(text, "exit-codes/exit-7/always-0", tmp_path)
    assert found["launches"][0]["timeline"][-1]["event"] == "the body has never left a mark"
    assert {difference["subject"] for difference in found["steps"][0]["differences"]} == {"status", "started"}


def test_the_rule_that_held_and_why_the_others_lost() -> None:
    found = json.loads(call_cli("explain", "text/crlf-in-sh/bash-command", "--json").out)
    (step,) = found["steps"]
    assert step["rule"]["when"] == {"shell": "bash"}
    assert step["rule"]["defined_at"].startswith("fixtures/text.toml:")
    (other,) = step["other_rules"]
    assert (
        other["lost_because"]
        == f"it is less specific than the one at {step['rule']['defined_at']}, which holds as well"
    )
    found = json.loads(call_cli("explain", "text/crlf-in-sh/sh-command", "--json").out)
    (other,) = found["steps"][0]["other_rules"]
    assert other["lost_because"] == "its condition does not hold: shell is 'dash' here, not 'bash'"


@pytest.mark.parametrize(("code", "happened"), [(0, "exactly this happened"), (42, "something else happened")])
def test_what_the_deviation_says(code: int, happened: str, tmp_path: Path) -> None:
    found = explanation(MATRIX + DEVIATION.format(code=code), "exit-codes/exit-7/always-0", tmp_path)
    assert found["deviation"]["happened"] == happened
    assert found["deviation"]["url"] == "https://example.org/always-0"
    assert found["deviation"]["observed"] == [{"status": {"kind": "exited", "code": code}}]


def test_a_deviation_that_covers_a_case_and_says_nothing_of_it(tmp_path: Path) -> None:
    text = MATRIX + DEVIATION.format(code=0).replace('"exit-codes/exit-7"', '"exit-codes/*"')
    (other,) = explanation(text, "exit-codes/exit-0/always-0", tmp_path)["other_deviations"]
    assert other["lost_because"] == "what it documents is what the contract asks for in this case"


def test_what_other_routes_are_documented_to_give(tmp_path: Path) -> None:
    found = explanation(MATRIX + DEVIATION.format(code=0), "exit-codes/exit-7/faithful", tmp_path)
    (other,) = found["other_routes"]
    assert (other["case"], other["keeps"], other["documented"]) == ("exit-codes/exit-7/always-0", False, "exited(0)")
    found = explanation(MATRIX + DEVIATION.format(code=0), "exit-codes/exit-7/always-0", tmp_path)
    (other,) = found["other_routes"]
    assert (other["case"], other["keeps"], other["documented"]) == ("exit-codes/exit-7/faithful", True, None)
    shown = explained(MATRIX + DEVIATION.format(code=0), "exit-codes/exit-7/always-0", folder=tmp_path).out
    assert shown.endswith("Documented to keep it: exit-codes/exit-7/faithful.\n")


def test_other_routes_get_a_body_of_the_same_dialect() -> None:
    found = json.loads(call_cli("explain", "native-codes/native-7/sh-command", "--json").out)
    others = {other["case"].rpartition("/")[2] for other in found["other_routes"]}
    cases = load_catalog(["full"]).cases()
    assert others >= {case.route.id for case in cases if case.fixture.id == "native-codes/native-7"} & {"bash-command"}
    assert not any(route.startswith(("pwsh", "cmd")) for route in others)


def test_where_it_ran_is_told() -> None:
    found = json.loads(call_cli("explain", "exit-codes/exit-7/bash-command", "--json").out)
    assert len(found["suite"]) == 64
    (shell,) = found["shells"]
    assert (shell["asked"], shell["name"]) == ("bash", "bash")
    assert f"bash-{shell['version']}" in found["environment"]


def test_nothing_breaks_out_of_the_markdown(tmp_path: Path) -> None:
    finished = explained(MATRIX + HOSTILE, "exit-codes/exit-7/hostile", "--markdown", folder=tmp_path)
    assert all(char.isprintable() or char in "\n\t" for char in finished.out)
    outside, fence = [], ""
    for line in finished.out.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif opening := re.fullmatch("(`{3,})text", line):
            fence = opening[1]
        else:
            outside.append(re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
    assert fence == ""
    assert outside[0].startswith("### exit-codes/exit-7/hostile: fail") or "pass" in outside[0]
    for text in ("</details>", "@somebody", "<b>", "```"):
        assert not any(text in line for line in outside), text


def test_long_texts_are_shortened_for_people_alone(tmp_path: Path) -> None:
    text = MATRIX.replace('"{{body}}"]', '"{{body}}", "' + "y" * 10_000 + '"]', 1)
    assert (
        "characters are left out here; --json has them all"
        in explained(text, "exit-codes/exit-7/faithful", folder=tmp_path).out
    )
    assert explanation(text, "exit-codes/exit-7/faithful", tmp_path)["launches"][0]["argv"][-1] == "y" * 10_000


def test_a_route_file_of_the_users(tmp_path: Path) -> None:
    route = tmp_path / "mine.toml"
    route.write_text(MATRIX, encoding="utf-8")
    finished = call_cli("explain", "exit-codes/exit-7/faithful", "--route", route)
    assert (finished.code, finished.err) == (0, "")


def test_an_unknown_case_names_those_that_are_near() -> None:
    finished = call_cli("explain", "exit-codes/exit-7/bash-comand")
    assert (finished.code, finished.out) == (2, "")
    assert "unknown case 'exit-codes/exit-7/bash-comand': did you mean exit-codes/exit-7/bash-command" in finished.err
    assert "conformance list cases" in finished.err


def test_a_route_file_that_is_missing() -> None:
    finished = call_cli("explain", "exit-codes/exit-7/bash-command", "--route", "no-such.toml")
    assert (finished.code, finished.out) == (2, "")
    assert "no-such.toml" in finished.err
    assert "Traceback" not in finished.err
