"""The host of pwsh sessions, over its protocol: many bodies in one process, each as in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pwsh_host_world import HAS_PWSH, HostSession, Machine, Outcome

from conformance.payload import Stream

pytestmark = [
    pytest.mark.skipif(not HAS_PWSH, reason="pwsh is missing: start through `python3 bootstrap.py test`"),
    pytest.mark.skipif(sys.platform == "win32", reason="the host speaks of POSIX descriptors"),
]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="module")
def fresh(machine: Machine) -> Iterator[HostSession]:
    session = HostSession(machine, "fresh")
    yield session
    assert session.close() == (0, b"", "")


@pytest.fixture
def reused(machine: Machine) -> Iterator[HostSession]:
    session = HostSession(machine, "reused")
    yield session
    assert session.close() == (0, b"", "")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("exit 7", 7),
        ("exit 300", 44),
        ("sh -c 'exit 5'", 5),
        ("sh -c 'exit 5'; return", 5),
        ("sh -c 'exit 5'; Get-Item /nonexistent", 1),
        ("sh -c 'exit 5'; 'ok'", 0),
        ("function Stop-It { exit 9 }; Stop-It", 9),
        ("Set-Content ./inner.ps1 'exit 4'; ./inner.ps1", 4),
        ("try { exit 3 } finally { 'left' }", 3),
        ("try { exit 3 } finally { throw 'x' }", 1),
        ("$Host.SetShouldExit(6); Get-Item /nonexistent", 6),
        ("$Host.SetShouldExit(6); throw 'late'", 6),
        ("throw 'x'", 1),
        ("$ErrorActionPreference = 'Stop'; $PSNativeCommandUseErrorActionPreference = $true; sh -c 'exit 5'", 1),
        ("if (", 1),
        ("break", 0),
        ("# nothing", 0),
        ("", 0),
        ("param($number = 5) exit $number", 5),
        ("using namespace System.IO\nexit [Path]::GetFileName('/a/b').Length", 1),
        ("begin { 'b' } end { sh -c 'exit 8' }", 8),
        ("#requires -Version 99\nexit 2", 2),
        ("[Environment]::ExitCode = 9", 0),
        ("\ufeffexit 7", 7),
        ("Wait-Debugger; exit 7", 7),
    ],
)
def test_the_status_is_that_of_a_process_of_its_own(fresh: HostSession, body: str, code: int) -> None:
    outcome = fresh.run(body)
    assert (outcome.code, outcome.ended) == (code, False), outcome


@pytest.mark.parametrize("body", ["throw 'x'", "if (", "Get-Item /nonexistent\n[int]'x'\nsh -c 'echo e >&2; exit 7'"])
def test_errors_are_shown_as_in_a_process_of_its_own(
    machine: Machine, fresh: HostSession, body: str, tmp_path: Path
) -> None:
    assert fresh.run(body, directory=tmp_path) == machine.one_shot(body, b"", tmp_path)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("[Environment]::Exit(7)", 7),
        ('sh -c "kill -9 $PID"; Start-Sleep 60', -9),
        ("Stop-Process -Id $PID; Start-Sleep 60", -9),
    ],
)
def test_a_body_that_ends_the_process_ends_it_unanswered(fresh: HostSession, body: str, status: int) -> None:
    outcome = fresh.run(body)
    assert (outcome.code, outcome.ended) == (status, True), outcome


MIB = Stream("host", 1 << 20).slice(0, 1 << 20)


@pytest.mark.parametrize(
    "data",
    [b"", b"no final newline", b"a\r\nb\rc\n\n", b"\0\x80\xff\xfe\n\x1b[31m", MIB[:65537], MIB],
    ids=["empty", "no-newline", "line-ends", "no-text", "64k-plus-1", "1m"],
)
def test_bytes_go_through_a_native_as_they_are(fresh: HostSession, data: bytes) -> None:
    assert fresh.run("cat; sh -c 'exit 7'", data) == Outcome(7, data, b"")


def test_both_outputs_and_the_input_flow_at_once(fresh: HostSession) -> None:
    assert fresh.run("sh -c 'tee /dev/stderr; exit 7'", MIB) == Outcome(7, MIB, MIB)


@pytest.mark.parametrize("body", ["exit 7", "sh -c 'head -c 10 >/dev/null; exit 7'"])
def test_input_may_be_left_unread(fresh: HostSession, body: str) -> None:
    assert fresh.run(body, MIB) == Outcome(7, b"", b"")
    assert fresh.run("cat", b"next") == Outcome(0, b"next", b"")


@pytest.mark.parametrize(
    ("body", "stdout"),
    [
        ("[Console]::In.ReadLine(); [Console]::In.ReadToEnd().Length", b"one\n4\n"),
        ('$input | ForEach-Object { "<$_>" }', b"<one>\n<two\xef\xbf\xbd>\n"),
        ("[Console]::OpenStandardInput().ReadByte(); sh -c cat", b"111\nne\ntwo\xff"),
        ("[Console]::InputEncoding = [Text.Encoding]::Latin1; [Console]::In.ReadToEnd()", b"one\ntwo\xc3\xbf\n"),
    ],
)
def test_pwsh_reads_the_input_of_this_body(fresh: HostSession, body: str, stdout: bytes) -> None:
    for _ in range(2):
        assert fresh.run(body, b"one\ntwo\xff") == Outcome(0, stdout, b"")


def test_formatted_objects_are_whole_and_in_order(machine: Machine, fresh: HostSession, tmp_path: Path) -> None:
    body = "'first'; [pscustomobject]@{ a = 1; b = 'x' }; sh -c 'echo native'; 1..3; 'last'; Write-Host 'host'"
    outcome = fresh.run(body, directory=tmp_path)
    assert outcome == machine.one_shot(body, b"", tmp_path)
    assert outcome.stdout.startswith(b"first\n")
    assert outcome.stdout.endswith(b"\n1 x\n1\n2\n3\nlast\n\n")


def test_what_a_body_leaves_for_the_end_is_written_before_the_reply(fresh: HostSession) -> None:
    body = "$null = Register-EngineEvent PowerShell.Exiting -Action { [Console]::Out.WriteLine('bye') }; exit 4"
    assert fresh.run(body) == Outcome(4, b"bye\n", b"")


def test_copies_of_the_streams_are_given_up_with_them(fresh: HostSession) -> None:
    copies = "[AppContext]::SetData('c', ([Console]::OpenStandardOutput(), [Console]::OpenStandardError()))"
    assert fresh.run(f"{copies}; 'x'") == Outcome(0, b"x\n", b"")  # it would not return if the outputs did not end
    late = "foreach ($copy in [AppContext]::GetData('c')) { $copy.WriteByte(65); $copy.Dispose() }; 'y'"
    assert fresh.run(late) == Outcome(0, b"y\n", b"")


@linux_only
def test_children_inherit_the_three_streams_and_nothing_else(fresh: HostSession) -> None:
    assert fresh.run("ls /proc/self/fd").stdout == b"0\n1\n2\n3\n"  # the last is the folder that ls reads


def test_a_child_that_holds_the_output_does_not_hold_the_reply(fresh: HostSession, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with fresh.started(f"sh -c 'cat {gate} & exit 5'") as request:
        request.feed(b"")
        assert request.code() == 5
        assert fresh.run("'next'") == Outcome(0, b"next\n", b"")
        gate.write_text("late")
        assert request.outputs()[0] == b"late"


def test_the_environment_is_exactly_what_the_request_says(machine: Machine, fresh: HostSession, tmp_path: Path) -> None:
    show = "sh -c 'env -0 | sort -z'"
    before = fresh.run(show, directory=tmp_path)
    assert before == machine.one_shot(show, b"", tmp_path)
    body = "$env:ADDED = 'x'; $env:LANG = 'de_DE'; $env:HOME = $null; $env:PSModulePath = '/nowhere'"
    assert fresh.run(body, environment={"MORE": "a=b\nc"}).code == 0
    assert fresh.run("$env:MORE", environment={"MORE": "a=b\nc"}).stdout == b"a=b\nc\n"
    assert fresh.run(show, directory=tmp_path) == before


def test_the_working_directory_is_that_of_the_request(machine: Machine, fresh: HostSession, tmp_path: Path) -> None:
    show = "$PWD.Path; [Environment]::CurrentDirectory; sh -c pwd"
    folder = tmp_path.resolve()
    assert fresh.run("Set-Location /; [Environment]::CurrentDirectory = '/usr'").code == 0
    assert fresh.run(show, directory=folder).stdout.splitlines() == [os.fsencode(folder)] * 3
    gone = folder / "gone"
    gone.mkdir()
    assert fresh.run("sh -c 'rmdir \"$PWD\"; exit 7'", directory=gone).code == 7
    assert fresh.run(show, directory=folder).stdout.splitlines() == [os.fsencode(folder)] * 3
    before = "Set-Location -; $PWD.Path"
    assert fresh.run(before, directory=folder) == machine.one_shot(before, b"", folder)


CHANGES = """
[Console]::OutputEncoding = [Console]::InputEncoding = [Text.Encoding]::Unicode
[Console]::ForegroundColor = 'Blue'
[Console]::SetIn([IO.StringReader]::new('mine'))
[Console]::SetOut([IO.StringWriter]::new())
[Console]::SetError([IO.StringWriter]::new())
[Console]::add_CancelKeyPress({ param($sender, $key) $key.Cancel = $true })
[CultureInfo]::CurrentCulture = 'de-DE'
[CultureInfo]::DefaultThreadCurrentCulture = 'de-DE'
[CultureInfo]::DefaultThreadCurrentUICulture = 'de-DE'
[Environment]::ExitCode = 4
$PSStyle.OutputRendering = 'PlainText'
$PSStyle.Formatting.Error = "`e[32m"
$PSStyle.FileInfo.Extension['.mine'] = "`e[32m"
[void]$PSStyle.FileInfo.Extension.Remove('.zip')
$PSStyle.Progress.MaxWidth = 50
$Host.PrivateData.ErrorForegroundColor = 'Green'
$global:ErrorActionPreference = 'Stop'
$global:LASTEXITCODE = 9
$global:PSDefaultParameterValues['*:ErrorAction'] = 'Stop'
Set-StrictMode -Version Latest
Update-TypeData -TypeName String -MemberName Mine -MemberType NoteProperty -Value 5
$null = Register-ObjectEvent ([Timers.Timer]::new(1)) Elapsed -Action { }
$null = Start-ThreadJob { Start-Sleep 60 }
Remove-Module *
Remove-Item alias:*, function:* -Force
function global:Write-Host { exit 1 }
function global:Out-Default { 'mine' }
function global:prompt { exit 1 }
"""
SETTINGS = """
[Console]::OutputEncoding.WebName; [Console]::InputEncoding.WebName; [Console]::ForegroundColor
[CultureInfo]::CurrentCulture.Name; [CultureInfo]::DefaultThreadCurrentCulture
[CultureInfo]::DefaultThreadCurrentUICulture; [Environment]::ExitCode
$PSStyle | ConvertTo-Json -Depth 4; $PSStyle.FileInfo.Extension.Keys.Count; $Host.PrivateData | Out-String
$ErrorActionPreference; "$LASTEXITCODE $undefined"; $PSDefaultParameterValues.Count; 'x'.Mine
@(Get-EventSubscriber).Count; @(Get-Job).Count; @(Get-Alias).Count; Get-Command Write-Host, prompt | Out-String
[Console]::In.ReadToEnd(); Write-Host host; Write-Error error; 1.5.ToString()
"""


def test_what_a_body_changed_is_put_back(machine: Machine, fresh: HostSession, tmp_path: Path) -> None:
    before = machine.one_shot(SETTINGS, b"input", tmp_path)
    assert fresh.run(SETTINGS, b"input", directory=tmp_path) == before
    assert fresh.run(CHANGES).ended is False
    assert fresh.run(SETTINGS, b"input", directory=tmp_path) == before


def test_a_changed_encoding_is_that_of_the_text_at_once(fresh: HostSession) -> None:
    change = "[Console]::OutputEncoding = [Text.Encoding]::Unicode"
    assert fresh.run(f"{change}; [Console]::Out.Write('\u00e9'); [Console]::Error.Write('x')") == Outcome(
        0, "\u00e9".encode("utf-16-le"), "x".encode("utf-16-le")
    )
    halves = "[Console]::Out.Write([char]0xd83d); [Console]::Out.Write([char]0xde00)"
    assert fresh.run(halves) == Outcome(0, "\U0001f600".encode(), b"")


@pytest.mark.parametrize("name", ["INT", "QUIT"])
def test_an_interrupt_ends_the_body_and_not_the_session(fresh: HostSession, name: str) -> None:
    first = fresh.run("$PID").stdout
    assert fresh.run(f'sh -c "kill -{name} $PID"; while ($true) {{ }}; exit 42') == Outcome(1, b"", b"")
    assert fresh.run("$PID") == Outcome(0, first, b"")


def test_a_signal_that_ends_pwsh_ends_the_session(fresh: HostSession) -> None:
    outcome = fresh.run('sh -c "kill -TERM $PID"; Start-Sleep 60')
    assert (outcome.code, outcome.ended) == (-signal.SIGTERM, True)


@pytest.mark.parametrize(
    ("request_line", "message"),
    [
        (b"half /a", "the requests ended within 'half /a'"),
        (b"garbage\n", "a request was 'garbage': expected ID FOLDER DIRECTORY without blanks"),
        (b"id /a  /b\n", "a request was 'id /a  /b': expected ID FOLDER DIRECTORY without blanks"),
        (b"id relative /b\n", "a request was 'id relative /b': expected ID FOLDER DIRECTORY without blanks"),
        (b"id /nonexistent /\n", "/nonexistent/body is missing"),
    ],
)
def test_a_broken_request_breaks_the_session_unanswered(machine: Machine, request_line: bytes, message: str) -> None:
    session = HostSession(machine, "fresh")
    session.send(request_line)
    assert session.close() == (70, b"", f"pwsh-session: {message}\n")


@linux_only
def test_a_body_that_takes_the_descriptors_of_the_session_gets_no_second_answer(machine: Machine) -> None:
    session = HostSession(machine, "fresh")
    body = """
    Add-Type -Namespace Libc -Name Calls '[DllImport("libc")] public static extern int dup2(int a, int b);'
    Get-ChildItem /proc/self/fd | Where-Object { [int]$_.Name -gt 2 -and $_.LinkTarget -like 'pipe:*' } |
        ForEach-Object { [void][Libc.Calls]::dup2(1, $_.Name) }
    """
    with session.started(body) as request:
        request.feed(b"")
        assert request.code() is None
        assert b"exited" not in request.outputs()[0]
    assert session.gone() != 0


def test_a_reused_runspace_keeps_what_a_body_left_in_it_and_a_fresh_one_does_not(
    fresh: HostSession, reused: HostSession
) -> None:
    for session, code in ((fresh, 0), (reused, 7)):
        assert session.run("$kept = 7").code == 0
        assert session.run("exit $kept").code == code


def test_the_status_in_a_reused_runspace_owes_nothing_to_earlier_bodies(reused: HostSession) -> None:
    for body, code in (
        ("sh -c 'exit 7'", 7),
        ("[int]'x'", 1),
        ("if (", 1),
        ("$Host.SetShouldExit(6)", 6),
        ("$Host.SetShouldExit(5)", 5),
        ("sh -c 'exit 7'", 7),
        ("# nothing", 0),
        ("exit 3", 3),
        ("throw 'x'", 1),
        ("sh -c 'exit 7' | Out-Null", 7),
        ("Get-Item /nonexistent", 1),
        ("function Out-Default { exit 9 }; 'x'", 0),
        ("'x'", 0),
    ):
        assert reused.run(body).code == code, body


def test_a_reused_runspace_is_in_the_directory_and_environment_of_the_request(
    machine: Machine, reused: HostSession, tmp_path: Path
) -> None:
    body = "$PWD.Path; [Environment]::CurrentDirectory; $env:PSModulePath; $env:MORE; Get-Date | Out-Null"
    expected = machine.one_shot(body, b"", tmp_path).stdout
    assert reused.run("Set-Location /; $env:MORE = 'x'; $env:PSModulePath = 'x'").code == 0
    assert reused.run(body, directory=tmp_path).stdout == expected
    home = tmp_path / "home"
    home.mkdir()
    moved = reused.run("$env:PSModulePath", environment={"HOME": str(home)}).stdout
    assert moved.startswith(os.fsencode(home))


@pytest.mark.parametrize(
    ("mode", "body"),
    [
        ("fresh", "$bytes = [byte[]]::new(600MB); [Array]::Fill($bytes, [byte] 1)"),
        ("reused", "[runspace]::DefaultRunspace.CloseAsync()"),
    ],
    ids=["grown", "without a runspace"],
)
def test_a_session_of_no_further_use_says_that_this_was_the_last_body(machine: Machine, mode: str, body: str) -> None:
    session = HostSession(machine, mode)
    with session.started(body) as request:
        request.feed(b"")
        # The closing may or may not come in time to stop the body.
        assert session.reply() in [f"{request.id} exited {code} last" for code in (0, 1)]
    assert session.close() == (0, b"", "")
