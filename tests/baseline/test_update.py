"""`conformance baseline update`, from reports of a launcher that was really run."""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

import pytest
from baseline_world import FIXTURES, GROUNDS, KEEPS, Line, World, body, entry
from conftest import call_cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the launcher is run by /bin/sh")

SEVENS = ("exit-codes/exit-7", "native-codes/native-7")
LOSES_7 = "[ $code -eq 7 ] && code=1"
LOSES_2_AND_7 = "[ $code -eq 7 ] && code=1; [ $code -eq 2 ] && code=0"


def test_what_fails_is_documented_exactly_and_the_next_run_is_good(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    assert world.run(LOSES_2_AND_7).code == 1
    text = world.updated("report.jsonl", *GROUNDS)
    assert body(text) == entry("{ exit = 0 }", "exit-codes/exit-2") + "\n" + entry("{ exit = 1 }", *SEVENS)
    assert text.startswith("# What is known to go wrong in the routes of ")
    assert world.run(LOSES_2_AND_7).code == 0
    assert set(world.results().values()) == {"pass", "deviates"}
    assert world.updated("report.jsonl") == text


def test_without_a_reason_nothing_is_written_and_what_lacks_one_is_told(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES_7)
    refused = world.update("report.jsonl", code=2)
    assert refused.err.startswith("conformance: nothing is written, since these need a reason and a URL.")
    command = (
        f"conformance baseline update --route {tmp_path}/mytool.toml {tmp_path}/report.jsonl --reason TEXT --url URL"
    )
    assert f"`{command}`" in refused.err
    assert "  deviation of mytool: { exit = 1 }: exit-codes/exit-7, native-codes/native-7\n" in refused.err
    world.update("report.jsonl", "--reason", "why", code=2)
    world.update("report.jsonl", "--url", "https://example.org", code=2)
    assert not world.baseline.exists()


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--reason", " ", "a text that is not empty is expected"),
        ("--url", "example.org", "is no http or https address"),
    ],
)
def test_a_reason_or_url_that_is_none_is_refused(option: str, value: str, complaint: str, tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES_7)
    assert complaint in world.update("report.jsonl", option, value, code=2).err


def test_a_dry_run_says_it_all_and_writes_nothing(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES_7)
    told = world.update("report.jsonl", "--dry-run").out
    assert told == (
        f"{tmp_path}/mytool.baseline.toml (not written): 1 added, 0 removed, 0 narrowed, 0 widened, 0 kept\n"
        "added     deviation of mytool: { exit = 1 }\n"
        "          + exit-codes/exit-7, native-codes/native-7\n"
        "          needs a reason and a URL\n"
    )
    assert list(tmp_path.glob("*baseline*")) == []


def test_what_no_longer_happens_is_taken_out(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    by_id, by_glob = entry("{ exit = 1 }", *SEVENS), entry("{ exit = 3 }", "exit-codes/exit-2*")
    gone = entry("{ exit = 9 }", "exit-codes/exit-0")
    world.baseline.write_text(f"{by_id}\n{by_glob}\n{gone}")
    ran = world.run('case $1 in *"exit 7"*) code=1;; *"exit 2"*) [ $code -eq 255 ] && code=3;; esac')
    assert ran.code == 1
    assert world.results()["native-codes/native-7"] == "fixed"
    assert "`conformance baseline update --route mytool.toml conformance-report.jsonl` takes this case out." in ran.out
    told = world.update("report.jsonl", "--dry-run").out
    assert "0 added, 1 removed, 2 narrowed, 0 widened, 0 kept" in told
    assert "          - native-codes/native-7\n" in told
    text = world.updated("report.jsonl")
    assert text == (
        entry("{ exit = 1 }", "exit-codes/exit-7")
        + "\n"
        + entry("{ exit = 3 }", "exit-codes/exit-2*")
        + 'except = ["exit-codes/exit-2"]\n\n'
    )


def test_what_fails_differently_is_moved_and_needs_a_reason_of_its_own(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(entry("{ exit = 1 }", *SEVENS))
    ran = world.run('[ $code -eq 7 ] && code=1; case $1 in *"exit 7"*) code=3;; esac')
    assert ran.code == 1
    assert "`conformance baseline update --route mytool.toml conformance-report.jsonl` documents what came." in ran.out
    before = world.text()
    world.update("report.jsonl", code=2)
    assert world.text() == before
    text = world.updated("report.jsonl", "--reason", "now 3", "--url", "https://example.org/3")
    moved = entry("{ exit = 3 }", "exit-codes/exit-7").replace("mytool loses it", "now 3").replace("mytool/1", "3")
    assert text == entry("{ exit = 1 }", "native-codes/native-7") + "\n" + moved.replace("https://example.org/3/1", "")


def test_reasons_comments_and_order_are_kept(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(COMMENTED)
    world.run(LOSES_2_AND_7 + '; case $1 in *"exit 7"*) code=7;; esac')
    text = world.updated("report.jsonl")
    assert text == COMMENTED.replace('  "exit-codes/exit-7",  # a line of its own\n', "")
    assert text != COMMENTED


COMMENTED = """\
# Ours.

# The second comment belongs to the entry.
[[deviation]]  # here
fixtures = [
  # first
  "exit-codes/exit-7",  # a line of its own
  "native-codes/native-7",  # and another
]
routes = ['mytool'] # in single quotes
url = "https://example.org/mytool/1"
observed.exit = 1
reason = '''It says
1'''  # in two lines

  # indented
[[deviation]]
routes = ["my*"]
fixtures = ["exit-codes/exit-2"]
reason = "Another"
url = "https://example.org/mytool/2"
[deviation.observed]
exit = 0
# the end
"""


def test_line_ends_of_windows_are_kept(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_bytes(entry("{ exit = 1 }", *SEVENS).replace("\n", "\r\n").encode())
    world.run('case $1 in *"exit 7"*) code=1;; esac; [ $code -eq 2 ] && code=0')
    world.update("report.jsonl", *GROUNDS)
    data = world.baseline.read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") == 13
    assert b"\r\r" not in data


def test_a_new_case_of_the_same_kind_joins_its_entry(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(entry("{ exit = 1 }", "native-codes/native-7"))
    world.run(LOSES_7)
    assert "0 added, 0 removed, 0 narrowed, 1 widened, 0 kept" in world.update("report.jsonl").out
    assert world.text() == entry("{ exit = 1 }", *SEVENS)
    world.baseline.write_text(entry("{ exit = 1 }", "native-codes/native-7"))
    assert "1 added" in world.update("report.jsonl", "--reason", "another", "--url", "https://example.org").out


def test_a_case_that_was_excepted_comes_back(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    text = entry("{ exit = 1 }", "exit-codes/exit-7", "native-codes/*", more='except = ["native-codes/native-7"]\n')
    world.baseline.write_text(text)
    world.run(LOSES_7)
    assert "except" not in world.updated("report.jsonl")
    assert world.run(LOSES_7).code == 0


def test_streams_are_told_by_shape_by_bytes_or_by_digest(tmp_path: Path) -> None:
    fixtures = ("bytes/deny-json-exit-2", "bytes/both-streams-1m", "exit-codes/exit-7", "exit-codes/exit-0")
    world = World.at(tmp_path, fixtures=fixtures)
    argv = """argv = ["/bin/sh", "-c", 'sh -c "$1" | tr a b; exit 7', "sh", "{{body}}"]"""
    file = tmp_path / "mytool.toml"
    lines = [argv if line.startswith("argv") else line for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines) + "\n")
    world.run(KEEPS)
    text = world.updated("report.jsonl", *GROUNDS)
    assert "observed = { exit = 7 }\n" in text
    assert '{\\"decision\\":\\"deny\\",\\"rebson\\":\\"fixture\\"}' in text
    assert 'stdout = "sha256:' in text
    assert world.run(KEEPS).code == 0


def test_standard_input_that_does_not_arrive_may_be_anything(tmp_path: Path) -> None:
    world = World.at(tmp_path, fixtures=("bytes/stdin-5k-half-read", "bytes/stdin-64k-plus-1-read"))
    file = tmp_path / "mytool.toml"
    file.write_text(file.read_text().replace('sh -c "$1"; ', 'sh -c "$1" </dev/null; '))
    world.run(KEEPS)
    assert 'received = "anything"' in world.updated("report.jsonl", *GROUNDS)
    assert world.run(KEEPS).code == 0


def test_a_body_that_never_starts(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    file = tmp_path / "mytool.toml"
    file.write_text(file.read_text().replace('sh -c "$1"; code=$?', ": $1; code=7"))
    world.run(KEEPS)
    text = world.updated("report.jsonl", *GROUNDS)
    assert 'observed = { exit = 7, started = "no" }' in text
    assert 'observed = { started = "no" }' in text
    assert world.run(KEEPS).code == 0


def test_an_error_never_leads_to_an_entry(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    file = tmp_path / "mytool.toml"
    file.write_text(file.read_text().replace('"/bin/sh"', '"/nonexistent/sh"'))
    assert world.run(KEEPS).code == 3
    told = world.update("report.jsonl", *GROUNDS).out
    assert (
        "broken    exit-codes/exit-0/mytool, exit-codes/exit-2/mytool, exit-codes/exit-255/mytool and 2 more: " in told
    )
    assert not world.baseline.exists()


def test_what_was_not_run_keeps_what_is_said_of_it(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(entry("{ exit = 1 }", *SEVENS))
    world.run(KEEPS, "report.jsonl", "-k", "exit-codes/exit-7/mytool")
    assert world.updated("report.jsonl") == entry("{ exit = 1 }", "native-codes/native-7")


def test_a_case_that_the_file_itself_documents_otherwise_is_named_and_left(tmp_path: Path) -> None:
    world = World.at(
        tmp_path, more=entry("{ exit = 3 }", "exit-codes/exit-7") + entry("{ exit = 9 }", "exit-codes/exit-2")
    )
    world.run(LOSES_7)
    lines = (tmp_path / "mytool.toml").read_text().splitlines()
    first, second = (number for number, line in enumerate(lines, start=1) if line == "[[deviation]]")
    told = world.update("report.jsonl", *GROUNDS, code=1).out
    assert f"left      exit-codes/exit-7/mytool: {tmp_path}/mytool.toml:{first} documents something else of it" in told
    assert f"left      exit-codes/exit-2/mytool: {tmp_path}/mytool.toml:{second} documents it, and it no longer" in told
    assert body(world.text()) == entry("{ exit = 1 }", "native-codes/native-7")


def test_an_entry_that_an_outer_one_stands_behind(tmp_path: Path) -> None:
    """What a broad entry of the file says is overruled by one of the baseline that names the case."""
    world = World.at(tmp_path, more=entry("{ exit = 3 }", "native-codes/*"))
    world.run(LOSES_7)
    assert world.results()["native-codes/native-7"] == "fail"
    assert body(world.updated("report.jsonl", *GROUNDS)) == entry("{ exit = 1 }", *SEVENS)


def test_routes_are_told_apart(tmp_path: Path) -> None:
    world = World.at(tmp_path, routes=("mytool", "other"), fixtures=("exit-codes/exit-2", "exit-codes/exit-7"))
    both = entry("{ exit = 1 }", "exit-codes/exit-2", "exit-codes/exit-7", routes='"mytool", "other"')
    world.baseline.write_text(both)
    world.run("code=1")
    assert world.updated("report.jsonl") == both

    def other_keeps_2(line: dict[str, object]) -> None:
        if line["id"] == "exit-codes/exit-2/other":
            (kept,) = (it for it in world.lines("kept.jsonl") if it["id"] == line["id"])
            line.update(kept)

    world.run(KEEPS, "kept.jsonl")
    world.rewrite(other_keeps_2)
    text = world.updated("report.jsonl")
    assert text == (
        entry("{ exit = 1 }", "exit-codes/exit-7", routes='"mytool", "other"')
        + "\n"
        + entry("{ exit = 1 }", "exit-codes/exit-2")
    )
    world.baseline.write_text(both)
    world.rewrite(
        lambda line: (
            line.update(next(it for it in world.lines("kept.jsonl") if it["id"] == line["id"]))
            if line["route"] == "other"
            else None
        )
    )
    assert world.updated("report.jsonl") == both.replace(', "other"', "")


def test_reports_that_say_nothing_of_the_routes_are_refused(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(KEEPS)
    world.rewrite(lambda line: line.update(id=f"{line['fixture']}/else", route="else"))
    refused = world.update("report.jsonl", code=2).err
    assert "report.jsonl: has no result of a route of" in refused
    assert "Its routes are mytool." in refused
    assert "every entry of" in world.update(code=2).err
    assert "cannot be read as a report" in world.update("nothing.jsonl", code=2).err


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("expected", "judged it by another expectation than today's. Run it again"),
        ("as expected", "judged it by another expectation than today's. Run it again"),
        ("another difference", "judged it by another expectation than today's. Run it again"),
        ("fixture", "is of other fixtures than today's. Run it again"),
        ("reason", "contaminated by exit-codes/exit-0/mytool, so it depends on what ran before it"),
    ],
)
def test_a_result_that_does_not_count_leads_to_nothing(change: str, why: str, tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES_7)

    def spoil(line: Line) -> None:
        if line["id"] == "exit-codes/exit-7/mytool":
            if change == "expected":
                line["expected"] = {"kind": "exited", "code": 8}
            elif change in ("as expected", "another difference"):
                text = base64.b64encode(b"x").decode()
                difference = {"offset": 0, "window_offset": 0, "expected": text, "observed": text}
                stdout = {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest(), "head": text, "tail": text}
                line["steps"][0]["stdout"] = {**stdout, "difference": None if change == "as expected" else difference}
                line["discrepancies"] += [] if change == "as expected" else [{"subject": "stdout", "meaning": "m"}]
            elif change == "fixture":
                line.update(fixture="exit-codes/exit-8", id="exit-codes/exit-8/mytool")
            else:
                line["reason"] = f"contaminated by exit-codes/exit-0/mytool: in a new session\n{line['reason']}"

    world.rewrite(spoil)
    told = world.update("report.jsonl", *GROUNDS, code=1).out
    id_ = "exit-codes/exit-8/mytool" if change == "fixture" else "exit-codes/exit-7/mytool"
    assert f"left      {id_}: " in told
    assert f"{why}\n" in told
    assert body(world.text()) == entry("{ exit = 1 }", "native-codes/native-7")


def test_what_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.run(LOSES_7)
    world.baseline.mkdir()
    refused = world.update("report.jsonl", *GROUNDS, code=2).err
    assert "Traceback" not in refused
    assert "cannot be read" in refused or "cannot be written" in refused


def test_the_mode_and_the_link_of_a_baseline_are_kept(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    (tmp_path / "kept").mkdir()
    real = tmp_path / "kept" / "real.toml"
    real.write_text(entry("{ exit = 1 }", *SEVENS))
    real.chmod(0o640)
    world.baseline.symlink_to(real)
    world.run('case $1 in *"exit 7"*) code=1;; esac')
    world.update("report.jsonl")
    assert world.baseline.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_text() == entry("{ exit = 1 }", "exit-codes/exit-7")
    assert list((tmp_path / "kept").iterdir()) == [real]


def test_only_files_of_a_users_own_have_a_baseline(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("# nothing\n")
    assert "holds no [[route]]" in call_cli("baseline", "update", "--route", empty).err
    refused = call_cli("baseline", "update", "--route", tmp_path / "mytool.baseline.toml")
    assert f"is the baseline of {tmp_path}/mytool.toml, and comes with it" in refused.err
    assert call_cli("baseline", "update", "--route", tmp_path / "a").code == 2


def test_all_fixtures_of_this_file_are_what_they_are_taken_for(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    assert world.run(KEEPS).code == 0
    assert world.results() == dict.fromkeys(FIXTURES, "pass")
