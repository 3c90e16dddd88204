"""A route that loses makes no machine broken, and a broken machine is not blamed on a route."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import DEVIATION

from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.doctor.finding import Finding, State, exit_code
from conformance.doctor.launches import ROUTE_FIXTURES, SHELL_FIXTURES, smoke_test
from conformance.model import EnvironmentKey
from conformance.observation import Discrepancy, Result, ResultKind
from conformance.schedule import run_cases
from conformance.views.checkup import verdict

MINIATURES = Path(__file__).parents[1] / "miniatures"
HERE = EnvironmentKey("linux", "x86_64", "bash", "5.2.15", "local")
posix = pytest.mark.skipif(sys.platform == "win32", reason="the miniatures run /bin/sh")
LOSSES = (Discrepancy("status", "expected exited(7), came exited(1)", "the code collapsed to 1"),)


@pytest.fixture(scope="module")
def core() -> Catalog:
    return load_catalog(["core"])


def judged(catalog: Catalog, *unusual: Result, shells: Sequence[str] = ("bash", "sh", "pwsh")) -> dict[str, Finding]:
    """Return the findings where all cases pass but those with `unusual` results."""
    smoke = smoke_test(catalog, shells)
    results = {case.id: Result(case.id, HERE, ResultKind.PASS, "as expected") for case in smoke.cases}
    assert {result.id for result in unusual} <= results.keys()
    return {f.id: f for f in smoke.findings({**results, **{result.id: result for result in unusual}})}


def result(id_: str, kind: ResultKind, *, provisional: bool = False) -> Result:
    return Result(id_, HERE, kind, f"it is {kind}.\n00 01", provisional, discrepancies=LOSSES)


def states(findings: dict[str, Finding]) -> dict[str, str]:
    return {id_: str(finding.state) for id_, finding in findings.items() if finding.state is not State.OK}


def test_every_shell_and_route_of_the_core_matrix_is_tried(core: Catalog) -> None:
    cases = {case.id for case in smoke_test(core, ["bash", "sh", "pwsh"]).cases}
    assert cases <= {case.id for case in core.cases()}
    assert cases >= {f"{fixture}/{route.id}" for fixture in ROUTE_FIXTURES for route in core.routes}
    keeping = ("bash-command", "sh-command", "pwsh-preserving")
    assert cases >= {f"{fixture}/{route}" for fixture in SHELL_FIXTURES for route in keeping}
    found = judged(core)
    assert {id_ for id_ in found if id_.startswith("smoke/")} == {"smoke/bash", "smoke/sh", "smoke/pwsh"}
    assert states(found) == {}


def test_a_documented_loss_is_the_routes_own(core: Catalog) -> None:
    found = judged(core, result("native-codes/native-7/pwsh-file", ResultKind.DEVIATES))
    assert states(found) == {"route/pwsh-file": "loses"}
    assert "expected exited(7), came exited(1): the code collapsed to 1" in found["route/pwsh-file"].found
    assert exit_code(found.values()) == 0
    sentences = [sentence for sentence, _ in verdict(list(found.values()))]
    assert sentences == [
        "This machine is in order: results from here count.",
        "These routes lose what is documented of them, which is no fault of this machine: pwsh-file.",
    ]


@pytest.mark.parametrize(
    ("kind", "provisional", "state", "code"),
    [
        (ResultKind.FAIL, False, "differs", 1),
        (ResultKind.FIXED, False, "differs", 1),
        (ResultKind.FAIL, True, "warning", 0),
        (ResultKind.ERROR, False, "broken", 3),
    ],
)
def test_what_nothing_documents(kind: ResultKind, provisional: bool, state: str, code: int, core: Catalog) -> None:  # noqa: FBT001
    id_ = "native-codes/native-7/pwsh-file"
    found = judged(core, result(id_, kind, provisional=provisional))
    assert states(found) == {"route/pwsh-file": state}
    assert found["route/pwsh-file"].mend == f"conformance run -k {id_}"
    assert found["route/pwsh-file"].found.endswith(f"it is {kind}"), "one line, without the hexdump"
    assert exit_code(found.values()) == code


@pytest.mark.parametrize("kind", [ResultKind.FAIL, ResultKind.ERROR, ResultKind.UNAVAILABLE])
def test_no_route_is_blamed_for_a_shell_that_fails(kind: ResultKind, core: Catalog) -> None:
    loses = result("native-codes/native-7/pwsh-file", ResultKind.DEVIATES)
    found = judged(core, result("bytes/echo-1m/pwsh-preserving", kind), loses)
    routes = [f"route/pwsh-{name}" for name in ("command", "file", "epilogue", "preserving", "session")]
    assert states(found) == {"smoke/pwsh": "broken", **dict.fromkeys(routes, "not-tried")}
    assert exit_code(found.values()) == 3


def test_a_route_that_can_express_nothing_keeps_nothing(core: Catalog) -> None:
    skipped = [result(f"{fixture}/bash-file", ResultKind.SKIPPED) for fixture in ROUTE_FIXTURES]
    assert states(judged(core, *skipped)) == {"route/bash-file": "not-tried"}
    assert states(judged(core, skipped[0])) == {}


def test_a_shell_that_is_missing_takes_its_routes_along(core: Catalog) -> None:
    found = judged(core, shells=["bash"])
    assert {id_ for id_ in found if id_.startswith("smoke/")} == {"smoke/bash"}
    tried = {id_ for id_, finding in found.items() if finding.state is not State.NOT_TRIED}
    assert tried == {"smoke/bash", "route/bash-command", "route/bash-file", "route/bash-session"}


def run_with_miniature(folder: Path, miniature: str, deviation: str) -> dict[str, Finding]:
    """Run the smoke test of sh and of one route that is always wrong."""
    route = (
        f'[[route]]\nid = "always-0"\nkind = "one-shot"\ndialects = ["sh"]\n'
        f'argv = ["{{{{sh}}}}", "{MINIATURES / miniature}", "{{{{body}}}}"]\nsource = "https://example.org"\n'
    )
    (folder / "own.toml").write_text(route + deviation)
    catalog = load_catalog(["core"], [folder / "own.toml"])
    smoke = smoke_test(catalog, ["sh"])
    with local_runner() as (runner, _):
        results = {result.id: result for result in run_cases(catalog, smoke.cases, runner, 2, 1.0)}
    return {finding.id: finding for finding in smoke.findings(results) if finding.state is not State.NOT_TRIED}


@posix
@pytest.mark.parametrize(("deviation", "state", "code"), [("", "differs", 1), (DEVIATION.format(code=0), "loses", 0)])
def test_a_launcher_that_is_always_wrong(deviation: str, state: str, code: int, tmp_path: Path) -> None:
    deviation = deviation.replace('["exit-codes/exit-7"]', '["exit-codes/exit-7", "native-codes/native-7"]')
    found = run_with_miniature(tmp_path, "always-exits-0.sh", deviation)
    assert states(found) == {"route/always-0": state}
    assert found["smoke/sh"].state is State.OK
    assert exit_code(found.values()) == code
