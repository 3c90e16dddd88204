"""The ways in which Python programs launch shell code: subprocess, asyncio, pexpect, each as its documentation has it.

Usage: python launchers.py MODE SHELL, where SHELL is the path of bash or sh. Each mode has the API's own defaults and
its own time limit, and what the user gets back decides: what the API does not tell apart is not told apart here either.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import protocol
from protocol import Outcome, Request

GRACE_SECONDS = 6.0

Launcher = Callable[[str, Request], Outcome]


def command_line(shell: str, body: str) -> list[str]:
    """Return the words that have `shell` run `body`, without the user's start-up files."""
    return [shell, *(["--noprofile", "--norc"] if Path(shell).name == "bash" else []), "-c", body]


def place(request: Request) -> dict[str, Any]:
    """Return the arguments that say where a body runs; all of subprocess and asyncio call them so."""
    return {"cwd": request.cwd, "env": request.environment}


def status_of(returncode: int | None) -> protocol.Status:
    """Return what a returncode means by the documentation: -N is a death by signal N."""
    if returncode is None:
        return protocol.not_reported("returncode is None")
    return protocol.exited(returncode) if returncode >= 0 else protocol.signalled(-returncode)


def run(shell: str, request: Request) -> Outcome:
    """subprocess.run with everything captured."""
    return _run(command_line(shell, request.body), request, {})


def run_in_shell(shell: str, request: Request) -> Outcome:
    """subprocess.run with shell=True."""
    return _run(request.body, request, {"shell": True, "executable": shell})


def _run(command: str | list[str], request: Request, more: dict[str, Any]) -> Outcome:
    try:
        result = subprocess.run(
            command, input=request.stdin, capture_output=True, timeout=request.timeout, **place(request), **more
        )
    except subprocess.TimeoutExpired as expired:
        return Outcome(protocol.timed_out(), expired.stdout or b"", expired.stderr or b"")
    return Outcome(status_of(result.returncode), result.stdout, result.stderr)


def run_text(shell: str, request: Request) -> Outcome:
    """subprocess.run with text=True: what goes in and what comes out are decoded in the locale's encoding."""
    try:
        result = subprocess.run(
            command_line(shell, request.body),
            input=request.stdin.decode(),
            capture_output=True,
            text=True,
            timeout=request.timeout,
            **place(request),
        )
    except subprocess.TimeoutExpired as expired:  # whose output is bytes all the same
        return Outcome(protocol.timed_out(), expired.stdout or b"", expired.stderr or b"")
    except UnicodeDecodeError as error:
        return Outcome(protocol.not_reported(f"UnicodeDecodeError: {error}"))
    return Outcome(status_of(result.returncode), result.stdout.encode(), result.stderr.encode())


def communicate(shell: str, request: Request) -> Outcome:
    """Popen, communicate, and on a time-out kill and communicate again, as the documentation shows."""
    process = subprocess.Popen(
        command_line(shell, request.body),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **place(request),
    )
    try:
        stdout, stderr = process.communicate(request.stdin, timeout=request.timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        return Outcome(protocol.timed_out(), *process.communicate())
    return Outcome(status_of(process.returncode), stdout, stderr)


def run_asyncio(shell: str, request: Request) -> Outcome:
    """asyncio.create_subprocess_exec, with wait_for around communicate."""
    return asyncio.run(_communicate(shell, request))


async def _communicate(shell: str, request: Request) -> Outcome:
    process = await asyncio.create_subprocess_exec(
        *command_line(shell, request.body),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **place(request),
    )
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(request.stdin), request.timeout)
    except TimeoutError:
        process.kill()  # before 3.12.4, wait() would not return either while a child of the shell holds the pipes
        return Outcome(protocol.timed_out())
    return Outcome(status_of(process.returncode), stdout, stderr)


def run_pexpect(shell: str, request: Request) -> Outcome:
    """pexpect.run with withexitstatus: a terminal of its own, both outputs in one."""
    import pexpect

    output, code = pexpect.run(
        shlex.join(command_line(shell, request.body)), withexitstatus=True, timeout=request.timeout, **place(request)
    )
    status = protocol.not_reported("pexpect.run returns None for the exit status") if code is None else status_of(code)
    return Outcome(status, output)


def within_limit(launch: Callable[[Request], Outcome], request: Request) -> Outcome:
    """Return what `launch` returns, or say that it does not: one that waits for the pipes ends with their last holder.

    The harness kills what is left of the body, so the thread ends as well.
    """
    answers: SimpleQueue[Outcome | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            answers.put(launch(request))
        except BaseException as error:  # it is raised where it is waited for
            answers.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        answer = answers.get(timeout=request.timeout + GRACE_SECONDS)
    except Empty:
        reason = f"the API has not answered within {GRACE_SECONDS:g} seconds after its timeout"
        return Outcome(protocol.not_reported(reason))
    if isinstance(answer, OSError):
        return Outcome(protocol.failed_to_start(answer))
    if isinstance(answer, BaseException):
        raise answer
    return answer


FULL = {
    "stdin": "bytes",
    "output": "bytes",
    "stderr": "separate",
    "env": True,
    "cwd": True,
    "statuses": ["exited", "signalled", "timed_out", "failed_to_start"],
}
IN_A_TERMINAL = {**FULL, "stdin": "none", "stderr": "merged"}
MODES: dict[str, tuple[str, dict[str, Any], Launcher]] = {
    "python-run": ("subprocess.run", FULL, run),
    "python-shell": ("subprocess.run with shell=True", FULL, run_in_shell),
    "python-text": ("subprocess.run with text=True", {**FULL, "stdin": "text"}, run_text),
    "python-communicate": ("subprocess.Popen.communicate", FULL, communicate),
    "python-asyncio": ("asyncio.create_subprocess_exec", FULL, run_asyncio),
    "pexpect": ("pexpect.run", IN_A_TERMINAL, run_pexpect),
}


def main(mode: str, shell: str) -> None:
    """Serve `mode`, whose bodies run in `shell`."""
    name, capabilities, launch = MODES[mode]
    version = platform.python_version()
    if mode == "pexpect":
        try:
            import pexpect
        except ImportError:
            protocol.decline(name, "pexpect is not installed for this Python. Install it: pip install pexpect")
            return
        version = pexpect.__version__
    protocol.serve(name, version, capabilities, partial(within_limit, partial(launch, shell)))
    sys.stderr.flush()
    os._exit(0)  # a thread that still waits must not hold the process


if __name__ == "__main__":
    main(*sys.argv[1:])
