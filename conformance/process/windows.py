"""Launches on Windows: a job object holds the whole tree, and an exit code is the exact unsigned 32-bit number."""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PureWindowsPath

import psutil

from conformance.errors import HarnessError
from conformance.process.conversation import LineConversation
from conformance.process.held_in_job import HeldInJob
from conformance.process.job_object import JobObject
from conformance.process.kernel32 import load_kernel32
from conformance.process.launch import Cancellation, Completed, Launch
from conformance.process.talk import Session
from conformance.process.threaded import run_in_job
from conformance.status import FailedToStart

CREATE_SUSPENDED = 0x00000004
CREATE_NEW_PROCESS_GROUP = 0x00000200
CREATE_NO_WINDOW = 0x08000000
SEM_FAILCRITICALERRORS = 0x0001
SEM_NOGPFAULTERRORBOX = 0x0002
ERROR_FILENAME_EXCED_RANGE = 206
CONSOLE_HOST = "conhost.exe"


def run(launch: Launch, cancellation: Cancellation) -> Completed:
    """Start `launch` and return what came of it, when nothing of its tree runs any more.

    Raises CancelledError when `cancellation` is thrown while it runs; the tree is killed then as well.
    """
    return run_in_job(launch, cancellation, open_job, failed_to_start)


def open_session(launch: Launch, cancellation: Cancellation) -> contextlib.AbstractContextManager[Session]:
    """Raise HarnessError: the local runner says that there are no sessions here before any is opened."""
    raise HarnessError(f"a session of {launch.argv[0]} cannot be held on Windows yet. Leave its route out.")


@contextlib.contextmanager
def open_conversation(launch: Launch, cancellation: Cancellation) -> Iterator[LineConversation]:
    """Start the program of `launch` to talk with it, and end the job that holds all of it on leaving.

    Raises OSError where Windows refuses to start it, HarnessError where no job can hold it.
    """
    with (
        open_job() as job,
        contextlib.closing(LineConversation(HeldInJob(launch, job), cancellation)) as conversation,
    ):
        yield conversation


@contextlib.contextmanager
def open_job() -> Iterator[WindowsJob]:
    """Open a job for one process.

    Raises HarnessError where Windows refuses.
    """
    try:
        job = JobObject(load_kernel32())
    except OSError as error:
        raise HarnessError(
            f"no job object can be made to hold a hook's processes: {error}. Free some memory."
        ) from error
    with contextlib.closing(job):
        yield WindowsJob(job)


class WindowsJob:
    """Starts a process inside a job object."""

    def __init__(self, job: JobObject) -> None:
        self._job = job

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        """Start the process in the job before it can start another one.

        Its console is one of its own that nobody sees, so that Ctrl-C at the harness does not reach it. Of the handles
        of the harness it inherits the three pipes alone: with close_fds, which is the default, subprocess hands over a
        list of them (https://docs.python.org/3/library/subprocess.html#subprocess.STARTUPINFO.lpAttributeList).

        Raises OSError where Windows refuses to start the program, HarnessError where the job cannot hold it.
        """
        environment = windows_environment(launch.environment)
        process = subprocess.Popen(
            command_line((found_program(launch.argv[0], environment), *launch.argv[1:])),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.directory,
            env=environment,
            creationflags=CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW,
            bufsize=0,
        )
        with contextlib.ExitStack() as undo:
            undo.enter_context(process)
            undo.callback(process.kill)
            try:
                self._job.assign(process.pid)
                psutil.Process(process.pid).resume()
            except (OSError, psutil.Error) as error:
                raise HarnessError(
                    f"the process of a hook cannot be put into a job object: {error}. "
                    "Run conformance outside of the sandbox or service that forbids it."
                ) from error
            undo.pop_all()
        return process

    def others(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
        """Return what runs in the job beside `process`, without the hosts of its consoles, which end by themselves."""
        found = []
        for pid in self._job.pids():
            with contextlib.suppress(psutil.Error):
                other = psutil.Process(pid)
                if pid != process.pid and other.name().lower() != CONSOLE_HOST:
                    found.append(other)
        return found

    def kill(self) -> None:
        """Kill all that runs in the job."""
        self._job.terminate()


def windows_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` with the names in one case, since Windows takes `Path` and `PATH` for the same variable."""
    return {name.upper(): value for name, value in environment.items()}


def found_program(program: str, environment: Mapping[str, str]) -> str:
    """Return where `program` is on the hook's own PATH, as on other systems; Windows would take the harness's."""
    return shutil.which(program, path=environment.get("PATH")) or program


def command_line(argv: Sequence[str]) -> str:
    """Return the one string that a program of Windows gets as its arguments.

    Nearly all programs split it by the rules of Microsoft's C library, which subprocess knows. cmd does not: what
    follows its /c is the command as it stands, between two quotes that it takes off, and a backslash before a quote
    means nothing. Node's `shell: true` hands over just this line.
    Source: https://learn.microsoft.com/windows-server/administration/windows-commands/cmd
    """
    words = list(argv)
    switches = [word.lower() for word in words]
    if PureWindowsPath(words[0]).stem.lower() != "cmd" or "/c" not in switches:
        return subprocess.list2cmdline(words)
    body = switches.index("/c") + 1
    return f'{subprocess.list2cmdline(words[:body])} "{" ".join(words[body:])}"'


def failed_to_start(error: OSError) -> FailedToStart:
    """Return what Windows said: a command line that is too long is named as on other systems."""
    number = getattr(error, "winerror", None)
    reason = error.strerror or str(error)
    if number == ERROR_FILENAME_EXCED_RANGE:
        return FailedToStart(errno.E2BIG, f"[WinError {number}] {reason}")
    return FailedToStart(error.errno or 0, f"[WinError {number}] {reason}" if number else reason)


@contextlib.contextmanager
def prepared_for_children() -> Iterator[None]:
    """Make this process a good parent for hooks, and undo it on leaving.

    A program that crashes would open a dialog and wait for somebody to close it; hooks inherit that it does not.
    Source: https://learn.microsoft.com/windows/win32/api/errhandlingapi/nf-errhandlingapi-seterrormode
    """
    kernel32 = load_kernel32()
    before = kernel32.SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX)
    try:
        yield
    finally:
        kernel32.SetErrorMode(before)
