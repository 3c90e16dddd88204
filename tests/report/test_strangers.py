"""Reports of strangers: whatever is in them, `conformance report` shows them, or says in one sentence what is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished, call_cli, command_environment
from hypothesis import given, settings
from hypothesis import strategies as st
from report_files import Line, exited, footer_of, header_of, result_of, write_lines

from conformance.report.reader import LONGEST_LINE_BYTES

LINES = [result_of("a/b/r"), result_of("a/c/r", "fail", came=1), result_of("a/d/r", "deviates", came=1)]
HEADER, FOOTER = header_of(LINES), footer_of(LINES)
WHOLE = [HEADER, *LINES, FOOTER]
MOST_KILOBYTES = 300_000
# The peak of the process's own memory.
PROGRAM = """
import sys
from pathlib import Path
from conformance.cli import main
try:
    main(["report", sys.argv[1], "--badge", "-"])
finally:
    status = Path("/proc/self/status").read_text().splitlines()
    print(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""


def refused(path: Path, line: int) -> str:
    """Return what is said of the report at `path`, in one sentence that names the file and the line."""
    finished = call_cli("report", path)
    said = re.fullmatch(rf"conformance: {re.escape(str(path))}(:\d+)?: ([^\n]+)\n", finished.err)
    assert said, finished.err
    assert finished.code == 2
    assert finished.out == ""
    assert (said[1] or "") == (f":{line}" if line else "")
    return said[2]


def changed(line: Line, **values: Any) -> Line:
    return {**line, **values}


def with_step(**values: Any) -> Line:
    return changed(LINES[0], steps=[{**LINES[0]["steps"][0], **values}])


def with_stream(**values: Any) -> Line:
    return with_step(stdout={**LINES[0]["steps"][0]["stdout"], **values})


LIES: dict[str, tuple[list[Line], int, str]] = {
    "another format": ([changed(HEADER, format=1), *LINES], 1, "not a report of format 2"),
    "a format of tomorrow": ([changed(HEADER, format=99), *LINES], 1, "not a report of format 2"),
    "no header": ([*LINES, FOOTER], 1, "a header is expected here"),
    "a second header": ([HEADER, LINES[0], HEADER, *LINES[1:], FOOTER], 3, "a result or a footer is expected here"),
    "a result behind the footer": ([*WHOLE, LINES[0]], 6, "a line behind the footer"),
    "a second footer": ([*WHOLE, FOOTER], 6, "a line behind the footer"),
    "counts that lie": ([HEADER, *LINES, changed(FOOTER, results={"pass": 3})], 0, "the footer counts other results"),
    "an exit code that lies": ([HEADER, *LINES, changed(FOOTER, exit_code=0)], 0, "the footer says exit code 0"),
    "fewer results": ([HEADER, *LINES[1:], footer_of(LINES[1:])], 0, "2 results of 3 cases"),
    "a run that is not there": ([HEADER, *LINES, footer_of(LINES, incomplete=[7])], 5, "a run that the header has not"),
    "a length that lies": ([HEADER, with_stream(bytes=10**9)], 2, "is said to be 1000000000 bytes long"),
    "a digest that lies": ([HEADER, with_stream(sha256="0" * 64)], 2, "has not the SHA-256 that is said"),
    "a difference where nothing is": (
        [HEADER, with_stream(difference={"offset": 9, "window_offset": 0, "expected": "", "observed": ""})],
        2,
        "is said to differ where it has no byte",
    ),
    "a huge integer": ([HEADER, with_stream(bytes=2**64)], 2, "bytes does not fit"),
    "an integer of a thousand digits": ([HEADER, with_step(status=exited(10**1000))], 2, "status does not fit"),
    "an id of another case": ([HEADER, changed(LINES[0], id="a/b/s")], 2, "is not that of its fixture and route"),
    "a deviation without reason": ([HEADER, changed(LINES[2], deviation=None)], 2, "no deviation stands there"),
    "a pass that was not run": ([HEADER, changed(LINES[0], steps=[])], 2, "no step or status stands there"),
    "a result of its own": ([HEADER, changed(LINES[0], result="splendid")], 2, "result does not fit"),
    "one key more": ([HEADER, changed(LINES[0], extra=1)], 2, "does not fit"),
    "an environment with an escape": (
        [HEADER, changed(LINES[0], environment="linux-x\x1b[2J/bash-5/local")],
        2,
        "a character that is not printable",
    ),
    "an environment with half a character": (
        [HEADER, changed(LINES[0], environment="linux-x\ud800/bash-5/local")],
        2,
        "a character that is not printable",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_said_in_a_sentence(name: str, tmp_path: Path) -> None:
    lines, place, sentence = LIES[name]
    assert sentence in refused(write_lines(tmp_path / "r.jsonl", *lines), place)


TEXTS: dict[str, tuple[Callable[[str], str], str]] = {
    "NaN": (lambda text: text.replace('"seconds": 0.1', '"seconds": NaN'), "NaN is no number of JSON"),
    "minus infinity": (lambda text: text.replace('"seconds": 0.1', '"seconds": -Infinity'), "-Infinity is no number"),
    "a number beyond all floats": (lambda text: text.replace('"seconds": 0.1', '"seconds": 1e999'), "does not fit"),
    "an integer of 5,000 digits": (lambda text: text.replace('"sent": 0', f'"sent": {"9" * 5000}'), "not a line of a"),
    "a key twice": (lambda text: text.replace('"basis"', '"result": "fail", "basis"'), "a key stands in it twice"),
    "a key twice, deep inside": (lambda text: text.replace('"marks": 1', '"marks": 1, "marks": 2'), "a key stands in"),
    "deep nesting": (lambda text: "[" * 200_000 + "\n", "it is nested too deeply"),
    "deep nesting in an object": (lambda text: '{"a":' * 200_000 + "\n", "it is nested too deeply"),
    "no JSON": (lambda text: "a\n", "not a line of a report"),
    "an empty line": (lambda text: "\n", "not a line of a report"),
    "a list": (lambda text: "[]\n", "a result or a footer is expected here"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_json_may_be_is_not_always_a_line(name: str, tmp_path: Path) -> None:
    change, sentence = TEXTS[name]
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(HEADER) + "\n" + change(json.dumps(LINES[0]) + "\n"), encoding="utf-8")
    assert sentence in refused(path, 2)


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"\0" * 10 + b"\n", b"\x1f\x8b\x08\n", b"PK\x03\x04\n"])
def test_what_is_no_text_is_no_report(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    assert "not a line of a report" in refused(path, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
@pytest.mark.parametrize(
    "line", ["a gigabyte that is not there", "8 MiB of lists", "8 MiB of keys", "8 MiB of digits", "8 MiB of text"]
)
def test_a_huge_line_takes_little_memory(line: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", HEADER)
    size = LONGEST_LINE_BYTES - 1000
    with path.open("ab") as stream:
        if line == "a gigabyte that is not there":
            stream.truncate(2**30)
        else:
            part, end = {"lists": (b"[],", b"[]]"), "keys": (b'"a":1,', b'"a":1}')}.get(line.split()[-1], (b"1", b""))
            start = {b"[]]": b"[", b'"a":1}': b"{"}.get(end, b'"' if line.endswith("text") else b"")
            stream.write(start + part * (size // len(part)) + (b'"' if line.endswith("text") else end) + b"\n")
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=False, env=command_environment()
    )
    assert run.returncode == 2
    assert re.fullmatch(rf"conformance: {re.escape(str(path))}:2: [^\n]{{1,400}}\n", run.stderr), run.stderr
    assert int(run.stdout.split()[-1]) < MOST_KILOBYTES


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_whatever_stands_for_a_value_there_is_no_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Change one value somewhere in a report to one of another kind or size."""
    lines = json.loads(json.dumps(WHOLE))
    place: Any = lines[data.draw(st.integers(0, len(lines) - 1))]
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        place = inner
    values: list[Any] = [
        None,
        True,
        -1,
        0,
        10**30,
        0.5,
        "",
        "a",
        "\ud800\0\n::error::x",
        [],
        {},
        [{}],
        {"kind": "exited"},
        2**53,
    ]
    place[key] = data.draw(st.sampled_from(values))
    path = write_lines(tmp_path_factory.mktemp("r") / "r.jsonl", *lines)
    for options in ([], ["--markdown", "-"], ["--junit", "-"], ["--csv", "-"], ["--badge", "-"], ["--annotations"]):
        finished: Finished = call_cli("report", path, *options)
        assert finished.code in (0, 2)
        assert (finished.code == 2) == bool(finished.err)
        assert finished.err.count("\n") <= 1
