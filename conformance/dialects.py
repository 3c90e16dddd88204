"""Find out which dialects an unknown launcher takes, by giving it bodies that only one of them can run."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.campaign import local_runner
from conformance.condition import Condition
from conformance.errors import HarnessError, InterruptedRunError
from conformance.model import Deadline, Expectation, Origin, Route, Seconds, Step
from conformance.payload import EMPTY
from conformance.process import CancelledError
from conformance.routes import open_executor
from conformance.runners.local import LocalRunner
from conformance.status import Exited, FailedToStart

DIALECTS = ("bash", "sh", "pwsh")
DETECTION_SECONDS = 30.0

_TELLING_BODIES = {
    "pwsh": "if ($PSVersionTable) { {{mark}} }",
    "bash": '[ -n "$BASH_VERSION" ] && {{mark}}',
    "sh": ": && {{mark}}",
}
_HERE = Origin("dialect detection", 1)
_ANYTHING = Expectation(Exited(0), None, None, None, Condition(), "", "", (), _HERE)


def detect_dialects(route: Route, time_scale: float) -> tuple[str, ...]:
    """Return the dialects that `route` really runs, in the order of preference; a bash runs sh bodies as well.

    Raises HarnessError where no body of any dialect leaves a mark (the route starts nothing, or something unknown), and
    where the runner is unavailable.
    Raises InterruptedRunError.
    """
    try:
        with local_runner() as (runner, _):
            availability = runner.probe()
            if not availability.available:
                raise HarnessError(availability.reason)
            spoken = list(_spoken(route, runner, time_scale))
    except CancelledError as error:
        raise InterruptedRunError("interrupted while the launcher's dialect was being found out") from error
    if not spoken:
        raise HarnessError(
            "the launcher ran no body in any dialect "
            f"({', '.join(_TELLING_BODIES)}): nothing that it was given left a mark. "
            "Correct the command line, or name the dialect with --dialect to see what happens."
        )
    return tuple(dialect for dialect in DIALECTS if dialect in spoken)


def _spoken(route: Route, runner: LocalRunner, time_scale: float) -> Iterator[str]:
    deadline = Deadline(Seconds(DETECTION_SECONDS * time_scale), None, Seconds(0.0))
    with runner.open() as place, open_executor(route, runner, place) as executor:
        for dialect, body in _TELLING_BODIES.items():
            step = Step({dialect: body}, EMPTY, (_ANYTHING,))
            observed = executor.perform(step, dialect, _ANYTHING, deadline)
            if isinstance(observed.status, FailedToStart):
                raise HarnessError(f"{route.argv[0]} cannot be started: {observed.status.detail}. Correct the command.")
            if observed.witness.marks:
                yield dialect
                if dialect == "pwsh":
                    return
