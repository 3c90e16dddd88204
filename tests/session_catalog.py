"""Catalogues of sessions, for tests: routes that are programs of sh, and fixtures whose bodies the test decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from conftest import SEEN_HERE

from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.engine import Engine, open_engine
from conformance.observation import Result

Execute = Callable[[str], Result]

URL = "https://example.org/"
SERVE = """\
exec 3<&0 4>&1 </dev/null >/dev/null
while read -r id folder directory <&3; do
    exec 5<"$folder/stdin" 6>"$folder/stdout" 7>"$folder/stderr"
    echo "$id opened" >&4
    {perform}
    status=$?
    exec 5<&- 6>&- 7>&-
    echo "$id exited $status" >&4
done
"""
STREAMS = "<&5 >&6 2>&7 3<&- 4>&- 5<&- 6>&- 7>&-"
FRESH = SERVE.format(perform=f'(cd "$directory" && . "$folder/body") {STREAMS}')
"""Each body has a subshell, so that none can do anything to another."""
LEAKING = SERVE.format(perform=f'cd "$directory"; eval "$(cat "$folder/body")" {STREAMS}')
"""All bodies have one shell, whose variables stay."""

Step = Mapping[str, Any]


def step(body: str, code: int = 0, out: str | None = "", **more: Any) -> Step:
    """Return a step whose body must exit `code` and print `out`, or anything; `more` are its other keys."""
    return {"body": body, "code": code, "out": out, **more}


def fixture(name: str, *steps: Step, deadline: float | None = None) -> str:
    """Return a fixture with `steps`."""
    text = f'[[fixture]]\nid = "{name}"\nsummary = "s"\nsource = "{URL}"\n'
    text += 'started = "unprovable: the test decides what the body is"\n'
    text += "" if deadline is None else f"deadline = {deadline}\n"
    for each in steps:
        more = {key: value for key, value in each.items() if key not in ("body", "code", "out")}
        text += f"[[fixture.step]]\nbody.sh = {json.dumps(each['body'])}\n"
        text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
        out = "{ any = true }" if each["out"] is None else json.dumps(each["out"])
        text += f"[[fixture.step.expect]]\nexit = {each['code']}\nstdout = {out}\n"
        text += f'reason = "r"\nseen = {SEEN_HERE}\n'
    return text


def session_route(program: str, *, name: str = "r", state: str = "kept", more: str = "") -> str:
    """Return a route that is the session `program`, a text of sh; `more` are other keys."""
    return (
        f'[[route]]\nid = "{name}"\nkind = "session"\ndialects = ["sh"]\nstate = "{state}"\nsource = "{URL}"\n'
        f'argv = ["{{{{sh}}}}", "{{{{file:session}}}}"]\nfiles.session = {json.dumps(program)}\n{more}\n'
    )


def session_catalog(folder: Path, routes: str, *fixtures: str) -> Catalog:
    """Return the catalogue of `routes` and `fixtures`, which are written into `folder`."""
    write_matrix(folder / "matrix.toml", routes)
    (folder / "fixtures").mkdir(exist_ok=True)
    (folder / "fixtures" / "t.toml").write_text("\n".join(fixtures))
    return load_catalog([str(folder / "matrix.toml")], fixture_folder=folder / "fixtures")


def write_matrix(path: Path, routes: str, fixtures: Sequence[str] = ("t/*",)) -> None:
    """Write a matrix of `routes`."""
    path.write_text(f"fixtures = {json.dumps(list(fixtures))}\n{routes}")


def execute(engine: Engine, catalog: Catalog, id_: str) -> Result:
    """Execute the case `id_`."""
    return engine.execute(next(case for case in catalog.cases() if case.id == id_))


def printed(result: Result) -> list[str]:
    """Return what each step of `result` printed."""
    assert result.observation is not None, result.reason
    return [observed.stdout.head.decode() for observed in result.observation.steps]


@contextmanager
def engines_in(folder: Path) -> Iterator[Callable[..., Execute]]:
    """Give what opens an engine on the catalogue of routes and fixtures, written into `folder`."""
    with ExitStack() as stack:

        def opened(routes: str, *fixtures: str) -> Execute:
            catalog = session_catalog(folder, routes, *fixtures)
            runner, _ = stack.enter_context(local_runner())
            engine = stack.enter_context(open_engine(catalog, runner, 1.0))
            return lambda id_: execute(engine, catalog, id_)

        yield opened
