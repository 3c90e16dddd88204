"""Scripts of `repro --shell powershell`, which are for Windows and run by any PowerShell."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest
from conftest import run_cli
from repro_world import ODD, POWERSHELL, PWSH, SAYABLE, catalog_of, compare, script_of, through_sh, toml

from conformance.catalog import Catalog, load_catalog
from conformance.errors import UsageError

pytestmark = [
    pytest.mark.skipif(PWSH is None, reason="pwsh is missing: start through `python3 bootstrap.py test`"),
    pytest.mark.skipif(sys.platform == "win32", reason="the cases of this test start sh"),
]
SHOWN = (
    "bytes/echo-1m/sh-command",
    "native-codes/killed-by-kill/sh-command",
    "processes/background-child-holds-stdout/bash-command",
    "text/param-first/pwsh-preserving",
)


@pytest.fixture(scope="module")
def full() -> Catalog:
    return load_catalog(["full"])


@pytest.mark.parametrize("id_", SHOWN)
def test_what_shipped_routes_give(id_: str, full: Catalog) -> None:
    assert compare(POWERSHELL, full, [case for case in full.cases() if case.id == id_]) == []


@pytest.mark.parametrize(
    "what",
    ["arguments and body", "files in files", "encoded", "environment", "a stream on stdin", "the body on stdin",
     "a body that is too long"],
)  # fmt: skip
def test_what_a_route_and_a_fixture_may_say(what: str, tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, *SAYABLE[what])
    assert compare(POWERSHELL, catalog, catalog.cases()) == []


def test_a_hang_is_stopped_with_all_that_it_started(full: Catalog, tmp_path: Path) -> None:
    script = script_of(POWERSHELL, full, "processes/hang-outside-group/bash-command")
    finished = POWERSHELL.run(script, TMPDIR=str(tmp_path))
    assert finished.stdout.startswith("status: timed out\n")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert not [process for process in psutil.process_iter(["cmdline"])
                if any(str(tmp_path) in word for word in process.info["cmdline"] or ())]  # fmt: skip
    assert not list(tmp_path.glob("repro-*"))


def test_a_script_is_ascii_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, through_sh("{{body}}", ODD), toml("echo one\necho two; # é\n"))
    script = script_of(POWERSHELL, catalog, "t/one/r")
    assert all(" " <= char <= "~" or char == "\n" for char in script)
    assert POWERSHELL.run(script).stdout == POWERSHELL.run(script.replace("\n", "\r\n")).stdout


def test_a_missing_program(full: Catalog, tmp_path: Path) -> None:
    script = script_of(POWERSHELL, full, "native-codes/native-7/pwsh-file")
    finished = POWERSHELL.run(script, CONFORMANCE_PWSH="no-such-pwsh", TMPDIR=str(tmp_path))
    assert (finished.returncode, finished.stdout) == (3, "")
    assert finished.stderr == "This script can show nothing: no-such-pwsh is missing. Install it, or mend PATH.\n"
    assert not list(tmp_path.glob("repro-*"))


def test_the_command_prints_and_runs_it() -> None:
    case = ("native-codes/native-7/sh-command", "--shell", "powershell")
    assert run_cli("repro", *case).out.startswith("# native-codes/native-7/sh-command")
    ran = run_cli("repro", *case, "--run", env={"CONFORMANCE_PWSH": PWSH})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("contract: kept\n")


def test_closed_and_full_streams_are_for_bash(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, *SAYABLE["closed and full streams"])
    with pytest.raises(UsageError, match=r"stdin and stdout closed or full\. Use --shell bash"):
        script_of(POWERSHELL, catalog, "t/one/r")
