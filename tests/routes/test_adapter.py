"""What an adapter is asked, which cases share it, and how it ends."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from adapter_world import adapter_route
from session_catalog import Execute, engines_in, execute, fixture, printed, session_catalog, step

from conformance.campaign import local_runner
from conformance.engine import open_engine
from conformance.observation import Basis, Result, ResultKind, System
from conformance.process import CancelledError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bodies are written for POSIX shells")

SHOWS_REQUESTS = """
class Showing(Adapter):
    def reply(self, request):
        shown = {**request, "pid": os.getpid()}
        return outcome(request, {"kind": "exited", "code": 0}, json.dumps(shown).encode(), b"")
Showing(capabilities={**CAPABILITIES, "session": "kept"}).serve()
"""
TEXT = 'Adapter(capabilities={"statuses": ["exited"], "stdin": "bytes"}).serve()'
ONE, TWO = fixture("one", step("first", 0, None)), fixture("two", step("second", 0, None), step("third", 0, None))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Execute]]:
    """Open an engine on routes and fixtures, and execute cases of it by their ids."""
    with engines_in(tmp_path) as opened:
        yield opened


def requests(result: Result) -> list[dict[str, Any]]:
    """Return what the adapter was asked, a request for each step."""
    return [json.loads(text) for text in printed(result)]


def test_a_request_holds_what_the_body_is_to_have(tmp_path: Path, opened: Callable[..., Execute]) -> None:
    route = adapter_route(tmp_path, SHOWS_REQUESTS, more='env = { HOOK = "yes" }')
    run = opened(route, fixture("one", step("a\nb", 0, None, stdin="c")))
    (asked,) = requests(run("t/one/r"))
    assert (asked["dialect"], asked["body"], asked["stdin"], asked["timeout_ms"]) == ("sh", "a\nb", "Yw==", 60_000)
    assert asked["env"]["HOOK"] == "yes"
    assert asked["env"]["HOME"] != os.environ.get("HOME")
    assert Path(asked["cwd"]) != Path.cwd()


def test_one_adapter_serves_all_cases_each_in_a_session_of_its_own(
    tmp_path: Path, opened: Callable[..., Execute]
) -> None:
    run = opened(adapter_route(tmp_path, SHOWS_REQUESTS), ONE, TWO)
    one, two, three = requests(run("t/one/r")), requests(run("t/two/r")), requests(run("t/one/r"))
    assert len({asked["pid"] for asked in one + two + three}) == 1
    assert len({asked["id"] for asked in one + two + three}) == 4
    assert [len({asked["session"] for asked in each}) for each in (one, two, three)] == [1, 1, 1]
    assert len({asked["session"] for asked in one + two + three}) == 3


def test_one_that_cannot_be_asked_for_a_case_serves_the_next(tmp_path: Path, opened: Callable[..., Execute]) -> None:
    narrow = SHOWS_REQUESTS.replace('"session": "kept"', '"statuses": ["exited"]')
    needing = fixture("needing", step("x", 0, None)).replace("exit = 0", "timed_out = true")
    run = opened(adapter_route(tmp_path, narrow), ONE, needing.replace('summary = "s"', 'summary = "s"\ndeadline = 1'))
    (before,) = requests(run("t/one/r"))
    assert run("t/needing/r").kind is ResultKind.SKIPPED
    (after,) = requests(run("t/one/r"))
    assert (before["pid"], before["id"]) == (after["pid"], "1")


def test_a_case_of_several_steps_is_skipped_where_each_body_has_its_own_process(
    tmp_path: Path, opened: Callable[..., Execute]
) -> None:
    run = opened(adapter_route(tmp_path, "Adapter().serve()"), TWO)
    result = run("t/two/r")
    assert result.kind is ResultKind.SKIPPED
    assert result.reason == "the system gives each body a process of its own, so none meets what another left"


def test_a_system_of_text_is_judged_on_text_and_never_on_other_bytes(
    tmp_path: Path, opened: Callable[..., Execute]
) -> None:
    bodies = (fixture("text", step("echo grüße", 0, "grüße\n")), fixture("bytes", step("cat", 0, stdin="x")))
    binary = bodies[1].replace('stdout = ""', 'stdout = { hex = "ff" }')
    run = opened(adapter_route(tmp_path, TEXT), bodies[0], binary)
    text, skipped = run("t/text/r"), run("t/bytes/r")
    assert (text.kind, skipped.kind) == (ResultKind.PASS, ResultKind.SKIPPED)
    assert text.observation is not None
    assert text.observation.system == System("miniature", "1", Basis.TEXT)
    assert text.reason.startswith("exited(0), and every character (of the text that the system hands on), as expected")
    assert skipped.reason == "the system hands on text only, and standard output is not UTF-8 here"


def test_where_streams_are_merged_stdout_is_as_open_as_stderr(tmp_path: Path, opened: Callable[..., Execute]) -> None:
    merging = """
class Merging(Adapter):
    def reply(self, request):
        return outcome(request, {"kind": "exited", "code": 7}, b"an error in the words of the shell", b"")
Merging(capabilities={}).serve()
"""
    open_ended = fixture("open", step("x", 7)) + "stderr = { any = true }\n"
    run = opened(adapter_route(tmp_path, merging), open_ended, fixture("exact", step("x", 7)))
    assert run("t/open/r").kind is ResultKind.PASS
    assert [found.subject for found in run("t/exact/r").discrepancies] == ["stdout"]


def test_what_a_system_decides_is_kept(tmp_path: Path, opened: Callable[..., Execute]) -> None:
    deciding = """
class Deciding(Adapter):
    def reply(self, request):
        return {**super().reply(request), "decision": "block"}
Deciding(capabilities={**CAPABILITIES, "decision": True}).serve()
"""
    result = opened(adapter_route(tmp_path, deciding), fixture("one", step("exit 2", 2)))("t/one/r")
    assert result.kind is ResultKind.PASS
    assert result.observation is not None
    assert result.observation.steps[0].decision == "block"


def test_an_adapter_that_ends_with_its_input_is_not_killed(tmp_path: Path) -> None:
    ending = f"Adapter().serve()\nopen({str(tmp_path / 'farewell')!r}, 'w').close()"
    catalog = session_catalog(tmp_path, adapter_route(tmp_path, ending), fixture("one", step("exit 7", 7)))
    with ExitStack() as stack:
        runner, _ = stack.enter_context(local_runner())
        engine = stack.enter_context(open_engine(catalog, runner, 1.0))
        assert execute(engine, catalog, "t/one/r").kind is ResultKind.PASS
        assert not (tmp_path / "farewell").exists()
    assert (tmp_path / "farewell").exists()


def test_a_cancelled_run_leaves_nothing_of_an_adapter_that_hangs(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    hanging = f"""
class Hanging(Adapter):
    def answer(self, request):
        child = subprocess.Popen(["sleep", "3600"])
        open({str(told)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
        signal.pause()
Hanging().serve()
"""
    catalog = session_catalog(tmp_path, adapter_route(tmp_path, hanging), fixture("one", step("exit 7", 7)))
    pids: list[int] = []
    with ExitStack() as stack:
        runner, cancellation = stack.enter_context(local_runner())

        def cancel() -> None:
            pids.extend(map(int, told.read_text().split()))
            cancellation.throw()

        thread = threading.Thread(target=cancel)
        thread.start()
        stack.callback(thread.join)
        engine = stack.enter_context(open_engine(catalog, runner, 1.0))
        with pytest.raises(CancelledError):
            execute(engine, catalog, "t/one/r")
    assert len(pids) == 2
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_program_that_is_not_there_is_an_error_with_what_to_do(opened: Callable[..., Execute]) -> None:
    route = '[[route]]\nid = "r"\nkind = "adapter"\ndialects = ["sh"]\nargv = ["/no/such"]\nsource = "https://x.org"\n'
    result = opened(route, ONE)("t/one/r")
    assert result.kind is ResultKind.ERROR
    assert result.reason == "the adapter /no/such could not be started: No such file or directory. Correct its argv."


def test_node_that_is_missing_makes_its_cases_unavailable(
    tmp_path: Path, opened: Callable[..., Execute], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    route = adapter_route(tmp_path, "").replace("{{python}}", "{{node}}")
    result = opened(route, ONE)("t/one/r")
    assert result.kind is ResultKind.UNAVAILABLE
    assert result.reason == "node is not on PATH: install Node.js 20 or newer"


def test_a_route_may_meet_some_fixtures_only(tmp_path: Path) -> None:
    routes = adapter_route(tmp_path, "", more='fixtures = ["t/o*"]') + adapter_route(tmp_path, "", name="all")
    catalog = session_catalog(tmp_path, routes, ONE, TWO)
    assert [case.id for case in catalog.cases()] == ["t/one/all", "t/one/r", "t/two/all"]
