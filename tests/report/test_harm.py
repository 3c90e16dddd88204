"""How results rank by what they do to a caller."""

from __future__ import annotations

from typing import Any

import pytest
from result_lines import line

from conformance.report.harm import Harm, harm_of, status_harm
from conformance.status import Exited, ExitStatus, FailedToStart, NotReported, Signalled, TimedOut

FAILURE, NOTHING = Exited(7), NotReported("it tells no code")
RANKED = [
    ("failure as success", line("t/a/r", Exited(0), FAILURE)),
    ("nobody tells", line("t/a/r", NOTHING, FAILURE)),
    ("hang", line("t/a/r", TimedOut(), FAILURE)),
    ("another code", line("t/a/r", Exited(1), FAILURE)),
    ("success as failure", line("t/a/r", Exited(1), Exited(0))),
    ("not started", line("t/a/r", FAILURE, lost={"started": "m"})),
    ("stream damaged", line("t/a/r", FAILURE, lost={"stdout": "m"})),
    ("none", line("t/a/r", FAILURE)),
]


def test_the_ranking() -> None:
    assert [str(harm_of(found)) for _, found in RANKED] == [name for name, _ in RANKED]
    assert [str(harm) for harm in sorted(Harm)] == [name for name, _ in RANKED]


@pytest.mark.parametrize(
    ("wanted", "came", "harm"),
    [
        (TimedOut(), Exited(0), Harm.FAILURE_AS_SUCCESS),
        (Signalled(9), Exited(0), Harm.FAILURE_AS_SUCCESS),
        (Signalled(9), Exited(137), Harm.NONE),
        (Signalled(9), Exited(1), Harm.ANOTHER_CODE),
        (Exited(137), Signalled(9), Harm.ANOTHER_CODE),
        (Exited(7), FailedToStart(7, "too long"), Harm.ANOTHER_CODE),
        (Exited(0), NOTHING, Harm.NOBODY_TELLS),
        (Exited(0), TimedOut(), Harm.HANG),
        (Exited(0), Signalled(15), Harm.SUCCESS_AS_FAILURE),
    ],
    ids=str,
)
def test_a_status_in_the_place_of_another(wanted: ExitStatus, came: ExitStatus, harm: Harm) -> None:
    assert status_harm(wanted, came) is harm


@pytest.mark.parametrize("subject", ["stdin", "stdout", "stderr"])
def test_each_stream(subject: str) -> None:
    assert harm_of(line("t/a/r", FAILURE, lost={subject: "m"})) is Harm.STREAM_DAMAGED


def test_the_worst_of_several_counts() -> None:
    both = line("t/a/r", Exited(0), FAILURE, lost={"stdout": "m", "started": "m"})
    assert harm_of(both) is Harm.FAILURE_AS_SUCCESS


def test_a_status_that_a_later_step_lost_is_not_forgotten() -> None:
    steps: dict[str, Any] = line("t/a/r", FAILURE, lost={"stdout": "m", "status": "m"})
    assert steps["status"] == steps["expected"]
    assert harm_of(steps) is Harm.ANOTHER_CODE
