"""The smoke test of the harness's own process layer: it starts programs without any shell and must see them exactly.

Where it does not, this machine or conformance is broken, and no result that is got here counts.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from conformance import witness
from conformance.doctor.commands import bootstrap, reinstalling
from conformance.doctor.finding import Finding, State
from conformance.errors import ConformanceError
from conformance.model import Seconds
from conformance.observation import CapturedStream, Leftover, WitnessRecord
from conformance.payload import EMPTY, Payload, Stream, sha256
from conformance.process import Completed, Launch
from conformance.runners import Place, Stage
from conformance.status import Exited, ExitStatus, Signalled, TimedOut

PATIENCE_SECONDS = 30.0
HANG_SECONDS = 0.2
LINGER_SECONDS = 0.2
SLEEP_SECONDS = "600"
CODES = (0, 7, 137, 255) + ((0xC0000005,) if sys.platform == "win32" else ())
SIZES = (65537, 1048576)
_PYTHON = (sys.executable, "-I", "-S")
_INHERITED = """
import signal
ignored = {s for s in signal.valid_signals() if signal.getsignal(s) is signal.SIG_IGN}
found = (ignored | set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))) - {signal.SIGPIPE, getattr(signal, "SIGXFSZ", 0)}
print(end=" ".join(str(int(s)) for s in sorted(found)))
"""
_LEAVING = """
import subprocess, sys, time
subprocess.Popen(sys.argv[2:], start_new_session=True)
time.sleep(float(sys.argv[1]))
"""
_WHY = "every result rests on this, so no result from here counts"


@dataclass(frozen=True)
class Trial:
    """Starts programs at a place, as a route does."""

    place: Place
    time_scale: float

    def witness(
        self, *verbs: str, stdin: Payload = EMPTY, stdout: Payload = EMPTY, stderr: Payload = EMPTY
    ) -> tuple[Completed, WitnessRecord]:
        """Start the witness and let it perform `verbs`."""
        with self.place.stage() as stage:
            completed = self.run(stage, [*_witness(stage), *verbs], stdin=stdin, stdout=stdout, stderr=stderr)
            return completed, self.place.witnessed(stage)

    def run(
        self,
        stage: Stage,
        argv: Sequence[str],
        *,
        stdin: Payload = EMPTY,
        stdout: Payload = EMPTY,
        stderr: Payload = EMPTY,
        started_file: Path | None = None,
    ) -> Completed:
        """Start `argv`; with a `started_file` its deadline comes soon after that exists."""
        patience = Seconds(PATIENCE_SECONDS * self.time_scale)
        launch = Launch(
            argv=tuple(argv),
            environment=stage.environment,
            directory=stage.working_directory,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            deadline=Seconds(HANG_SECONDS * self.time_scale) if started_file else patience,
            linger=Seconds(LINGER_SECONDS * self.time_scale),
            started_file=started_file,
            start_allowance=patience,
        )
        return self.place.run(launch)


def _witness(stage: Stage) -> tuple[str, ...]:
    return (*_PYTHON, str(Path(witness.__file__).resolve()), str(stage.witness_file))


def harness_findings(place: Place, time_scale: float) -> Iterator[Finding]:
    """Try the process layer at `place`. If it cannot even tell exit codes, nothing else is tried.

    Raises CancelledError.
    """
    trial = Trial(place, time_scale)
    sound = True
    for name, check in CHECKS.items():
        if not sound:
            yield Finding(f"harness/{name}", State.NOT_TRIED, "rests on harness/exit-codes")
            continue
        mend = check.mend
        try:
            problems = list(check.problems(trial))
        except psutil.Error as error:
            problems, mend = [f"processes cannot be watched: {error}"], _outside_sandbox
        except (ConformanceError, OSError) as error:
            problems = [f"{type(error).__name__}: {error}"]
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            yield Finding(f"harness/{name}", State.BROKEN, problems[0] + more, _WHY, mend())
            sound = sound and name != "exit-codes"
        else:
            yield Finding(f"harness/{name}", State.OK, check.found)


def _exit_codes(trial: Trial) -> Iterator[str]:
    for code in CODES:
        completed, record = trial.witness("exit", str(code))
        yield from _wrong_end(f"a program that exits {code}", Exited(code), completed)
        if not record.marks:
            yield f"a program that exits {code} left no mark in its record"


def _bytes(trial: Trial) -> Iterator[str]:
    for size in SIZES:
        sent = Stream("stdin", size)
        errors = Stream("stderr", size)
        completed, record = trial.witness("write-stderr", str(size), "echo", stdin=sent, stdout=sent, stderr=errors)
        yield from _wrong_end(f"a program that copies {size} bytes", Exited(0), completed)
        if [(got.length, got.sha256) for got in record.received] != [(size, sha256(sent))]:
            yield f"of {size} bytes on standard input a program did not get just these"
        yield from _wrong_stream("standard output", completed.stdout, sent)
        yield from _wrong_stream("standard error", completed.stderr, errors)


def _death(trial: Trial) -> Iterator[str]:
    completed, _ = trial.witness("signal", "KILL")
    yield from _wrong_end("a program that SIGKILL ended", Signalled(signal.Signals["SIGKILL"]), completed)


def _hang(trial: Trial) -> Iterator[str]:
    with trial.place.stage() as stage:
        argv = [*_PYTHON, "-c", _LEAVING, SLEEP_SECONDS, *_witness(stage), "sleep", SLEEP_SECONDS]
        completed = trial.run(stage, argv, started_file=stage.witness_file)
    yield from _wrong_end("a program that hangs", TimedOut(), completed)
    yield from _wrong_leftovers("a program that hangs", completed.leftovers)


def _leftover(trial: Trial) -> Iterator[str]:
    with trial.place.stage() as stage:
        argv = [*_PYTHON, "-c", _LEAVING, "0", *_witness(stage), "sleep", SLEEP_SECONDS]
        completed = trial.run(stage, argv)
    yield from _wrong_end("a program that leaves another one behind", Exited(0), completed)
    yield from _wrong_leftovers("a program that ended", completed.leftovers)


def _inherited(trial: Trial) -> Iterator[str]:
    with trial.place.stage() as stage:
        completed = trial.run(stage, [*_PYTHON, "-c", _INHERITED])
    yield from _wrong_end("a program that tells its signals", Exited(0), completed)
    if completed.stdout.length:
        yield f"hooks inherit ignored or blocked signals: {completed.stdout.head.decode(errors='replace')}"


def _native(trial: Trial) -> Iterator[str]:
    with trial.place.stage() as stage:
        completed = trial.run(stage, shlex.split(trial.place.body("{{native:7}}", "sh", stage)))
        marks = trial.place.witnessed(stage).marks
    yield from _wrong_end("the native program that exits 7, a script of /bin/sh,", Exited(7), completed)
    if not marks:
        yield "the native program left no mark in its record"


def _wrong_end(program: str, expected: ExitStatus, completed: Completed) -> Iterator[str]:
    if completed.status != expected:
        said = completed.stderr.tail.decode(errors="replace").strip().rpartition("\n")[2][:200]
        yield f"{program} was seen as {completed.status}" + (
            f", and said {said!r}" if said.isprintable() and said else ""
        )


def _wrong_stream(name: str, captured: CapturedStream, expected: Payload) -> Iterator[str]:
    if (captured.length, captured.sha256) != (expected.length, sha256(expected)):
        yield f"{expected.length} bytes on {name} arrived as {captured.length} bytes, or as others"


def _wrong_leftovers(program: str, leftovers: Sequence[Leftover]) -> Iterator[str]:
    if not leftovers:
        yield f"what {program} had started was not found"
    for leftover in leftovers:
        if _runs(leftover.pid):
            yield f"what {program} had started still runs, with the pid {leftover.pid}"


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _narrow_down() -> str:
    return bootstrap("test tests/process tests/runners") or reinstalling()


def _outside_sandbox() -> str:
    return f"run it outside of a sandbox that forbids prctl or hides /proc; else {_narrow_down()}"


@dataclass(frozen=True)
class Check:
    """One part of the smoke test."""

    found: str
    """What is said where there is no problem."""
    problems: Callable[[Trial], Iterator[str]]
    mend: Callable[[], str] = _narrow_down


_OF_EVERY_SYSTEM = {
    "exit-codes": Check(f"{', '.join(map(str, CODES))} arrive as they are", _exit_codes),
    "native": Check("the native of the fixtures starts, exits 7 and leaves its mark", _native),
    "bytes": Check(f"{' and '.join(map(str, SIZES))} bytes pass in all directions at once", _bytes),
    "hang": Check("what hangs is killed at its deadline, with its tree", _hang, _outside_sandbox),
    "leftovers": Check("what is left behind is found and killed", _leftover, _outside_sandbox),
}
_OF_POSIX = {
    "signal": Check("death by SIGKILL is told from exit 137", _death),
    "inherited-signals": Check("hooks ignore and block no signal", _inherited),
}
CHECKS: Mapping[str, Check] = _OF_EVERY_SYSTEM if sys.platform == "win32" else {**_OF_EVERY_SYSTEM, **_OF_POSIX}
