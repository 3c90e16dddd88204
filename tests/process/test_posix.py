"""Real processes: how they end, what flows through their pipes, and that nothing of their trees is left.

Most of it holds for both ways of launching: by a selector, and by the threads that Windows needs, which run here with
a stand-in for the job object.

No test waits for a time. A body that has come to the point of interest makes the file `started`, from which on its
deadline counts; long waits only bound what goes wrong.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from session_job import session_job

from conformance.model import Seconds
from conformance.payload import EMPTY, Literal, Payload, Stream
from conformance.process import tree
from conformance.process.launch import TOKEN_VARIABLE, Cancellation, CancelledError, Completed, Launch
from conformance.process.threaded import run_in_job
from conformance.process.windows import failed_to_start
from conformance.status import Exited, FailedToStart, Signalled, TimedOut

if sys.platform == "win32":
    pytest.skip("POSIX processes", allow_module_level=True)
else:
    from conformance.process.parent import PR_GET_CHILD_SUBREAPER, PR_SET_CHILD_SUBREAPER, prepared_for_children
    from conformance.process.posix import run

assert sys.platform != "win32"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper")

MEBIBYTE = 1024 * 1024
AT_ONCE = Seconds(0.01)
LONG = Seconds(120.0)
FOREVER = 3600


@dataclass(frozen=True)
class Harness:
    """Launches bodies of `/bin/sh` in a folder of the test's own."""

    folder: Path
    cancellation: Cancellation
    way: Callable[[Launch, Cancellation], Completed]

    def launch(
        self,
        body: str,
        *,
        stdin: Payload = EMPTY,
        stdout: Payload | None = EMPTY,
        stderr: Payload | None = EMPTY,
        linger: float = LONG,
    ) -> Launch:
        return Launch(
            argv=("/bin/sh", "-c", body),
            environment={"PATH": os.environ["PATH"], TOKEN_VARIABLE: uuid.uuid4().hex},
            directory=self.folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            deadline=LONG,
            linger=Seconds(linger),
        )

    def run(self, launch: Launch | str) -> Completed:
        return self.way(self.launch(launch) if isinstance(launch, str) else launch, self.cancellation)

    def run_until_started(self, body: str) -> Completed:
        """Run `body`, whose deadline comes as soon as it has made the file `started`."""
        started = self.folder / "started"
        return self.run(replace(self.launch(body), deadline=AT_ONCE, started_file=started, start_allowance=LONG))

    def pid(self, name: str) -> int:
        """Return the pid that the body wrote into the file `name`."""
        return int((self.folder / name).read_text())


def run_threaded(launch: Launch, cancellation: Cancellation) -> Completed:
    return run_in_job(launch, cancellation, session_job, failed_to_start)


WAYS = {"selector": run, "threads": run_threaded}
selector_only = pytest.mark.parametrize("harness", ["selector"], indirect=True)


@pytest.fixture(params=WAYS)
def harness(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Harness]:
    children = {child.pid for child in psutil.Process().children()}
    with closing(Cancellation()) as cancellation, prepared_for_children():
        yield Harness(tmp_path, cancellation, WAYS[request.param])
        left = [child for child in psutil.Process().children() if child.pid not in children]
        # A daemon that ended before anybody saw it cannot be told from a child of somebody else's.
        assert [child for child in left if not is_dead_daemon(child)] == [], "no process and no zombie may be left"
        for child in left:
            os.waitpid(child.pid, 0)


def is_dead_daemon(process: psutil.Process) -> bool:
    dead = process.status() == psutil.STATUS_ZOMBIE or tree._is_dying(process.pid)
    return dead and os.getsid(process.pid) == process.pid


def assert_delivered(completed: Completed) -> None:
    assert completed.stdout.difference is None
    assert completed.stderr.difference is None


# How a process ends.


@pytest.mark.parametrize("code", [0, 1, 2, 7, 42, 126, 127, 128, 137, 143, 254, 255])
def test_an_exit_code_is_kept(code: int, harness: Harness) -> None:
    completed = harness.run(f"exit {code}")
    assert completed.status == Exited(code)
    assert completed.leftovers == ()
    assert_delivered(completed)


@selector_only
@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE", "TERM", "USR1"])
def test_a_death_by_signal_is_no_exit_code(name: str, harness: Harness) -> None:
    completed = harness.run(f"ulimit -c 0; kill -{name} $$; exit 5")
    assert completed.status == Signalled(signal.Signals[f"SIG{name}"])


@pytest.mark.parametrize(
    ("program", "mode", "error"),
    [("missing", None, "ENOENT"), ("forbidden", 0o644, "EACCES"), ("nonsense", 0o755, "ENOEXEC")],
)
def test_a_program_that_cannot_be_started(program: str, mode: int | None, error: str, harness: Harness) -> None:
    path = harness.folder / program
    if mode is not None:
        path.write_bytes(b"\x01\x02\x03")
        path.chmod(mode)
    completed = harness.run(replace(harness.launch(""), argv=(str(path),), stdin=Stream("stdin", MEBIBYTE)))
    assert isinstance(completed.status, FailedToStart)
    assert str(completed.status).startswith(f"failed_to_start({error}: ")
    assert completed.stdin.sent == 0


def test_an_argument_that_is_too_long(harness: Harness) -> None:
    completed = harness.run(harness.launch(": " + "x" * 3_000_000))
    assert str(completed.status).startswith("failed_to_start(E2BIG: ")


# Bytes, in every direction at once.


def test_input_that_nobody_reads_harms_nothing_and_is_recorded(harness: Harness) -> None:
    completed = harness.run(harness.launch("exec <&-; exit 2", stdin=Stream("stdin", MEBIBYTE)))
    assert completed.status == Exited(2)
    assert completed.stdin.broken_pipe
    assert completed.stdin.sent < MEBIBYTE


def test_input_that_is_read_in_part_is_recorded(harness: Harness) -> None:
    stdin = Stream("stdin", MEBIBYTE)
    completed = harness.run(
        harness.launch("head -c 100000; exit 7", stdin=stdin, stdout=Literal(stdin.slice(0, 100_000)))
    )
    assert completed.status == Exited(7)
    assert completed.stdin.broken_pipe
    assert 100_000 <= completed.stdin.sent < MEBIBYTE
    assert_delivered(completed)


def test_empty_input_ends_at_once(harness: Harness) -> None:
    completed = harness.run(harness.launch("cat; exit 7"))
    assert completed.status == Exited(7)
    assert (completed.stdin.sent, completed.stdin.broken_pipe) == (0, False)


def test_a_mebibyte_goes_in_and_comes_out_on_both_streams_while_it_is_written(harness: Harness) -> None:
    stdin = Stream("stdin", MEBIBYTE)
    completed = harness.run(harness.launch("tee /dev/fd/2; exit 7", stdin=stdin, stdout=stdin, stderr=stdin))
    assert completed.status == Exited(7)
    assert (completed.stdin.sent, completed.stdin.broken_pipe) == (MEBIBYTE, False)
    assert_delivered(completed)


@pytest.mark.parametrize("first", ["", ">&2"])
def test_one_stream_is_filled_before_the_other(first: str, harness: Harness) -> None:
    nul = Literal(bytes(MEBIBYTE))
    second = "" if first else ">&2"
    body = f"head -c {MEBIBYTE} /dev/zero {first}; head -c {MEBIBYTE} /dev/zero {second}"
    completed = harness.run(harness.launch(body, stdin=Stream("stdin", MEBIBYTE), stdout=nul, stderr=nul))
    assert completed.status == Exited(0)
    assert_delivered(completed)


def test_a_stream_that_the_body_closes_ends_alone(harness: Harness) -> None:
    early, late = Literal(b"early\n"), Literal(b"late\n")
    completed = harness.run(harness.launch("echo early; exec >&-; echo late >&2", stdout=early, stderr=late))
    assert completed.status == Exited(0)
    assert_delivered(completed)


# What is left of a tree.


def test_the_deadline_kills_a_child_in_a_session_of_its_own(harness: Harness) -> None:
    completed = harness.run_until_started(
        f"mkfifo ready; setsid sh -c 'echo $$ >child; echo >ready; exec sleep {FOREVER}' & read -r _ <ready;"
        f" echo $$ >shell; : >started; sleep {FOREVER}; exit 7"
    )
    assert completed.status == TimedOut()
    assert harness.pid("child") in {leftover.pid for leftover in completed.leftovers}
    assert not psutil.pid_exists(harness.pid("child"))
    assert not psutil.pid_exists(harness.pid("shell"))


@linux_only
@pytest.mark.parametrize("leave", ["", "setsid", "env -i", "env -i setsid"])
def test_the_deadline_kills_an_orphan_wherever_it_went(leave: str, harness: Harness) -> None:
    completed = harness.run_until_started(
        f"mkfifo ready; ({leave} /bin/sh -c 'echo $$ >child; echo >ready; exec sleep {FOREVER}' &); read -r _ <ready;"
        f" : >started; sleep {FOREVER}; exit 7"
    )
    assert completed.status == TimedOut()
    commands = {leftover.pid: leftover.command for leftover in completed.leftovers}
    assert commands[harness.pid("child")] == f"sleep {FOREVER}"
    assert not psutil.pid_exists(harness.pid("child"))


def test_the_deadline_kills_what_ignores_term(harness: Harness) -> None:
    completed = harness.run_until_started(
        f"trap '' TERM HUP INT; echo $$ >shell; sleep {FOREVER} & echo $! >child; : >started; while :; do wait; done"
    )
    assert completed.status == TimedOut()
    assert not psutil.pid_exists(harness.pid("shell"))
    assert not psutil.pid_exists(harness.pid("child"))


def test_output_from_before_the_deadline_is_kept(harness: Harness) -> None:
    class Told(type(harness.folder)):  # type: ignore[misc]
        """A path that exists when it has been written to; the harness cannot read any output before that."""

        def exists(self) -> bool:
            return bool(self.read_bytes())

    told = Told(harness.folder / "told")
    os.mkfifo(told)
    body = f"head -c 60000 /dev/zero; echo before; echo >told; exec sleep {FOREVER}"
    completed = harness.run(replace(harness.launch(body), deadline=Seconds(0.0), started_file=told))
    assert completed.status == TimedOut()
    assert completed.stdout.length == 60_007
    assert completed.stdout.tail.endswith(b"\0before\n")


def test_a_child_that_holds_the_pipes_is_listed_and_killed_and_the_code_is_the_shells(harness: Harness) -> None:
    body = f"sleep {FOREVER} & echo $! >child; exit 7"
    completed = harness.run(harness.launch(body, linger=AT_ONCE))
    assert completed.status == Exited(7)
    (leftover,) = completed.leftovers
    assert leftover.pid == harness.pid("child")
    assert leftover.command in (f"sleep {FOREVER}", f"/bin/sh -c {body}"), "a fork that became sleep, or not yet"
    assert not psutil.pid_exists(harness.pid("child"))


@linux_only
@pytest.mark.parametrize("leave", ["", "setsid", "env -i setsid"])
def test_a_child_without_the_pipes_is_listed_and_killed_as_well(leave: str, harness: Harness) -> None:
    body = f"{leave} sleep {FOREVER} </dev/null >/dev/null 2>&1 & echo $! >child; exit 7"
    completed = harness.run(harness.launch(body, linger=AT_ONCE))
    assert completed.status == Exited(7)
    assert [leftover.pid for leftover in completed.leftovers] == [harness.pid("child")]
    assert not psutil.pid_exists(harness.pid("child"))


@pytest.mark.parametrize("leave", ["", pytest.param("setsid", marks=linux_only)])
def test_what_a_child_writes_after_the_end_of_the_shell_is_kept(leave: str, harness: Harness) -> None:
    # The child reads from a pipe whose only writer is the shell, so it goes on when the shell has ended.
    body = f"mkfifo end; {leave} sh -c 'read -r _ <end; echo late' & exec 9>end; exit 7"
    completed = harness.run(harness.launch(body, stdout=Literal(b"late\n")))
    assert completed.status == Exited(7)
    assert completed.leftovers == ()
    assert_delivered(completed)


@linux_only
@selector_only
def test_orphans_that_ended_by_themselves_are_collected(harness: Harness) -> None:
    harness.run("mkfifo f; (sh -c 'read -r _ <f' &); (true &); exec 9>f; exit 7")
    assert [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE] == []


@linux_only
def test_other_children_of_the_harness_are_left_alone(harness: Harness) -> None:
    with subprocess.Popen(["sh", "-c", "read _; exit 3"], stdin=subprocess.PIPE) as other:
        harness.run_until_started(f"(setsid sleep {FOREVER} &); : >started; sleep {FOREVER}")
        assert other.poll() is None
        other.communicate(b"\n")
        harness.run("(true &); exit 0")
        assert other.wait() == 3, "its status must not have been collected by somebody else"


@linux_only
def test_no_descriptor_is_lost(harness: Harness) -> None:
    gc.collect()
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    harness.run("exit 0")
    harness.run(harness.launch("exit 7", stdin=Stream("stdin", MEBIBYTE)))
    harness.run(replace(harness.launch(""), argv=("/nonexistent",)))
    harness.run(harness.launch(f"sleep {FOREVER} & exit 0", linger=AT_ONCE))
    assert set(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


# Cancelling.


def throw_when_told(harness: Harness) -> threading.Thread:
    """Throw the cancellation when the body has opened and closed the fifo `tell`."""
    os.mkfifo(harness.folder / "tell")

    def wait_and_throw() -> None:
        (harness.folder / "tell").read_bytes()
        harness.cancellation.throw()

    thread = threading.Thread(target=wait_and_throw, daemon=True)
    thread.start()
    return thread


def test_cancelling_kills_the_tree_and_is_raised(harness: Harness) -> None:
    thread = throw_when_told(harness)
    body = f"echo $$ >shell; (setsid sh -c 'echo $$ >child; : >tell; exec sleep {FOREVER}' &); exec sleep {FOREVER}"
    with pytest.raises(CancelledError):
        harness.run(body)
    thread.join()
    assert not psutil.pid_exists(harness.pid("shell"))
    assert not psutil.pid_exists(harness.pid("child"))


def test_cancelling_ends_the_wait_for_what_the_shell_left(harness: Harness) -> None:
    thread = throw_when_told(harness)
    body = f"mkfifo end; sh -c 'read -r _ <end; echo $$ >child; : >tell; exec sleep {FOREVER}' & exec 9>end; exit 7"
    with pytest.raises(CancelledError):
        harness.run(body)
    thread.join()
    assert not psutil.pid_exists(harness.pid("child"))


def test_what_is_cancelled_already_starts_no_long_work(harness: Harness) -> None:
    harness.cancellation.throw()
    with pytest.raises(CancelledError):
        harness.run(f"exec sleep {FOREVER}")


# What the harness's own process lends to its children.

RUN_BODY = """
import os, sys
from contextlib import closing, nullcontext
from pathlib import Path
from conformance.model import Seconds
from conformance.payload import EMPTY
from conformance.process.launch import TOKEN_VARIABLE, Cancellation, Launch
from conformance.process.parent import prepared_for_children
from conformance.process.posix import run

prepared, body = sys.argv[1:]
environment = {"PATH": os.environ["PATH"], TOKEN_VARIABLE: "x"}
with closing(Cancellation()) as cancellation, prepared_for_children() if prepared == "prepared" else nullcontext():
    launch = Launch(("/bin/sh", "-c", body), environment, Path.cwd(), EMPTY, None, None, Seconds(120), Seconds(120))
    print(run(launch, cancellation).status)
"""


IGNORE_AND_EXEC = """
import os, signal, sys
signal.signal(signal.Signals[sys.argv[1]], signal.SIG_IGN)
os.execv(sys.argv[2], sys.argv[2:])
"""


def status_under(ignored: str, prepared: str, body: str) -> str:
    """Run `body` below a Python that was started with the signal `ignored` ignored, and return its status."""
    ignoring = [sys.executable, "-I", "-S", "-c", IGNORE_AND_EXEC, f"SIG{ignored}"]
    start = [*ignoring, sys.executable, "-c", RUN_BODY, prepared, body]
    return subprocess.run(start, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", ["INT", "QUIT", "HUP", "TERM"])
def test_a_signal_that_is_ignored_on_entry_is_not_ignored_by_hooks(name: str) -> None:
    body = f"ulimit -c 0; kill -{name} $$; exit 5"
    assert status_under(name, "bare", body) == "exited(5)", "without preparation the hook inherits it"
    assert status_under(name, "prepared", body) == str(Signalled(signal.Signals[f"SIG{name}"]))


def test_exit_codes_are_kept_where_sigchld_is_ignored_on_entry() -> None:
    assert status_under("CHLD", "prepared", "exit 7") == "exited(7)"


@pytest.mark.parametrize("prepared", ["bare", "prepared"])
def test_a_signal_that_is_blocked_on_entry_is_not_blocked_in_hooks(prepared: str) -> None:
    block = (
        "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    body = "kill -TERM $$; exit 5"
    command = [sys.executable, "-I", "-S", "-c", block, sys.executable, "-c", RUN_BODY, prepared, body]
    status = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert status == ("exited(5)" if prepared == "bare" else str(Signalled(signal.SIGTERM)))


def test_preparing_is_undone() -> None:
    def ignore_nothing(number: int, frame: object) -> None: ...

    before = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    was_subreaper = is_subreaper()
    try:
        be_subreaper(0)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGUSR2, ignore_nothing)
        with prepared_for_children():
            assert signal.getsignal(signal.SIGUSR1) is not signal.SIG_IGN
            assert signal.getsignal(signal.SIGUSR2) is ignore_nothing
            os.kill(os.getpid(), signal.SIGUSR1)  # is still without effect
            assert is_subreaper() == (sys.platform == "linux")
            with prepared_for_children():
                pass
            assert is_subreaper() == (sys.platform == "linux"), "an inner preparation leaves the outer one alone"
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGUSR2) is ignore_nothing
        assert not is_subreaper()
    finally:
        be_subreaper(was_subreaper)
        for number, handler in before.items():
            signal.signal(number, handler)


def be_subreaper(value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)


def is_subreaper() -> bool:
    if sys.platform != "linux":
        return False
    value = ctypes.c_int()
    ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(value), 0, 0, 0)
    return bool(value.value)
