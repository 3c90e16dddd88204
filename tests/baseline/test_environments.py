"""Reports of several environments, and several of one: conditions, and what is flaky."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from baseline_world import GROUNDS, KEEPS, World, body, entry
from conftest import call_cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the launcher is run by /bin/sh")

LOSES_7 = 'case $1 in *"exit 7"*) code=1;; esac'
LOSES_7_AS_3 = 'case $1 in *"exit 7"*) code=3;; esac'
SEVEN = "exit-codes/exit-7"
CASE = f"{SEVEN}/mytool"
LINUX = "linux-x86_64/bash-5.2.15/local"


def reports(world: World, **behaviours: tuple[str, str]) -> list[str]:
    """Run once for each behaviour and call that a report of the environment beside it; return the files' names."""
    for name, (behaviour, environment) in behaviours.items():
        world.run(behaviour, f"{name}.jsonl")
        world.on(environment, f"{name}.jsonl")
    return [f"{name}.jsonl" for name in behaviours]


@pytest.mark.parametrize(
    ("other", "when"),
    [
        ("windows-amd64/bash-5.2.15/local", 'when = { os = "linux" }\n'),
        ("linux-x86_64/dash-0.5.12/local", 'when = { shell = "bash" }\n'),
        ("linux-x86_64/bash-5.2.15/docker", 'when = { runner = "local" }\n'),
        ("linux-x86_64/bash-4.4.0/local", 'when = { shell = "bash", version = ">=5" }\n'),
        ("linux-x86_64/bash-5.1.16/local", 'when = { shell = "bash", version = ">=5.2" }\n'),
        ("linux-x86_64/bash-5.3.0/local", 'when = { shell = "bash", version = "<5.3" }\n'),
    ],
)
def test_the_smallest_condition_that_tells_them_apart(other: str, when: str, tmp_path: Path) -> None:
    world = World.at(tmp_path)
    names = reports(world, here=(LOSES_7, LINUX), there=(KEEPS, other))
    assert body(world.updated(*names, *GROUNDS)) == entry("{ exit = 1 }", SEVEN, more=when)


def test_what_is_seen_in_all_environments_has_no_condition(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    names = reports(world, here=(LOSES_7, LINUX), there=(LOSES_7, "windows-amd64/bash-5.2.15/local"))
    assert body(world.updated(*names, *GROUNDS)) == entry("{ exit = 1 }", SEVEN)


def test_system_and_shell_together_and_else_an_entry_for_each_environment(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    names = reports(
        world,
        here=(LOSES_7, LINUX),
        shell=(KEEPS, "linux-x86_64/dash-0.5.12/local"),
        system=(KEEPS, "windows-amd64/bash-5.2.15/local"),
    )
    both = entry("{ exit = 1 }", SEVEN, more='when = { os = "linux", shell = "bash" }\n')
    assert body(world.updated(*names, *GROUNDS)) == both
    world.baseline.unlink()
    world.on("windows-amd64/dash-0.5.12/local", "here.jsonl", "far.jsonl")
    text = body(world.updated(*names, "far.jsonl", *GROUNDS))
    assert text == both + "\n" + entry("{ exit = 1 }", SEVEN, more='when = { os = "windows", shell = "dash" }\n')


def test_each_environment_gets_what_was_seen_there(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    names = reports(world, here=(LOSES_7, LINUX), there=(LOSES_7_AS_3, "windows-amd64/bash-5.2.15/local"))
    assert body(world.updated(*names, *GROUNDS)) == "\n".join(
        entry(f"{{ exit = {code} }}", SEVEN, more=f'when = {{ os = "{name}" }}\n')
        for code, name in ((1, "linux"), (3, "windows"))
    )


def test_environments_that_no_condition_tells_apart_are_named_and_left(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    names = reports(world, here=(LOSES_7, LINUX), there=(KEEPS, LINUX.replace("x86_64", "aarch64")))
    told = world.update(*names, *GROUNDS, code=1).out
    assert f"left      {CASE}: it differs between environments that no condition tells apart\n" in told
    assert not world.baseline.exists()


def test_what_is_known_of_windows_is_kept_when_linux_is_updated(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    windows = entry("{ exit = 9 }", SEVEN, more='when = { os = "windows" }\n')
    world.baseline.write_text(windows)
    world.run(KEEPS)
    assert world.updated("report.jsonl") == windows
    world.run(LOSES_7)
    text = world.updated("report.jsonl", *GROUNDS)
    assert text == windows + "\n" + entry("{ exit = 1 }", SEVEN, more='when = { os = "linux" }\n')


def test_what_no_longer_happens_in_one_of_two_environments_gets_a_condition(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text("# Mine.\n" + entry("{ exit = 1 }", SEVEN))
    names = reports(world, here=(KEEPS, LINUX), there=(LOSES_7, "windows-amd64/bash-5.2.15/local"))
    told = world.update(*names, "--dry-run").out
    assert "0 added, 0 removed, 1 narrowed, 0 widened, 0 kept" in told
    assert "          was: always\n" in told
    text = world.updated(*names)
    assert text == "# Mine.\n" + entry("{ exit = 1 }", SEVEN) + 'when = { os = "windows" }\n'


def test_what_happens_elsewhere_as_well_loses_its_condition(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text("# Mine.\n" + entry("{ exit = 1 }", SEVEN, more='when = { os = "linux" }\n'))
    names = reports(world, here=(LOSES_7, LINUX), there=(LOSES_7, "windows-amd64/bash-5.2.15/local"))
    assert "1 widened" in world.update(*names, "--dry-run").out
    assert world.updated(*names) == "# Mine.\n" + entry("{ exit = 1 }", SEVEN)


def test_reports_of_one_environment_that_disagree_make_it_flaky(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    names = reports(world, one=(LOSES_7, LINUX), two=(KEEPS, LINUX), three=(LOSES_7_AS_3, LINUX))
    text = world.updated(*names, *GROUNDS)
    assert body(text) == entry("[{ exit = 1 }, { exit = 3 }]", SEVEN, kind="flaky")
    for behaviour in (KEEPS, LOSES_7, LOSES_7_AS_3):
        assert world.run(behaviour).code == 0
        assert world.updated("report.jsonl") == text


def test_an_entry_becomes_flaky_where_it_stands(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    first = "# Known.\n[[deviation]]  # for long\n" + entry("{ exit = 1 }", SEVEN).partition("\n")[2]
    second = entry("{ exit = 9 }", SEVEN, more='when = { os = "macos" }\n')
    world.baseline.write_text(f"{first}\n{second}")
    names = reports(world, one=(LOSES_7, LINUX), two=(KEEPS, LINUX))
    told = world.update(*names, "--dry-run").out
    assert "widened   flaky of mytool: [{ exit = 1 }]\n          was: deviation { exit = 1 }\n" in told
    flaky = first.replace("[[deviation]]", "[[flaky]]").replace("observed = { exit = 1 }", "observed = [{ exit = 1 }]")
    assert world.updated(*names) == f"{flaky}\n{second}"


def test_a_flaky_case_that_does_something_new(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(entry("[{ exit = 1 }]", SEVEN, kind="flaky"))
    ran = world.run(LOSES_7_AS_3)
    assert "`conformance baseline update --route mytool.toml conformance-report.jsonl` documents what came." in ran.out
    assert world.updated("report.jsonl") == entry("[{ exit = 1 }, { exit = 3 }]", SEVEN, kind="flaky")


def test_a_flaky_entry_on_which_all_reports_agree_is_named_and_kept(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    flaky = entry("[{ exit = 1 }]", SEVEN, kind="flaky")
    world.baseline.write_text(flaky)
    for behaviour in (KEEPS, LOSES_7):
        world.run(behaviour, "one.jsonl")
        world.run(behaviour, "two.jsonl")
        told = world.update("one.jsonl", "two.jsonl").out
        assert "flaky?    flaky of mytool: [{ exit = 1 }]\n" in told
        command = f"conformance verify {CASE} --route {tmp_path}/mytool.toml -n 20"
        assert f"          all 2 reports agree: verify with `{command}`, then delete it\n" in told
        assert "flaky?" not in world.update("one.jsonl").out
    world.run(KEEPS, "two.jsonl")
    assert "flaky?" not in world.update("one.jsonl", "two.jsonl").out
    assert world.text() == flaky


def test_an_entry_that_matches_nothing_stops_a_run_and_is_removed(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    gone = entry("{ exit = 1 }", "exit-codes/exit-8")
    partly = entry("{ exit = 1 }", SEVEN, "exit-codes/exit-8", more='except = ["exit-codes/exit-9"]\n')
    for broken, complaint in (
        (gone, "'exit-codes/exit-8' matches no fixture"),
        (entry("{ exit = 1 }", SEVEN, routes='"my-tool"'), "'my-tool' matches no route"),
        (entry("{ exit = 1 }", "exit-codes/host-should-exit-7"), "the deviation matches no case"),
    ):
        world.baseline.write_text(broken)
        stopped = world.run(KEEPS)
        assert stopped.code == 2
        assert stopped.err.startswith("conformance: mytool.baseline.toml:1: ")
        assert complaint in stopped.err
        assert "`conformance baseline update --route mytool.toml` takes it out." in stopped.err
        told = world.update().out
        assert "0 added, 1 removed, 0 narrowed" in told
        assert "          it matches no case\n" in told
        assert world.text() == ""
        assert world.run(KEEPS).code == 0
    world.baseline.write_text(partly)
    assert "1 narrowed" in world.update().out
    assert world.text() == entry("{ exit = 1 }", SEVEN)


def test_an_entry_that_applies_to_nothing_is_named_and_removed(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(entry("{ exit = 7 }", SEVEN, "native-codes/native-7"))
    ran = world.run(KEEPS)
    assert ran.code == 1
    assert "the deviation is unused: it applies to none of the 2 cases it names." in ran.out
    assert "`conformance baseline update --route mytool.toml conformance-report.jsonl` takes it out." in ran.out
    assert "it applies to none of the cases that it names" in world.update("report.jsonl").out
    assert world.text() == ""


def test_an_entry_that_names_too_much_is_named_and_narrowed(tmp_path: Path) -> None:
    fixtures = ("exit-codes/exit-0", "exit-codes/exit-2", SEVEN, "native-codes/native-2", "native-codes/native-7")
    more = ("native-codes/native-0", "text/comment-own-line", "text/comment-same-line", "text/heredoc", "posix/or-exit")
    world = World.at(tmp_path, fixtures=(*fixtures, *more))
    world.baseline.write_text("# All.\n" + entry("{ exit = 7 }", "*"))
    behaviour = "[ $code -eq 0 ] && code=7; [ $code -eq 2 ] && code=7"
    ran = world.run(behaviour)
    held = [id_ for id_, result in world.results().items() if result == "deviates"]
    assert 0 < len(held) < len(world.results()) / 2
    assert (
        f"the deviation is too broad: {len(held)} of the {len(world.results())} cases that it names need it." in ran.out
    )
    assert "`conformance baseline update --route mytool.toml conformance-report.jsonl` narrows it to these." in ran.out
    assert world.updated("report.jsonl") == "# All.\n" + entry("{ exit = 7 }", *sorted(held))
    assert world.run(behaviour).code == 0


def test_a_part_of_the_cases_does_not_narrow_an_entry(tmp_path: Path) -> None:
    fixtures = (
        "exit-codes/exit-2",
        SEVEN,
        "text/comment-*",
        "text/heredoc",
        "text/no-final-newline",
        "text/crlf-in-sh",
    )
    world = World.at(tmp_path, fixtures=(*fixtures, "text/quoted-path-first", "native-codes/native-2"))
    text = entry("{ exit = 7 }", "*")
    world.baseline.write_text(text)
    behaviour = "[ $code -eq 2 ] && code=7"
    ran = world.run(behaviour, "report.jsonl", "--fixture", "text/*", "--fixture", "exit-codes/*")
    assert (ran.code, sorted(world.results().values()).count("pass")) == (0, 7)
    assert world.updated("report.jsonl") == text
    assert world.run(behaviour).code == 1


def test_a_former_id_becomes_todays(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    file = tmp_path / "mytool.toml"
    file.write_text(file.read_text().replace('id = "mytool"\n', 'id = "mytool"\naliases = ["oldtool"]\n'))
    world.run(LOSES_7)
    world.rewrite(lambda line: line.update(id=f"{line['fixture']}/oldtool", route="oldtool"))
    world.baseline.write_text(entry("{ exit = 1 }", SEVEN, routes='"oldtool"'))
    assert world.run(LOSES_7, "new.jsonl").code == 2
    assert world.updated("report.jsonl") == entry("{ exit = 1 }", SEVEN)
    assert world.run(LOSES_7).code == 0


def test_a_baseline_holds_nothing_but_what_is_documented(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    world.baseline.write_text(entry("{ exit = 1 }", SEVEN) + '\n[[route]]\nid = "another"\n')
    refused = world.run(KEEPS)
    assert refused.code == 2
    assert refused.err.startswith("conformance: mytool.baseline.toml:8: 'route' has no place in a baseline")
    assert "Routes, and all else, belong in mytool.toml." in refused.err
    world.baseline.write_text('fixtures = ["exit-codes/*"]\n')
    assert world.run(KEEPS).err.startswith("conformance: mytool.baseline.toml:1: 'fixtures' has no place")
    world.baseline.write_text(entry("{ exit = 1 }", SEVEN).replace("reason", "reasn"))
    assert "unknown key 'reasn' in [[deviation]] (did you mean 'reason'?)" in world.run(KEEPS).err


def test_a_baseline_comes_with_its_route_file_wherever_that_is_loaded(tmp_path: Path) -> None:
    world = World.at(tmp_path)
    file = tmp_path / "mytool.toml"
    world.run(KEEPS, "without.jsonl")
    world.baseline.write_text(entry("{ exit = 1 }", SEVEN))
    world.run(LOSES_7, "with.jsonl")
    first, second = ((tmp_path / name).read_text().partition("\n")[0] for name in ("without.jsonl", "with.jsonl"))
    assert '"digest": "' in first
    assert first.partition('"digest": "')[2][:64] != second.partition('"digest": "')[2][:64]
    origin = f"{world.baseline}:1"
    assert origin in call_cli("explain", CASE, "--route", file).out
    assert origin in call_cli("show", CASE, "--matrix", file).out
    file.write_text(file.read_text().replace("{{folder}}", str(tmp_path)))
    assert "A deviation from it is documented: exited(1)." in call_cli("repro", CASE, "--route", file).out
    (tmp_path / "other.toml").write_text(f'extends = "mytool.toml"\nfixtures = ["{SEVEN}"]\n')
    assert origin in call_cli("show", CASE, "--matrix", tmp_path / "other.toml").out


def test_pytest_takes_the_baseline_as_well(pytester: pytest.Pytester) -> None:
    world = World.at(pytester.path, fixtures=(SEVEN, "exit-codes/exit-0"))
    world.baseline.write_text(entry("{ exit = 1 }", SEVEN))
    (pytester.path / "behaviour").write_text(LOSES_7)
    pytester.makeini("[pytest]\nconformance_matrices = mytool.toml\n")
    pytester.runpytest_inprocess("-p", "conformance.pytest_plugin").assert_outcomes(passed=1, xfailed=1)
