"""What systems lose, read from result lines alone."""

from __future__ import annotations

from typing import Any

import pytest
from result_lines import DOCUMENTED, driven, line, silent_line

from conformance.observation import Basis, ResultKind
from conformance.report.harm import Harm
from conformance.report.systems import driven_routes, records_of, silent_routes
from conformance.status import Exited, ExitStatus

SEVEN = Exited(7)


def case(id_: str, came: ExitStatus, expected: ExitStatus = SEVEN, **more: Any) -> dict[str, Any]:
    return line(id_, came, expected, **{"system": driven(), **more})


def test_routes_that_drive_a_system() -> None:
    lines = [line("t/1/plain", SEVEN), silent_line("t/1/a", ResultKind.SKIPPED), case("t/2/a", SEVEN)]
    assert driven_routes([*lines, case("t/2/b", SEVEN), case("t/3/a", SEVEN)]) == ("a", "b")


def test_routes_that_nothing_is_known_of() -> None:
    lines = [
        *(silent_line(f"t/{number}/{route}", ResultKind.UNAVAILABLE) for number in range(2) for route in "ab"),
        silent_line("t/1/c", ResultKind.SKIPPED),
        case("t/2/c", SEVEN),
        silent_line("t/1/plain", ResultKind.SKIPPED),
        line("t/2/plain", SEVEN),
        silent_line("t/1/d", ResultKind.ERROR),
        silent_line("t/1/broken", ResultKind.ERROR) | {"system": {"name": "thing", "version": "1.0"}},
    ]
    assert silent_routes(lines) == {("unavailable", "for a reason"): ("a", "b"), ("error", "for a reason"): ("d",)}


def test_a_record_counts_what_was_judged_and_names_what_was_lost_with_its_source() -> None:
    (record,) = records_of(
        [
            case("t/1/a", SEVEN),
            case("t/2/a", Exited(1)),
            case("t/3/a", Exited(1), deviation=DOCUMENTED),
            case("t/4/a", Exited(1), deviation=DOCUMENTED),
            case("t/5/a", SEVEN, lost={"stdout": "stdout lost its final newline"}),
            silent_line("t/6/a", ResultKind.SKIPPED),
            silent_line("t/7/a", ResultKind.SKIPPED),
            silent_line("t/8/a", ResultKind.ERROR),
        ]
    )
    assert (record.route, record.systems, record.bases, record.judged, record.lost) == (
        "a", ("thing 1.0",), ("bytes",), 5, 4,
    )  # fmt: skip
    assert [(loss.harm, loss.what, loss.url, loss.fixtures) for loss in record.losses] == [
        (Harm.ANOTHER_CODE, "it is so", "https://x/1", ("t/3", "t/4")),
        (Harm.ANOTHER_CODE, "another code", "", ("t/2",)),
        (Harm.STREAM_DAMAGED, "stdout lost its final newline", "", ("t/5",)),
    ]
    assert record.not_judged == {("skipped", "for a reason"): ("t/6", "t/7"), ("error", "for a reason"): ("t/8",)}


def test_the_meaning_is_that_of_the_worst_and_a_documented_case_that_came_otherwise_has_no_reason() -> None:
    otherwise = case("t/1/a", Exited(0), deviation=DOCUMENTED, lost={"stdout": "lost"}) | {"result": "fail"}
    (record,) = records_of([otherwise])
    (loss,) = record.losses
    assert (loss.harm, loss.what, loss.url) == (Harm.FAILURE_AS_SUCCESS, "another code", "")


def test_the_system_that_does_the_worst_comes_first() -> None:
    lines = [
        case("t/1/none", SEVEN),
        *(case(f"t/{number}/bytes", SEVEN, lost={"stdout": "m"}) for number in range(9)),
        case("t/1/success", Exited(0)),
        *(case(f"t/{number}/success", SEVEN) for number in range(2, 9)),
        *(case(f"t/{number}/often", Exited(1)) for number in range(2)),
        *(case(f"t/{number}/seldom", Exited(1) if number else SEVEN) for number in range(3)),
    ]
    expected = ["success", "often", "seldom", "bytes", "none"]
    assert [record.route for record in records_of(lines)] == expected
    assert [record.route for record in records_of(reversed(lines))] == expected


def test_the_last_result_of_a_case_counts_in_each_environment() -> None:
    first, last = case("t/1/a", Exited(0)), case("t/1/a", SEVEN)
    elsewhere = case("t/1/a", Exited(1), system=driven("2.0", Basis.TEXT)) | {"environment": "windows-x/pwsh-7/local"}
    (record,) = records_of([first, last, elsewhere])
    assert (record.judged, record.lost, record.systems) == (2, 1, ("thing 1.0", "thing 2.0"))
    assert (record.bases, len(record.environments)) == (("bytes", "text"), 2)


@pytest.mark.parametrize("kind", ["deviates", "fail"])
def test_what_is_provisional_is_lost_all_the_same(kind: str) -> None:
    (record,) = records_of([case("t/1/a", Exited(1), provisional=True, deviation=DOCUMENTED) | {"result": kind}])
    assert record.lost == 1
