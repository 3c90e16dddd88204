"""Every broken file gives one message: `file:line`, what was expected and what to do; exit code 2, and no traceback."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished, call_cli, run_cli

import conformance
from conformance.catalog import load_catalog
from conformance.errors import CatalogError

ROUTE = """\
# Somebody's own launcher.
[[route]]
id = "mine"
kind = "one-shot"
dialects = ["sh"]
argv = ["{{bash}}", "-c", "{{body}}"]
source = "https://example.org/mine"
"""
SESSION = """\
# Somebody's own session.
[[route]]
id = "mine"
kind = "session"
dialects = ["sh"]
argv = ["{{bash}}"]
source = "https://example.org/mine"
"""
MARKER_SESSION = (
    SESSION.replace('"session"', '"marker-session"')
    + r"""dialogue.request = "{{body}}\necho {{nonce}}:$?\n"
dialogue.end = "{{nonce}}:(?P<code>[0-9]+)\n"
"""
)
DEVIATION = """
[[deviation]]
routes = ["mine"]
fixtures = ["exit-codes/exit-7"]
observed.exit = 1
reason = "The launcher only knows 0 and 1"
url = "https://example.org/mine"
"""
AGREEMENT = """
[[agreement]]
routes = ["mine", "bash-command"]
fixtures = ["exit-codes/*"]
reason = "Both hand the text to bash"
url = "https://example.org/mine"
"""
FIXTURE = """\
# A topic.
[[fixture]]
id = "seven"
summary = "It ends with 7"
source = "https://example.org/seven"
body.sh = '''
{{mark}}
exit 7'''

[[fixture.expect]]
exit = 7
reason = "exit ends the shell with the number it is given"
"""
STEPS = """\
# A topic.
[[fixture]]
id = "twice"
summary = "It ends with 7, and again"
source = "https://example.org/twice"

[[fixture.step]]
body.sh = "{{native:7}}"
[[fixture.step.expect]]
exit = 7
reason = "the native failed"

[[fixture.step]]
body.sh = "{{mark}}"
times = 3
[[fixture.step.expect]]
exit = 0
reason = "nothing failed"
"""
INLINE = """

fixture = [
  { id = "a", summary = "s", source = "https://x", body.sh = "{{mark}}", expect = [{ exit = 0, reason = "r" }] },
  { id = "b", summary = "s", source = "https://x", body.sh = "{{mark}}", expect = [{ exit = 0 }] },
]
"""
MATRIX = 'fixtures = ["topic/*"]\n' + ROUTE


def edited(text: str, old: str, new: str) -> str:
    """Return `text` with `old`, which must be in it once, replaced by `new`."""
    assert text.count(old) == 1, (old, text)
    return text.replace(old, new)


def one_message(finished: Finished) -> str:
    """Return the only message of a command that refused to work, and check its form."""
    assert finished.code == 2, finished
    assert finished.out == ""
    assert "Traceback" not in finished.err
    assert finished.err.startswith("conformance: ")
    assert finished.err.count("\n") == 1
    return finished.err.removeprefix("conformance: ").rstrip("\n")


def run_route(path: Path) -> str:
    return one_message(call_cli("run", "--route", path, "--report", path.with_suffix(".jsonl")))


def assert_says(message: str, place: str, parts: tuple[str, ...]) -> None:
    assert message.startswith(f"{place}: "), message
    for part in parts:
        assert part in message


# What is wrong with a route file: name -> (its text, the line of the table, parts of the message).
BAD_ROUTE_FILES: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "header not closed": ("\n[[route]\nid = 1\n", 2, ("not valid TOML", "Mend this line")),
    "value missing": ("\n\nid = \n", 3, ("not valid TOML", "https://toml.io")),
    "string not closed": ('a = 1\nb = "x\nc = 2\n', 2, ("not valid TOML",)),
    "text not closed at the end": ('a = 1\n\nb = """x\n', 4, ("not valid TOML",)),
    "array not closed at the end": ("a = 1\nb = [1,", 2, ("not valid TOML",)),
    "key twice": ("[x]\na = 1\na = 2\n", 3, ("not valid TOML",)),
    "table twice": ("[x]\n\n[x]\n", 3, ("not valid TOML",)),
    "control character": ('a = "\x01"\n', 1, ("not valid TOML",)),
    "lone carriage return": ("a = 1\rb = 2\n", 1, ("not valid TOML",)),
    "nested too deeply": (f"a = {'[' * 5000}\n", 1, ("nested too deeply", "Cut it down")),
    "number too long": (f"a = {'9' * 5000}\n", 1, ("number is too long", "Cut it down")),
    "nothing but prose": ("this is no TOML\n", 1, ("not valid TOML",)),
    "unknown key": (
        edited(ROUTE, "dialects", "dialect"),
        2,
        ("unknown key 'dialect' in [[route]]", "did you mean 'dialects'?", "The keys here are"),
    ),
    "unknown key at the top": ("\n[[routes]]\n", 2, ("unknown key 'routes' in the file", "did you mean 'route'?")),
    "key missing": (
        edited(ROUTE, 'source = "https://example.org/mine"', ""),
        2,
        ("[[route]] lacks the key 'source'", "Add it"),
    ),
    "type of the id": (edited(ROUTE, '"mine"', "7"), 2, ("'id' is 7", "lower-case letters")),
    "id with a capital": (edited(ROUTE, '"mine"', '"Mine"'), 2, ("'id' is 'Mine'", "lower-case letters")),
    "id with a line break": (edited(ROUTE, '"mine"', '"mine\\n"'), 2, ("'id' is 'mine\\n'", "lower-case letters")),
    "unknown kind": (edited(ROUTE, "one-shot", "one-shoot"), 2, ("'kind' is 'one-shoot'", '"one-shot"')),
    "unknown dialect": (edited(ROUTE, '["sh"]', '["zsh"]'), 2, ("'dialects[0]' is 'zsh'", "a dialect: sh, bash, pwsh")),
    "argv no list": (
        edited(ROUTE, '["{{bash}}", "-c", "{{body}}"]', '"{{body}}"'),
        2,
        ("'argv' is '{{body}}'", "an array with a program"),
    ),
    "argv empty": (
        edited(ROUTE, '["{{bash}}", "-c", "{{body}}"]', "[]"),
        2,
        ("'argv' is []", "an array with a program"),
    ),
    "number in argv": (edited(ROUTE, '"-c"', "3"), 2, ("'argv[1]' is 3", "a text without NUL")),
    "NUL in argv": (edited(ROUTE, '"-c"', '"\\u0000"'), 2, ("'argv[1]' is '\\x00'", "a text without NUL")),
    "source no address": (
        edited(ROUTE, "https://example.org/mine", "mine"),
        2,
        ("'source' is 'mine'", "an http or https address"),
    ),
    "former id with a slash": (ROUTE + 'aliases = ["a/b"]\n', 2, ("'aliases[0]' is 'a/b'", "a former id")),
    "former id of nothing": (ROUTE + "aliases = []\n", 2, ("'aliases' is []", "a list of the route's former ids")),
    "former id that is its own": (
        ROUTE + 'aliases = ["mine"]\n',
        2,
        ("the former id 'mine' is an id at", ":2 already", "take it out"),
    ),
    "former id of two": (
        ROUTE + 'aliases = ["old"]\n' + edited(ROUTE, '"mine"', '"other"') + 'aliases = ["old"]\n',
        10,
        ("the former id 'old' is an id at", ":2 already", "take it out"),
    ),
    "former id in a deviation": (
        ROUTE + 'aliases = ["old"]\n' + edited(DEVIATION, '"mine"', '"old"'),
        10,
        ("'routes': 'old' was renamed", "Write 'mine'"),
    ),
    "judged by nobody": (ROUTE + 'judged_by = "last"\n', 2, ("'judged_by' is 'last'", "last-statement or last-native")),
    "unknown template": (
        edited(ROUTE, '"-c"', '"{{bdy}}"'),
        2,
        ("argv[1]", "unknown template {{bdy}}", "the names here are bash, body, body_file"),
    ),
    "unknown filter": (
        edited(ROUTE, "{{body}}", "{{body|quote}}"),
        2,
        ("argv[2]", "unknown filter |quote", "the filters are base64"),
    ),
    "malformed template": (edited(ROUTE, "{{body}}", "{{body|}}"), 2, ("argv[2]", "{{body|}}", "write {{name}}")),
    "argument for body": (edited(ROUTE, "{{body}}", "{{body:x}}"), 2, ("argv[2]", "{{body}} takes no argument")),
    "no body": (
        edited(ROUTE, "{{body}}", "exit 7"),
        2,
        ("'mine'", "no {{body}} and no {{body_file}}", "Put one of them"),
    ),
    "unknown shell required": (
        '\nrequired = ["bash", "zsh"]\n' + ROUTE,
        2,
        ("unknown shell 'zsh' in 'required'", "The shells are"),
    ),
    "template in a file": (ROUTE + 'files.w = "{{bdy}}"\n', 2, ("files.w", "unknown template {{bdy}}")),
    "template in what is fed": (
        ROUTE.replace('"{{body}}"', '"-s"') + 'stdin = "{{bdy}}"\n',
        2,
        ("stdin: unknown template {{bdy}}", "the names here are bash, body"),
    ),
    "nothing fed": (ROUTE + 'stdin = ""\n', 2, ("'stdin' is ''", "a text is expected")),
    "session with a body in argv": (
        edited(SESSION, '"]\nsource', '", "{{body}}"]\nsource'),
        2,
        ("argv[1]: unknown template {{body}}", "the names here are bash, cmd, compiled"),
    ),
    "session with a body in a file": (
        edited(SESSION, '"]\nsource', '", "{{file:x}}"]\nsource') + 'files.x = "{{body}}"\n',
        2,
        ("files.x: unknown template {{body}}",),
    ),
    "session that is fed": (SESSION + 'stdin = "x"\n', 2, ("stdin is for routes of kind 'one-shot'", "Take it out")),
    "session with a dialogue": (
        edited(MARKER_SESSION, "marker-", ""),
        2,
        ("dialogue is for routes of kind 'marker-session', and this one is 'session'", "Take it out"),
    ),
    "unknown state": (SESSION + 'state = "new"\n', 2, ("'state' is 'new'", '"fresh" or "kept" is expected')),
    "one-shot with a state": (
        ROUTE + 'state = "fresh"\n',
        2,
        ("state is for routes of kind 'session', and this one is 'one-shot'", "Take it out"),
    ),
    "marker session with a state": (MARKER_SESSION + 'state = "kept"\n', 2, ("state is for routes of kind 'session'",)),
    "marker session without a dialogue": (
        edited(SESSION, '"session"', '"marker-session"'),
        2,
        ("a route of kind 'marker-session' lacks the key 'dialogue'", "Add it"),
    ),
    "dialogue without an end": (
        MARKER_SESSION.partition("dialogue.end")[0],
        2,
        ("'dialogue' lacks the key 'end'", "Add it"),
    ),
    "unknown key of a dialogue": (
        edited(MARKER_SESSION, "dialogue.end", "dialogue.ends"),
        2,
        ("unknown key 'ends' in 'dialogue' (did you mean 'end'?)", "The keys here are begin, end, request"),
    ),
    "unfinished line that is neither": (
        MARKER_SESSION + 'dialogue.unfinished_line = "cut"\n',
        2,
        ("'dialogue.unfinished_line' is 'cut'", '"kept" or "lost" is expected'),
    ),
    "request without a body": (
        edited(MARKER_SESSION, "{{body}}", "true"),
        2,
        ("dialogue.request has no {{body}}", "Put it where"),
    ),
    "request with a shell": (
        edited(MARKER_SESSION, "{{body}}", "{{bash}} {{body}}"),
        2,
        ("dialogue.request: unknown template {{bash}}", "the names here are body, nonce"),
    ),
    "body in an end": (
        edited(MARKER_SESSION, '"{{nonce}}:(', '"{{body}}:('),
        2,
        ("dialogue.end: unknown template {{body}}", "the names here are nonce"),
    ),
    "end that is no expression": (
        edited(MARKER_SESSION, "[0-9]+)", "[0-9]+"),
        2,
        ("dialogue.end is no regular expression", "Mend it"),
    ),
    "end without a code": (
        edited(MARKER_SESSION, "?P<code>", ""),
        2,
        ("dialogue.end has no group (?P<code>...)", "Put it around the exit code"),
    ),
    "end that is nothing": (
        edited(MARKER_SESSION, '"{{nonce}}:(?P<code>[0-9]+)\\n"', '"(?P<code>[0-9]*)"'),
        2,
        ("dialogue.end matches no text at all", "Put what the shell prints there"),
    ),
    "end whose code has no end": (
        edited(MARKER_SESSION, '[0-9]+)\\n"', '[0-9]+)"'),
        2,
        ("dialogue.end ends with the code", "Put behind it what ends it"),
    ),
    "host that nobody compiles": (
        edited(SESSION, '"]\nsource', '", "{{compiled:x}}"]\nsource') + 'files.x = "class A;"\n',
        2,
        ("{{compiled:NAME}} is compiled by the pwsh of argv", "Put {{pwsh}} first there"),
    ),
    "host without a file": (
        edited(SESSION, '"]\nsource', '", "{{compiled:x}}"]\nsource'),
        2,
        ("{{compiled:x}} names no file of the route", "Add files.x"),
    ),
    "host without a name": (
        edited(SESSION, '"]\nsource', '", "{{compiled}}"]\nsource'),
        2,
        ("argv[1]: {{compiled}} needs the name of a file", "write {{compiled:NAME}}"),
    ),
    "host of a one-shot": (
        edited(ROUTE, '"-c"', '"{{compiled:x}}"') + 'files.x = "class A;"\n',
        2,
        ("argv[1]: unknown template {{compiled:x}}",),
    ),
    "start that failed otherwise": (
        ROUTE + edited(DEVIATION, "exit = 1", 'failed_to_start = "ENOENT"'),
        9,
        ("'observed.failed_to_start' is 'ENOENT'", '"E2BIG" is expected'),
    ),
    "file not used": (ROUTE + 'files.w = "{{body}}"\n', 2, ("files.w is not used", "Write {{file:w}} in argv")),
    "file not there": (edited(ROUTE, '"-c"', '"{{file:w}}"'), 2, ("{{file:w}} names no file", "Add files.w")),
    "file without a name": (edited(ROUTE, '"-c"', '"{{file}}"'), 2, ("argv[1]", "{{file}} needs the name of a file")),
    "file of a file that holds itself": (
        edited(ROUTE, '"-c"', '"{{file:a}}"') + 'files.a = "{{file:b}}"\nfiles.b = "{{file:a}}"\n',
        2,
        ("files.a", "files.b", "holds itself", "Take one out"),
    ),
    "file beside the matrix missing": (
        edited(ROUTE, '"-c"', '"{{file:w}}"') + 'files.w = { path = "nope.sh" }\n',
        2,
        ("files.w", "'nope.sh'", "Mend the path"),
    ),
    "file with NUL in its name": (
        edited(ROUTE, '"-c"', '"{{file:w}}"') + 'files.w = { path = "a\\u0000" }\n',
        2,
        ("files.w", "Mend the path"),
    ),
    "file with a capital": (ROUTE + 'files.W = "x"\n', 2, ("'files' is 'W'", "a name of lower-case letters")),
    "template in a variable": (ROUTE + 'env.HOOK = "{{body}}"\n', 2, ("env.HOOK", "argv and files only")),
    "number as a variable": (ROUTE + "env.LEVEL = 3\n", 2, ("'env.LEVEL' is 3", "a text without NUL")),
    "variable with =": (ROUTE + 'env."A=B" = "1"\n', 2, ("'env' is 'A=B'", "the name of a variable")),
    "route inline, key missing": ('\nroute = [\n  { id = "mine" },\n]\n', 3, ("[[route]] lacks the key 'kind'",)),
    "route no table": ("\n\nroute = 3\n", 3, ("'route' is 3", "an array of [[route]] tables")),
    "fixtures match nothing": (
        '\n\nfixtures = ["exit-codes/*", "exit-code/*"]\n' + ROUTE,
        3,
        ("'fixtures'", "'exit-code/*' matches no fixture", "conformance list fixtures"),
    ),
    "fixtures no texts": ("\nfixtures = [3]\n" + ROUTE, 2, ("'fixtures[0]' is 3", "an id or a glob pattern")),
    "routes match nothing": (
        ROUTE + edited(DEVIATION, '"mine"', '"yours"'),
        9,
        ("'routes'", "'yours' matches no route", "conformance list routes"),
    ),
    "fixtures of a deviation match nothing": (
        ROUTE + edited(DEVIATION, "exit-7", "exit-8"),
        9,
        ("'fixtures'", "'exit-codes/exit-8' matches no fixture"),
    ),
    "except matches nothing": (
        ROUTE + DEVIATION + 'except = ["exit-8"]\n',
        9,
        ("'except'", "'exit-8' matches no fixture", "conformance list fixtures"),
    ),
    "deviation matches no case": (
        ROUTE + DEVIATION + 'except = ["exit-codes/*"]\n',
        9,
        ("matches no case", "Mend its patterns, or delete it"),
    ),
    "deviation without reason": (
        ROUTE + edited(DEVIATION, 'reason = "The launcher only knows 0 and 1"\n', ""),
        9,
        ("[[deviation]] lacks the key 'reason'", "Add it"),
    ),
    "deviation with an empty reason": (
        ROUTE + edited(DEVIATION, "The launcher only knows 0 and 1", " "),
        9,
        ("'reason' is ' '", "a text that is not empty"),
    ),
    "deviation without url": (
        ROUTE + edited(DEVIATION, 'url = "https://example.org/mine"\n', ""),
        9,
        ("[[deviation]] lacks the key 'url'", "Add it"),
    ),
    "routes of an agreement match nothing": (
        ROUTE + edited(AGREEMENT, "bash-command", "bash-comand"),
        9,
        ("'routes'", "'bash-comand' matches no route", "conformance list routes"),
    ),
    "fixtures of an agreement match nothing": (
        ROUTE + edited(AGREEMENT, "exit-codes/*", "exit-code/*"),
        9,
        ("'fixtures'", "'exit-code/*' matches no fixture"),
    ),
    "except of an agreement matches nothing": (
        ROUTE + AGREEMENT + 'except = ["exit-8"]\n',
        9,
        ("'except'", "'exit-8' matches no fixture", "conformance list fixtures"),
    ),
    "agreement of one route": (
        ROUTE + edited(AGREEMENT, ', "bash-command"', ""),
        9,
        ("no two routes of the agreement", "Mend its patterns, or delete it"),
    ),
    "agreement of routes that share no fixture": (
        ROUTE + edited(edited(AGREEMENT, "bash-command", "pwsh-command"), "exit-codes/*", "errors/throw"),
        9,
        ("no two routes of the agreement", "compares nothing"),
    ),
    "agreement on something unknown": (
        ROUTE + AGREEMENT + 'equal = ["bytes"]\n',
        9,
        ("'equal[0]' is 'bytes'", "status, stdout or stderr"),
    ),
    "agreement on nothing": (ROUTE + AGREEMENT + "equal = []\n", 9, ("'equal' is []", "one or more of status")),
    "agreement without reason": (
        ROUTE + edited(AGREEMENT, 'reason = "Both hand the text to bash"\n', ""),
        9,
        ("[[agreement]] lacks the key 'reason'", "Add it"),
    ),
    "unknown fingerprint": (
        ROUTE + 'fingerprint = "last-statment"\n',
        2,
        ("'fingerprint' is 'last-statment'", 'last-native, success-flag, exit-only or "none of these"'),
    ),
    "nothing observed": (
        ROUTE + edited(DEVIATION, "observed.exit = 1", "observed = {}"),
        12,
        ("'observed' is {}", "exit, signal, timed_out, failed_to_start or not_reported"),
    ),
    "code too large": (
        ROUTE + edited(DEVIATION, "exit = 1", "exit = 4294967296"),
        9,
        ("'observed.exit' is 4294967296", "from 0 to 4294967295"),
    ),
    "code with a point": (
        ROUTE + edited(DEVIATION, "exit = 1", "exit = 256.0"),
        9,
        ("'observed.exit' is 256.0", "from 0 to 4294967295"),
    ),
    "code that is a truth value": (
        ROUTE + edited(DEVIATION, "exit = 1", "exit = true"),
        9,
        ("'observed.exit' is True", "an exit code"),
    ),
    "unknown shape": (
        ROUTE + edited(DEVIATION, "exit = 1", 'stdout = "cut"'),
        9,
        ("'observed.stdout' is 'cut'", "final-newline-lost"),
    ),
    "bad hex": (
        ROUTE + edited(DEVIATION, "exit = 1", 'stdout = { hex = "0g" }'),
        9,
        ("hex is not a row of whole bytes", '"00 ff"'),
    ),
    "two statuses": (
        ROUTE + DEVIATION + 'observed.signal = "KILL"\n',
        9,
        ("exit and signal exclude each other", "Keep one"),
    ),
    "unknown signal": (
        ROUTE + edited(DEVIATION, "exit = 1", 'signal = "KIL"'),
        9,
        ("unknown signal 'KIL'", "HUP, INT, QUIT"),
    ),
    "version without an operator": (
        ROUTE + DEVIATION + 'when.version = "7.4"\n',
        9,
        ("'when.version' is '7.4'", '">=7.4"'),
    ),
    "version that is none": (
        ROUTE + DEVIATION + 'when.version = ">=7 or so"\n',
        9,
        ("'>=7 or so'", "no version condition", '">=7.4"'),
    ),
    "unknown condition": (
        ROUTE + DEVIATION + 'when.shel = "bash"\n',
        9,
        ("unknown key 'shel' in 'when'", "did you mean 'shell'?"),
    ),
    "empty condition": (ROUTE + DEVIATION + "when = {}\n", 15, ("'when' is {}", "one or more of os, dialect, shell")),
    "text that looks like a header": (
        ROUTE
        + DEVIATION
        + 'except = [\'\'\'\n[[deviation]]\n\'\'\', """\n[[route]]\n[x]"""""]\n'
        + "when = { os = 'beos' }\n",
        20,
        ("'when.os' is 'beos'", "linux, macos or windows"),
    ),
}


@pytest.mark.parametrize("name", BAD_ROUTE_FILES)
def test_bad_route_file(name: str, tmp_path: Path) -> None:
    text, line, parts = BAD_ROUTE_FILES[name]
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode())
    assert_says(run_route(path), f"{path}:{line}", parts)


@pytest.mark.parametrize("name", ["unknown template", "text that looks like a header", "two statuses", "value missing"])
def test_line_is_right_in_a_file_with_crlf(name: str, tmp_path: Path) -> None:
    text, line, parts = BAD_ROUTE_FILES[name]
    path = tmp_path / "mine.toml"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert_says(run_route(path), f"{path}:{line}", parts)


@pytest.mark.parametrize("route", [ROUTE, SESSION, MARKER_SESSION])
def test_the_route_file_itself_is_good(route: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes((route + DEVIATION + AGREEMENT).replace("\n", "\r\n").encode())
    finished = call_cli("list", "--route", path, "-k", "exit-codes/exit-7/")
    assert (finished.code, finished.out) == (0, "exit-codes/exit-7/mine\n")


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'# one\n# two\nx = "\xff"\n')
    assert_says(run_route(path), f"{path}:3", ("byte 17 of the file is not UTF-8", "Save it as UTF-8", "hex"))


def _missing(path: Path) -> None:
    assert not path.exists()


def _folder(path: Path) -> None:
    path.mkdir()


def _unreadable(path: Path) -> None:
    if os.geteuid() == 0:  # type: ignore[attr-defined, unused-ignore]
        path.symlink_to("/proc/self/mem")  # which even root cannot read from its start
    else:
        path.write_text(ROUTE)
        path.chmod(0)


@pytest.mark.parametrize("make", [_missing, _folder, _unreadable])
def test_unreadable_file(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    make(path)
    assert_says(run_route(path), str(path), ("cannot be read", "Give the name of a readable TOML file"))
    message = one_message(call_cli("run", path))
    assert_says(message, str(path), ("cannot be read", "Give the name of a readable TOML file"))


def test_route_that_is_shipped_already(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(edited(ROUTE, '"mine"', '"sh-command"'))
    assert_says(run_route(path), f"{path}:2", ("'sh-command' stands already at matrices/core.toml:", "Rename one"))


def test_route_that_stands_twice(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(ROUTE + ROUTE)
    assert_says(run_route(path), f"{path}:9", (f"'mine' stands already at {path}:2", "Rename one"))


def test_matrix_that_is_named_twice_is_loaded_once() -> None:
    assert call_cli("list", "cases", "core", "core").out == call_cli("list").out


def test_file_without_a_route(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("# nothing\n")
    assert_says(run_route(path), f"{path}:1", ("holds no [[route]]", "Add one"))


def test_tied_deviations(tmp_path: Path) -> None:
    """Two of them tie only in a case for which both say something: one that documents the contract says nothing."""
    path = tmp_path / "mine.toml"
    path.write_text(ROUTE + DEVIATION + edited(DEVIATION, "exit = 1", "exit = 3"))
    finished = run_cli("run", "--route", path, "-k", "exit-codes/exit-7/", "--report", tmp_path / "report.jsonl")
    assert finished.code == 2
    assert "Traceback" not in finished.err
    message = finished.err.splitlines()[-1].removeprefix("conformance: ")
    assert_says(message, f"{path}:9", (f"ties with {path}:16", "Add a key to the `when`"))


# What is wrong with a fixture file: name -> (its text, the line of the table, parts of the message).
BAD_FIXTURE_FILES: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "no fixture": ("# nothing\n", 1, ("the file lacks the key 'fixture'", "Add it")),
    "unknown key": (
        edited(FIXTURE, "summary", "sumary"),
        2,
        ("unknown key 'sumary' in [[fixture]]", "did you mean 'summary'?"),
    ),
    "summary missing": (
        edited(FIXTURE, 'summary = "It ends with 7"\n', ""),
        2,
        ("[[fixture]] lacks the key 'summary'", "Add it"),
    ),
    "source missing": (
        edited(FIXTURE, 'source = "https://example.org/seven"\n', ""),
        2,
        ("[[fixture]] lacks the key 'source'", "Add it"),
    ),
    "reason missing": (
        edited(FIXTURE, 'reason = "exit ends the shell with the number it is given"\n', ""),
        10,
        ("[[fixture.expect]] lacks the key 'reason'", "Add it"),
    ),
    "expect missing": (FIXTURE.partition("[[fixture.expect]]")[0], 2, ("[[fixture]] lacks the key 'expect'", "Add it")),
    "unknown key of an expectation": (
        FIXTURE + "exits = 3\n",
        10,
        ("unknown key 'exits' in [[fixture.expect]]", "did you mean 'exit'?"),
    ),
    "no status": (
        edited(FIXTURE, "exit = 7\n", ""),
        10,
        ("[[fixture.expect]] is", "exactly one of exit, signal and timed_out"),
    ),
    "two statuses": (
        FIXTURE + "timed_out = true\n",
        10,
        ("[[fixture.expect]] is", "exactly one of exit, signal and timed_out"),
    ),
    "timed_out = false": (
        edited(FIXTURE, "exit = 7\n", "timed_out = false\n"),
        10,
        ("'timed_out' is False", "but true is expected"),
    ),
    "unknown signal": (
        edited(FIXTURE, "exit = 7\n", 'signal = "USR1"\n'),
        10,
        ("unknown signal 'USR1'", "The signals are HUP"),
    ),
    "unknown dialect": (edited(FIXTURE, "body.sh", "body.zsh"), 2, ("'body' is 'zsh'", "a dialect: sh, bash, pwsh")),
    "body no text": (
        edited(FIXTURE, "body.sh = '''\n{{mark}}\nexit 7'''", "body.sh = 7"),
        2,
        ("'body.sh' is 7", "a text"),
    ),
    "unknown template": (
        edited(FIXTURE, "{{mark}}", "{{marc}}"),
        2,
        ("body.sh", "unknown template {{marc}}", "the names here are filler, mark, native, witness"),
    ),
    "template of a route": (
        edited(FIXTURE, "{{mark}}", "{{body}}"),
        2,
        ("unknown template {{body}}", "the names here are filler, mark"),
    ),
    "unknown filter": (edited(FIXTURE, "{{mark}}", "{{mark|quote}}"), 2, ("unknown filter |quote", "the filters are")),
    "malformed template": (edited(FIXTURE, "{{mark}}", "{{mark:a|}}"), 2, ("{{mark:a|}}", "write {{name}}")),
    "native without a code": (edited(FIXTURE, "{{mark}}", "{{native}}"), 2, ("needs an exit code from 0 to 255",)),
    "native with a code too large": (edited(FIXTURE, "{{mark}}", "{{native:256}}"), 2, ("{{native:256}}", "0 to 255")),
    "mark with an argument": (edited(FIXTURE, "{{mark}}", "{{mark:7}}"), 2, ("{{mark}} takes no argument",)),
    "no mark": (
        edited(FIXTURE, "{{mark}}\n", ""),
        2,
        ("body.sh leaves no mark", "Add {{mark}}", 'started = "unprovable: why"'),
    ),
    "filler alone": (edited(FIXTURE, "{{mark}}", "# {{filler:9}}"), 2, ("body.sh leaves no mark",)),
    "filler without a number": (
        edited(FIXTURE, "{{mark}}", "{{mark}} # {{filler}}"),
        2,
        ("needs a number of characters",),
    ),
    "stream wired to nothing": (
        edited(FIXTURE, "body.sh", 'wiring = { stdout = "gone" }\nbody.sh'),
        6,
        ("'wiring.stdout' is 'gone'", '"closed" or "full"'),
    ),
    "input for a closed stdin": (
        edited(FIXTURE, "body.sh", 'stdin = "x"\nwiring = { stdin = "closed" }\nbody.sh'),
        2,
        ("nothing can be sent on a closed stdin", "Take out stdin"),
    ),
    "report without an address": (
        edited(FIXTURE, "body.sh", 'reports = ["#7"]\nbody.sh'),
        2,
        ("'reports[0]' is '#7'", "http or https"),
    ),
    "unprovable without why": (
        edited(FIXTURE, "body.sh", 'started = "unprovable: "\nbody.sh'),
        2,
        ("'started' is", "unprovable: why"),
    ),
    "deadline of nothing": (
        edited(FIXTURE, "body.sh", "deadline = 0\nbody.sh"),
        2,
        ("'deadline' is 0", "a number of seconds"),
    ),
    "deadline of infinity": (
        edited(FIXTURE, "body.sh", "deadline = inf\nbody.sh"),
        2,
        ("'deadline' is inf", "a number of seconds"),
    ),
    "deadline that is no number": (
        edited(FIXTURE, "body.sh", "deadline = nan\nbody.sh"),
        2,
        ("'deadline' is nan", "a number of seconds"),
    ),
    "bad hex": (
        edited(FIXTURE, "body.sh", 'stdin = { hex = "0" }\nbody.sh'),
        2,
        ("stdin is not a payload", "Write whole bytes"),
    ),
    "bad base64": (
        edited(FIXTURE, "body.sh", 'stdin = { base64 = "A" }\nbody.sh'),
        2,
        ("stdin is not a payload", "Write whole bytes"),
    ),
    "base64 that is not ASCII": (
        edited(FIXTURE, "body.sh", 'stdin = { base64 = "é" }\nbody.sh'),
        2,
        ("stdin is not a payload",),
    ),
    "bad hex on stdout": (FIXTURE + 'stdout = { hex = "zz" }\n', 10, ("stdout is not a payload", "Write whole bytes")),
    "unknown stream": (
        edited(FIXTURE, "body.sh", 'stdin = { stream = "in", bytes = 1 }\nbody.sh'),
        6,
        ("'stdin' is", "a payload"),
    ),
    "half a byte": (
        edited(FIXTURE, "body.sh", 'stdin = { stream = "stdin", bytes = 0.5 }\nbody.sh'),
        6,
        ("'stdin' is", "a payload"),
    ),
    "nothing repeated": (
        edited(FIXTURE, "body.sh", 'stdin = { repeat = "", bytes = 9 }\nbody.sh'),
        6,
        ("'stdin' is", "a payload"),
    ),
    "anything but not": (FIXTURE + "stdout = { any = false }\n", 13, ("'stdout' is", "a payload, or { any = true }")),
    "more received than sent": (FIXTURE + "received = 1\n", 10, ("received = 1", "the 0 bytes of stdin", "Lower it")),
    "seen nowhere": (FIXTURE + 'seen = ["bash 5.2"]\n', 10, ("'seen[0]' is 'bash 5.2'", "pwsh 7.6.9 linux")),
    "body beside steps": (
        edited(STEPS, "summary", 'body.sh = "{{mark}}"\nsummary'),
        2,
        ("there are [[fixture.step]] beside body", "Put everything that belongs to a step into it"),
    ),
    "input and expectation beside steps": (
        edited(STEPS, "summary", 'stdin = "x"\nsummary') + '[[fixture.expect]]\nexit = 0\nreason = "r"\n',
        2,
        ("there are [[fixture.step]] beside expect, stdin",),
    ),
    "no steps": (FIXTURE.partition("body.sh")[0] + "step = []\n", 2, ("'step' is []", "one or more [[fixture.step]]")),
    "step without a body": (
        edited(STEPS, 'body.sh = "{{mark}}"\n', ""),
        13,
        ("[[fixture.step]] lacks the key 'body'", "Add it"),
    ),
    "step without an expectation": (
        STEPS.rpartition("[[fixture.step.expect]]")[0],
        13,
        ("[[fixture.step]] lacks the key 'expect'", "Add it"),
    ),
    "unknown key of a step": (
        edited(STEPS, "times", "time"),
        13,
        ("unknown key 'time' in [[fixture.step]] (did you mean 'times'?)",),
    ),
    "wiring of a step": (
        edited(STEPS, "times = 3", 'wiring.stdout = "closed"'),
        13,
        ("unknown key 'wiring' in [[fixture.step]]", "The keys here are body, expect, stdin, times"),
    ),
    "times of a fixture": (
        edited(FIXTURE, "summary", "times = 3\nsummary"),
        2,
        ("unknown key 'times' in [[fixture]]",),
    ),
    "once": (edited(STEPS, "times = 3", "times = 1"), 13, ("'times' is 1", "a number from 2 to 100000")),
    "too often": (edited(STEPS, "times = 3", "times = 100001"), 13, ("'times' is 100001", "from 2 to 100000")),
    "half a time": (edited(STEPS, "times = 3", "times = 3.0"), 13, ("'times' is 3.0", "from 2 to 100000")),
    "step without a mark": (
        edited(STEPS, "{{mark}}", "true"),
        13,
        ("body.sh leaves no mark", "Add {{mark}}", 'started = "unprovable: why"'),
    ),
    "unknown template in a step": (
        edited(STEPS, "{{mark}}", "{{marc}}"),
        13,
        ("body.sh: unknown template {{marc}}", "the names here are filler, mark"),
    ),
    "steps without a common dialect": (
        edited(STEPS, 'body.sh = "{{mark}}"', 'body.pwsh = "{{mark}}"'),
        2,
        ("no dialect has a body in every step", "Write the bodies that lack"),
    ),
    "more received than sent in a step": (STEPS + "received = 1\n", 16, ("received = 1", "the 0 bytes of stdin")),
    "expectations of a step tied": (
        STEPS + '[[fixture.step.expect]]\nexit = 3\nreason = "also"\n',
        16,
        ("ties with fixtures/topic.toml:19", "Add a key to the `when`"),
    ),
    "dialect not covered": (
        edited(FIXTURE, "body.sh", "body.pwsh = '{{mark}}'\nbody.sh") + 'when = { dialect = "sh" }\n',
        2,
        ("no expectation covers dialect pwsh", "Add an [[fixture.expect]] without `when`"),
    ),
    "version not known": (
        FIXTURE + 'when.version = ">=5"\n[[fixture.expect]]\nexit = 3\nreason = "old"\nwhen.version = "<5"\n',
        2,
        ("no expectation covers dialect sh", "unknown", "Add an [[fixture.expect]] without `when`"),
    ),
    "expectations tied": (
        FIXTURE + '\n[[fixture.expect]]\nexit = 3\nreason = "also"\n',
        10,
        ("ties with fixtures/topic.toml:14", "Add a key to the `when`"),
    ),
    "expectations tied between two versions": (
        FIXTURE
        + 'when.version = ">5.1"\n[[fixture.expect]]\nexit = 3\nreason = "r"\nwhen.version = "<5.3"\n'
        + '[[fixture.expect]]\nexit = 4\nreason = "r"\n',
        10,
        ("ties with fixtures/topic.toml:14",),
    ),
    "id twice": (
        FIXTURE + FIXTURE,
        14,
        ("'topic/seven' stands already at fixtures/topic.toml:2", "rename the new one"),
    ),
    "former id that is another's": (
        edited(FIXTURE, "summary", 'aliases = ["topic/eight"]\nsummary') + edited(FIXTURE, '"seven"', '"eight"'),
        2,
        ("the former id 'topic/eight' is an id at fixtures/topic.toml:15 already", "Ids are permanent and unique"),
    ),
    "former id of two": (
        edited(FIXTURE, "summary", 'aliases = ["a/b"]\nsummary')
        + edited(edited(FIXTURE, '"seven"', '"eight"'), "summary", 'aliases = ["c/d", "a/b"]\nsummary'),
        15,
        ("the former id 'a/b' is an id at fixtures/topic.toml:2 already", "take it out"),
    ),
    "former id without a topic": (
        edited(FIXTURE, "summary", 'aliases = ["six"]\nsummary'),
        2,
        ("'aliases[0]' is 'six'", "with its topic"),
    ),
    "id with a slash": (edited(FIXTURE, '"seven"', '"a/b"'), 2, ("'id' is 'a/b'", "lower-case letters")),
    "inline": (
        INLINE,
        5,
        ("[[fixture.expect]] lacks the key 'reason'",),
    ),
}


@pytest.mark.parametrize("name", BAD_FIXTURE_FILES)
def test_bad_fixture_file(name: str, tmp_path: Path) -> None:
    text, line, parts = BAD_FIXTURE_FILES[name]
    folder = tmp_path / "fixtures"
    folder.mkdir()
    (folder / "topic.toml").write_bytes(text.encode())
    with pytest.raises(CatalogError) as caught:
        load_catalog([], fixture_folder=folder)
    assert_says(str(caught.value), f"fixtures/topic.toml:{line}", parts)
    assert "\n" not in str(caught.value)


def test_fixture_file_with_a_name_that_is_no_part_of_an_id(tmp_path: Path) -> None:
    (tmp_path / "My Topic.toml").write_text(FIXTURE)
    with pytest.raises(CatalogError, match=r"My Topic\.toml:1: .* lower-case letters.* Rename the file"):
        load_catalog([], fixture_folder=tmp_path)


def test_id_in_two_topics_is_no_duplicate(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(FIXTURE)
    (tmp_path / "b.toml").write_text(FIXTURE)
    assert [fixture.id for fixture in load_catalog([], fixture_folder=tmp_path).fixtures] == ["a/seven", "b/seven"]


def test_broken_fixture_file_ends_the_command(tmp_path: Path) -> None:
    """The whole way, in a copy of the project: fixtures have no option of their own."""
    package = Path(conformance.__file__).parent
    shutil.copytree(package, tmp_path / "conformance", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in (("fixtures/topic.toml", edited(FIXTURE, "exit = 7\n", "")), ("matrices/core.toml", MATRIX)):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text)
    for command in (("run", "-k", "seven"), ("list",), ("show", "topic/seven")):
        message = one_message(run_cli(*command, cwd=tmp_path))
        assert_says(message, "fixtures/topic.toml:10", ("exactly one of exit, signal and timed_out",))


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (("run", "--route", "bsh-command"), 2, ("unknown route 'bsh-command'", "bash-command", ".toml")),
        (("run", "cor"), 2, ("unknown matrix 'cor'", "core", ".toml")),
        (("list", "cases", "cor"), 2, ("unknown matrix 'cor'", "core", ".toml")),
        (("run", "-k", "exit-code/*"), 4, ("no case matches -k exit-code/*", "conformance list")),
        (("list", "-k", "nothing-of-that-name"), 4, ("no case matches", "conformance list")),
        (("run", "--fixture", "exit-code/*"), 4, ("no case matches --fixture exit-code/*", "conformance list")),
        (("run", "-k", "pwsh", "--route", "sh-command"), 4, ("no case matches -k pwsh --route sh-command",)),
    ],
)
def test_command_line_that_asks_for_nothing(
    arguments: tuple[str, ...], code: int, parts: tuple[str, ...], tmp_path: Path
) -> None:
    report = ("--report", tmp_path / "report.jsonl") if arguments[0] == "run" else ()
    finished = call_cli(*arguments, *report)
    assert (finished.code, finished.out) == (code, "")
    for part in parts:
        assert part in finished.err
    assert finished.err.count("\n") == 1
    assert not (tmp_path / "report.jsonl").exists()


def test_zero_selection_as_a_process(tmp_path: Path) -> None:
    finished = run_cli("run", "-k", "nothing-of-that-name", cwd=tmp_path)
    assert finished.code == 4
    assert finished.err.startswith("conformance: no case matches -k nothing-of-that-name")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("/bin/true", "CONFORMANCE_PWSH gives /bin/true, which is not PowerShell: asked for its version it exited 0"),
        ("/nonexistent", "CONFORMANCE_PWSH=/nonexistent is not a program that can be run: correct it or unset it"),
        ("/tmp", "CONFORMANCE_PWSH=/tmp is not a program that can be run: correct it or unset it"),
    ],
)
def test_program_that_is_not_a_shell(program: str, sentence: str, tmp_path: Path) -> None:
    """It is an error even where a missing shell is allowed: somebody said that this is PowerShell. It is said once."""
    arguments = ("run", "-k", "exit-codes/exit-[17]/pwsh-file", "--allow-unavailable")
    finished = run_cli(*arguments, env={"CONFORMANCE_PWSH": program}, cwd=tmp_path)
    assert finished.code == 3
    assert finished.out.count(sentence) == 1
    assert "correct it or unset it" in finished.out.lower()
    assert "Traceback" not in finished.out + finished.err


@pytest.fixture
def path_without_pwsh(tmp_path: Path) -> str:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "sh"):
        program = shutil.which(name)
        assert program is not None
        (folder / name).symlink_to(program)
    return str(folder)


@pytest.mark.parametrize(("option", "code"), [((), 3), (("--allow-unavailable",), 0)])
def test_pwsh_that_is_missing(option: tuple[str, ...], code: int, path_without_pwsh: str, tmp_path: Path) -> None:
    finished = run_cli("run", "-k", "exit-codes/exit-7/", *option, env={"PATH": path_without_pwsh}, cwd=tmp_path)
    assert finished.code == code
    (row,) = [line.split() for line in finished.out.splitlines() if line.startswith("exit-codes/exit-7")]
    assert row[0] == "exit-codes/exit-7"
    assert set(row[1:]) == {"ok", "n/a"}
    others = row.count("n/a") - 1
    assert finished.out.count(f"not run: exit-codes/exit-7/pwsh-command and {others} more: pwsh is not on PATH") == 1
    assert ("pwsh is required and missing" in finished.err) == (code == 3)


def test_pwsh_that_is_missing_is_missed_by_a_session_alone(path_without_pwsh: str, tmp_path: Path) -> None:
    selection = ("-k", "exit-codes/exit-7/pwsh-session")
    finished = run_cli("run", *selection, env={"PATH": path_without_pwsh}, cwd=tmp_path)
    assert finished.code == 3
    assert "pwsh is required and missing" in finished.err


def test_missing_pwsh_does_not_matter_where_it_is_not_needed(path_without_pwsh: str, tmp_path: Path) -> None:
    finished = run_cli("run", "-k", "exit-codes/exit-7/bash-command", env={"PATH": path_without_pwsh}, cwd=tmp_path)
    assert finished.code == 0
