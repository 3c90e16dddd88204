"""One-shot routes are data: argv, files, filters and environment, rendered for each launch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import tiny_catalog

from conformance.campaign import local_runner
from conformance.engine import open_engine
from conformance.observation import Result, ResultKind


@pytest.fixture
def execute(tmp_path: Path) -> Callable[..., Result]:
    """Execute one fixture on one route, both given as TOML."""

    def run(route: str, body: str, stdout: str = '""') -> Result:
        catalog = tiny_catalog(tmp_path, route, body, stdout=stdout)
        with local_runner() as (runner, _), open_engine(catalog, runner, 1.0) as engine:
            return engine.execute(catalog.cases()[0])

    return run


def test_a_nul_cannot_be_an_argument_so_the_case_is_skipped(execute: Callable[..., Result]) -> None:
    result = execute('argv = ["sh", "-c", "{{body}}"]', '"exit 7 # \\u0000"')
    assert (result.kind, result.reason) == (
        ResultKind.SKIPPED,
        "the body holds a NUL, which no argument of a program can hold",
    )


def test_a_body_file_holds_the_bytes_of_the_body_and_nothing_else(execute: Callable[..., Result]) -> None:
    body = '"# \\u0000 \\r\\n\\n# no newline at the end"'
    result = execute('argv = ["sh", "-c", "cat {{body_file}}; exit 7"]', body, body)
    assert result.kind is ResultKind.PASS, result.reason


def test_files_may_hold_the_body_and_go_through_filters(execute: Callable[..., Result]) -> None:
    route = """argv = ["sh", "{{file:wrapper}}"]\nfiles.wrapper = '''eval '{{body|sh-quote}}' '''"""
    result = execute(route, "'''printf %s \"it's\"; exit 7'''", '"it\'s"')
    assert result.kind is ResultKind.PASS, result.reason


def test_the_environment_of_a_route_is_added_to_the_small_common_one(execute: Callable[..., Result]) -> None:
    route = 'argv = ["sh", "-c", "{{body}}"]\nenv = { TERM = "dumb" }'
    body = '\'\'\'printf "%s,%s,%s" "$TERM" "${NO_COLOR-unset}" "$LANG"; exit 7\'\'\''
    assert execute(route, body, '"dumb,unset,C.UTF-8"').kind is ResultKind.PASS


def test_an_argument_that_the_system_refuses_is_the_routes_failure(execute: Callable[..., Result]) -> None:
    result = execute('argv = ["sh", "-c", "{{body}}"]', f'"exit 7 #{"x" * 200_000}"')
    assert result.kind is ResultKind.FAIL
    assert "failed_to_start(E2BIG" in result.reason


STDIN_ROUTE = 'argv = ["sh", "-s"]\nstdin = "{{body}}\\n"'


def test_a_body_may_be_fed_on_standard_input(execute: Callable[..., Result]) -> None:
    result = execute(STDIN_ROUTE, "'''printf %s it; exit 7'''", '"it"')
    assert result.kind is ResultKind.PASS, result.reason


def test_what_is_fed_may_use_files_of_the_route(execute: Callable[..., Result]) -> None:
    route = 'argv = ["sh", "-s"]\nstdin = ". {{file:hook}}\\n"\nfiles.hook = "{{body}}\\n"'
    result = execute(route, "'''printf %s it; exit 7'''", '"it"')
    assert result.kind is ResultKind.PASS, result.reason


def test_a_hook_with_input_of_its_own_cannot_be_fed_on_standard_input(execute: Callable[..., Result]) -> None:
    result = execute(STDIN_ROUTE, "'''exit 7'''\nstdin = \"for the hook\"")
    assert (result.kind, result.reason) == (
        ResultKind.SKIPPED,
        "the route hands over the body on standard input, so the hook has none of its own",
    )


@pytest.mark.parametrize(
    ("wiring", "body"),
    [
        ('stdin = "closed"', "cat 2>/dev/null || exit 7"),
        ('stdout = "closed"', "( printf x ) 2>/dev/null || exit 7"),
        ('stderr = "closed"', "( printf x >&2 ) || exit 7"),
        ('stdout = "full"', "( printf x ) 2>/dev/null || exit 7"),
        ('stderr = "full"', "( printf x >&2 ) || exit 7"),
        ('stdin = "closed", stdout = "full"', "cat 2>/dev/null || ( printf x ) 2>/dev/null || exit 7"),
    ],
)
def test_a_stream_may_be_closed_or_full(wiring: str, body: str, execute: Callable[..., Result]) -> None:
    if "full" in wiring and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    route = 'argv = ["sh", "-c", "{{body}}"]'
    result = execute(route, f"'''{body}'''\nwiring = {{ {wiring} }}")
    assert result.kind is ResultKind.PASS, result.reason
    assert execute(route, f"'''{body}'''").kind is ResultKind.FAIL  # with three pipes
