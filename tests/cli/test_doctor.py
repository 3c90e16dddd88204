"""`conformance doctor` on real machines, good and bad: it names what is broken, and its command mends it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import COMMAND, ROOT, command_environment, run_cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the machines are made of scripts of /bin/sh")

DOCTOR = shlex.join([*COMMAND, "doctor", "--json"])
REAL_PWSH = os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh")
needs_pwsh = pytest.mark.skipif(REAL_PWSH is None, reason="pwsh is missing: start through `python3 bootstrap.py test`")
NO_RESULT = "This machine, or conformance, is broken: no result from here counts."


@dataclass(frozen=True)
class Examined:
    """What the doctor found."""

    code: int
    findings: dict[str, dict[str, str]]
    verdict: list[str]

    def states(self, group: str) -> dict[str, str]:
        """The states of a group of findings."""
        return {id_: found["state"] for id_, found in self.findings.items() if id_.startswith(f"{group}/")}


class Machine:
    """A machine whose PATH has a few real programs, and no pwsh."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        for name in ("bash", "sh", "dash", "env"):
            self.add_real(name)
        self.path = str(self.programs)

    def add_real(self, name: str) -> None:
        """Put the program called `name` on PATH, where there is one."""
        program = shutil.which(name)
        if program is not None:
            (self.programs / name).symlink_to(program)

    def add_first(self, name: str, text: str) -> Path:
        """Put a program called `name` into a folder of its own, which is searched first."""
        program = self.folder / f"with-{len(self.path)}" / name
        program.parent.mkdir()
        program.write_text(text)
        program.chmod(0o755)
        self.path = f"{program.parent}{os.pathsep}{self.path}"
        return program

    def examined(self, script: str = DOCTOR, **changes: str | None) -> Examined:
        """Run `script`, whose output must be the doctor's, with this machine's PATH."""
        completed = subprocess.run(
            ["/bin/sh", "-c", script],
            env=command_environment({"PATH": self.path, "XDG_CACHE_HOME": str(self.folder / "cache"), **changes}),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.stderr == ""
        whole: dict[str, Any] = json.loads(completed.stdout)
        assert whole["exit_code"] == completed.returncode
        findings = {finding["id"]: finding for finding in whole["findings"]}
        assert len(findings) == len(whole["findings"]), "every check has an id of its own"
        for finding in findings.values():
            assert finding["found"]
            spoils = finding["state"] in ("warning", "broken", "differs")
            assert (bool(finding["why"]), bool(finding["mend"])) == (spoils, spoils), finding
        return Examined(completed.returncode, findings, whole["verdict"])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_pwsh(machine: Machine) -> None:
    seen = machine.examined()
    assert seen.code == 3
    pwsh = seen.findings["shell/pwsh"]
    assert pwsh["state"] == "broken"
    assert "pwsh is not on PATH" in pwsh["found"]
    assert "bootstrap.py run" in pwsh["mend"] or "install PowerShell" in pwsh["mend"]
    assert set(seen.states("harness").values()) == {"ok"}
    assert seen.states("smoke") == {"smoke/bash": "ok", "smoke/sh": "ok"}
    assert {id_ for id_, state in seen.states("route").items() if state == "not-tried"} == {
        id_ for id_ in seen.states("route") if "pwsh" in id_
    }
    assert seen.findings["route/bash-command"]["state"] == "ok"
    assert seen.verdict == ["Broken or missing here: shell/pwsh. No result that rests on it counts."]


def test_a_log_holds_whole_lines_and_the_verdict_last(machine: Machine) -> None:
    finished = run_cli("doctor", env={"PATH": machine.path})
    assert finished.code == 3
    lines = finished.out.splitlines()
    assert all(line == line.rstrip() for line in lines)
    broken = next(index for index, line in enumerate(lines) if line.startswith("BROKEN"))
    assert lines[broken].split()[1] == "shell/pwsh:"
    assert [line.split()[0] for line in lines[broken + 1 : broken + 3]] == ["why:", "mend:"]
    assert lines[-1].startswith("Broken or missing here: shell/pwsh.")
    assert len(lines) < 40, "it fits a screen"


def test_another_pwsh_is_taken_for_one_that_is_none(machine: Machine) -> None:
    other = machine.add_first("pwsh", "#!/bin/sh\nexit 1\n")
    machine.add_first("pwsh", "#!/bin/sh\necho I am no PowerShell >&2; exit 3\n")
    seen = machine.examined()
    pwsh = seen.findings["shell/pwsh"]
    assert (seen.code, pwsh["state"]) == (3, "broken")
    assert "which is not PowerShell" in pwsh["found"]
    assert "I am no PowerShell" in pwsh["found"]
    assert pwsh["mend"] == f"export CONFORMANCE_PWSH={other}"
    chosen = machine.examined(CONFORMANCE_PWSH="/nonexistent/pwsh").findings["shell/pwsh"]
    assert "CONFORMANCE_PWSH=/nonexistent/pwsh is not a program that can be run" in chosen["found"]
    assert chosen["mend"].startswith("export CONFORMANCE_PWSH=")


@needs_pwsh
def test_a_mended_machine_is_in_order_though_routes_lose(machine: Machine) -> None:
    machine.add_real("dotnet")  # by which the pwsh of a .NET tool is run
    (machine.programs / "pwsh").write_text(f'#!/bin/sh\nexec {shlex.quote(str(REAL_PWSH))} "$@"\n')
    (machine.programs / "pwsh").chmod(0o755)
    machine.add_first("pwsh", "#!/bin/sh\nexit 3\n")
    mend = machine.examined().findings["shell/pwsh"]["mend"]
    seen = machine.examined(f"{mend}; {DOCTOR}")
    assert seen.code == 0, seen
    assert seen.findings["smoke/pwsh"]["state"] == "ok"
    assert {id_ for id_, state in seen.states("route").items() if state == "loses"} == {
        "route/pwsh-command",
        "route/pwsh-file",
    }
    assert seen.verdict[0].startswith("This machine is in order")
    assert seen.verdict[1].endswith("no fault of this machine: pwsh-command, pwsh-file.")


def test_a_shell_that_always_fails(machine: Machine) -> None:
    machine.add_first("sh", f"#!{shutil.which('false')}\n")
    seen = machine.examined()
    assert (seen.code, seen.findings["shell/sh"]["state"]) == (3, "broken")
    assert "is not a POSIX shell" in seen.findings["shell/sh"]["found"]
    assert "smoke/sh" not in seen.findings
    assert seen.findings["route/sh-command"]["state"] == "not-tried"
    assert seen.findings["smoke/bash"]["state"] == "ok"
    mended = machine.examined(f"{seen.findings['shell/sh']['mend']}; {DOCTOR}")
    assert mended.findings["shell/sh"]["state"] == mended.findings["route/sh-command"]["state"] == "ok"


LYING = """#!/bin/sh
case "$*" in *is-a-shell*) exec {bash} "$@" ;; esac
{bash} "$@"
exit 0
"""


def test_a_shell_that_passes_for_one_is_blamed_and_no_route(machine: Machine) -> None:
    machine.add_first("bash", LYING.format(bash=shutil.which("bash")))
    seen = machine.examined()
    assert (seen.code, seen.findings["shell/bash"]["state"]) == (3, "ok")
    assert seen.findings["smoke/bash"]["state"] == "broken"
    assert "expected exited(7), came exited(0)" in seen.findings["smoke/bash"]["found"]
    assert seen.findings["route/bash-command"]["state"] == seen.findings["route/bash-file"]["state"] == "not-tried"
    assert seen.findings["route/sh-command"]["state"] == "ok"


def test_with_sigint_ignored_on_entry(machine: Machine) -> None:
    seen = machine.examined(f"trap '' INT; {DOCTOR}")
    finding = seen.findings["surroundings/signals"]
    assert finding["state"] == "warning"
    assert "SIGINT" in finding["found"]
    assert finding["mend"].startswith("env --default-signal=")
    assert seen.findings["harness/inherited-signals"]["state"] == "ok", "hooks get it back"


def test_a_temporary_folder_that_cannot_be_written(machine: Machine) -> None:
    (machine.folder / "file").touch()
    finding = machine.examined(TMPDIR=str(machine.folder / "file")).findings["folder/temporary"]
    assert finding["state"] == "warning"
    assert "TMPDIR=" in finding["found"]
    assert machine.examined(f"{finding['mend']}; {DOCTOR}").findings["folder/temporary"]["state"] == "ok"


def test_a_temporary_folder_without_programs(machine: Machine) -> None:
    folder = machine.folder / "noexec"
    folder.mkdir()
    mount = shlex.join(["mount", "-t", "tmpfs", "-o", "noexec", "none", str(folder)])
    new_namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    if not shutil.which("unshare") or subprocess.run(new_namespace, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    inside = f"PATH={shlex.quote(os.environ['PATH'])}; {mount}; PATH={machine.path} TMPDIR={folder} {DOCTOR}"
    script = f"PATH={shlex.quote(os.environ['PATH'])} unshare --map-root-user --mount sh -c {shlex.quote(inside)}"
    seen = machine.examined(script)
    assert seen.code == 3
    finding = seen.findings["folder/temporary"]
    assert (finding["state"], "mounted with noexec" in finding["found"]) == ("broken", True)
    assert "TMPDIR=" in finding["mend"]
    native = seen.findings["harness/native"]
    assert (native["state"], native["mend"]) == ("broken", finding["mend"])
    assert seen.verdict == [NO_RESULT]
    assert seen.states("route") == {}


def test_without_a_home_or_a_cache(machine: Machine) -> None:
    seen = machine.examined(HOME=None, XDG_CACHE_HOME="/dev/null/cache")
    assert seen.findings["folder/cache"]["state"] == "warning"
    assert seen.findings["smoke/bash"]["state"] == "ok"


@pytest.fixture
def broken_copy(tmp_path: Path) -> Path:
    """A copy of the package, to be broken."""
    copy = tmp_path / "copy"
    sources = {name: next(p for p in (ROOT / name, ROOT / "conformance" / name) if p.is_dir()) for name in DATA}
    for name, source in {"conformance": ROOT / "conformance", **sources}.items():
        shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


DATA = ("fixtures", "matrices")


def test_a_broken_witness_is_no_fault_of_a_route(broken_copy: Path, machine: Machine) -> None:
    witness = broken_copy / "conformance" / "witness.py"
    witness.write_text(witness.read_text().replace("    main(sys.argv[1:])\n", "    sys.exit(5)\n"))
    seen = machine.examined(PYTHONPATH=str(broken_copy))
    assert (seen.code, seen.findings["harness/exit-codes"]["state"]) == (3, "broken")
    assert "was seen as exited(5)" in seen.findings["harness/exit-codes"]["found"]
    assert seen.verdict == [NO_RESULT]
    assert seen.states("route") == {}


def test_without_fixtures(broken_copy: Path, machine: Machine) -> None:
    shutil.rmtree(broken_copy / "fixtures")
    seen = machine.examined(PYTHONPATH=str(broken_copy))
    assert (seen.code, seen.findings["install/suite"]["state"]) == (3, "broken")
    assert "reinstall" in seen.findings["install/suite"]["mend"]
    assert seen.findings["shell/bash"]["state"] == "ok"
