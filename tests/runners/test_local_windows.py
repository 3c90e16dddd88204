"""What the local runner does in its own way on Windows: names without quotes, bodies, and what stays private."""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath

import pytest

from conformance import witness
from conformance.errors import HarnessError, InexpressibleError
from conformance.runners import local_windows
from conformance.runners.local_windows import Natives, child_environment, path_pattern, plain_path

MACHINE = {"SYSTEMROOT": r"C:\Windows", "COMSPEC": r"C:\Windows\System32\cmd.exe", "PATHEXT": ".EXE;.CMD"}
RECORD = PurePosixPath("C:/T/x/witness-1")


@pytest.fixture
def natives(monkeypatch: pytest.MonkeyPatch) -> Natives:
    monkeypatch.setattr(sys, "_base_executable", r"C:\Py\python.exe", raising=False)
    monkeypatch.setattr(local_windows, "short_path", lambda path: r"C:\PROGRA~1\witness.py")
    monkeypatch.setattr(witness, "__file__", "/Program Files/witness.py")
    return Natives(Path("unused"))


@pytest.mark.parametrize(
    ("dialect", "body", "rendered"),
    [
        (
            "pwsh",
            "{{native:7}}",
            "C:/Py/python.exe -I -S C:/PROGRA~1/witness.py C:/T/x/witness-1 exit 7",
        ),
        (
            "sh",
            "{{witness}} read 5 | cat",
            "C:/Py/python.exe -I -S C:/PROGRA~1/witness.py C:/T/x/witness-1 read 5 | cat",
        ),
        (
            "cmd",
            "{{native:7}}& if /i a==b exit /b 7",
            r"C:\Py\python.exe -I -S C:\PROGRA~1\witness.py C:\T\x\witness-1 exit 7& if /i a==b exit /b 7",
        ),
        ("cmd", "{{mark}}& exit 7", r"echo mark>>C:\T\x\witness-1& exit 7"),
        ("sh", "{{mark}}", "printf 'mark\\n' >>C:/T/x/witness-1"),
        ("powershell5", "{{mark}}", "[IO.File]::AppendAllText('C:/T/x/witness-1', \"mark`n\")"),
    ],
)
def test_natives_are_the_witness_with_the_slashes_of_the_dialect(
    dialect: str, body: str, rendered: str, natives: Natives
) -> None:
    assert natives.body(body, dialect, Path(RECORD)) == rendered


@pytest.mark.parametrize("body", ["{{witness}} signal KILL", "true\n{{witness}} write 5 ignore TERM sleep 60"])
def test_a_body_that_asks_for_a_signal_cannot_be_expressed(body: str, natives: Natives) -> None:
    with pytest.raises(InexpressibleError, match="Windows has no signals"):
        natives.body(body, "sh", Path(RECORD))


@pytest.mark.parametrize("body", ["{{witness}} read\necho a signal", "{{witness}} read; ignore", "kill -KILL $$"])
def test_other_mentions_of_signals_are_left_alone(body: str, natives: Natives) -> None:
    assert natives.body(body, "sh", Path(RECORD))


@pytest.mark.parametrize("name", [r"C:\Py\python.exe", r"D:\a\b-c_d.e\RUNNER~1", "/usr/bin/python3"])
def test_a_plain_path_stays(name: str) -> None:
    assert plain_path(Path(name), "", lambda path: pytest.fail("it needs no other name")) == name


@pytest.mark.parametrize(
    "name", ["C:\\Program Files\\x", "C:\\a(x86)", "C:\\Users\\J\N{LATIN SMALL LETTER O WITH ACUTE}"]
)
def test_a_path_that_needs_quotes_gets_its_short_name_or_is_refused(name: str) -> None:
    assert plain_path(Path(name), "", lambda path: r"C:\SHORT~1") == r"C:\SHORT~1"
    with pytest.raises(HarnessError, match=r"cannot stand in the text of a hook without quotes: move it\."):
        plain_path(Path(name), "move it", lambda path: path)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"C:\Users\Jane Doe\x", r"~\x"),
        (r"c:\users\jane doe", "~"),
        ("C:/Users/Jane Doe/bin;C:/Windows", "~/bin;C:/Windows"),
        ("/c/Users/Jane Doe/x", "~/x"),
        ("file:///C:/Users/Jane Doe/x", "file:///~/x"),
        (r"printed 'C:\\Users\\Jane Doe\\x'.", r"printed '~\\x'."),
        (r"It lies in C:\Users\Jane Doe.", "It lies in ~."),
        (r"C:\Users\Jane Doe-not\x", r"C:\Users\Jane Doe-not\x"),
        (r"C:\Users\Jane Doe.old\x", r"C:\Users\Jane Doe.old\x"),
        (r"D:\Users\Jane Doe\x", r"D:\Users\Jane Doe\x"),
    ],
)
def test_a_home_is_found_in_any_spelling(text: str, shown: str) -> None:
    assert re.sub(path_pattern(r"C:\Users\Jane Doe"), "~", text) == shown


def test_a_home_on_a_share_is_found() -> None:
    assert re.sub(path_pattern(r"\\server\homes\jane"), "~", r"\\SERVER\homes\jane\x") == r"~\x"


def test_the_environment_of_children_is_small_and_tells_nothing_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    unwanted = {"TERM": "xterm", "NO_COLOR": "1", "USERNAME": "jane", "PSMODULEPATH": "x", "HOMEPATH": r"\Users\jane"}
    for name, value in {**MACHINE, **unwanted}.items():
        monkeypatch.setenv(name, value)
    environment = child_environment(Path("place/home"), Path("case/tmp"))
    assert not unwanted.keys() & environment.keys()
    assert {name: environment[name] for name in MACHINE} == MACHINE
    assert {environment[name] for name in ("HOME", "USERPROFILE")} == {str(Path("place/home"))}
    assert {environment[name] for name in ("TEMP", "TMP")} == {str(Path("case/tmp"))}
    assert environment["LOCALAPPDATA"] == str(Path("place/home/AppData/Local"))
