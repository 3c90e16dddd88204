"""Find and kill the processes that a hook left behind, wherever they went.

While a hook runs, its tree hangs below its first process. When a process dies, Linux hands its children to the nearest
"subreaper", which the harness makes itself; so whatever is left of a tree is then a child of the harness, known by its
session, by the token in its environment or by its working directory. Elsewhere all processes are searched for these.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import psutil

from conformance.process.launch import Launch
from conformance.process.leftovers import token_of

assert sys.platform != "win32"

POLL_SECONDS = 0.005
DEATH_SECONDS = 10.0
FLAGS = 6
"""Which field after the name holds the flags in /proc/PID/stat (proc_pid_stat(5))."""
PF_EXITING = 0x4
"""Source: https://github.com/torvalds/linux/blob/master/include/linux/sched.h"""


def descendants(leader: int) -> list[psutil.Process]:
    """Return the live processes below `leader` (a pid), without itself."""
    if not _may_have_children(leader):
        return []
    try:
        return [process for process in psutil.Process(leader).children(recursive=True) if _alive(process)]
    except psutil.NoSuchProcess:
        return []


def _may_have_children(leader: int) -> bool:
    """Ask Linux for the children of one process, which costs a hundredth of a look at all processes."""
    if sys.platform != "linux":
        return True
    try:
        threads = os.listdir(f"/proc/{leader}/task")  # noqa: PTH208 - a Path costs as much again
        return any(_children_of_thread(f"/proc/{leader}/task/{thread}") for thread in threads)
    except FileNotFoundError:
        return True


def strays(leader: int, *launches: Launch) -> list[psutil.Process]:
    """Return the live processes that the tree of `launches`, begun by `leader` (a pid), left outside of it."""
    found: dict[int, psutil.Process] = {}
    for process in _candidates(leader):
        if _belongs(process, leader, launches):
            found[process.pid] = process
            found.update((below.pid, below) for below in descendants(process.pid))
    return [process for process in found.values() if _alive(process)]


def rest(leader: int, *launches: Launch) -> list[psutil.Process]:
    """Return the live processes of the tree of `launches`, without `leader` (a pid) itself."""
    return [*descendants(leader), *strays(leader, *launches)]


def with_token(leader: int, body: Launch) -> list[psutil.Process]:
    """Return the live processes that have the token of `body`, below `leader` (a pid) or left to the harness."""
    return [process for process in (*descendants(leader), *_candidates(leader)) if token_of(process) == body.token]


def _candidates(leader: int) -> Iterator[psutil.Process]:
    for pid in _own_children() if sys.platform == "linux" else psutil.pids():
        if pid == leader:
            continue
        with contextlib.suppress(psutil.NoSuchProcess):
            yield psutil.Process(pid)


def _own_children() -> list[int]:
    """Return the pids of the main thread's children, from /proc in microseconds where the kernel offers that.

    It is the main thread to which Linux hands the orphans of a subreaper (`find_alive_thread` in kernel/exit.c).
    """
    try:
        return [int(child) for child in _children_of_thread(f"/proc/self/task/{os.getpid()}").split()]
    except FileNotFoundError:
        return [child.pid for child in psutil.Process().children()]


def _children_of_thread(folder: str) -> bytes:
    with open(f"{folder}/children", "rb", buffering=0) as children:  # noqa: PTH123 - as above
        return children.read()


def _belongs(process: psutil.Process, leader: int, launches: Iterable[Launch]) -> bool:
    """Tell whether `process` is in the session of `leader`, has a token, or works in a directory of `launches`.

    A daemon leaves the session and `env -i` drops the token; one that changes its directory as well is out of reach.
    Who has the token of another launch is that one's, wherever it works: a session may stay where a body has been, and
    its directory may be lent to the next.
    """
    with contextlib.suppress(OSError):
        if os.getsid(process.pid) == leader:
            return True
    token = token_of(process)
    if token is not None:
        return any(token == launch.token for launch in launches)
    with contextlib.suppress(psutil.Error, OSError):
        directory = Path(process.cwd())
        return any(directory.is_relative_to(launch.directory.resolve()) for launch in launches)
    return False


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def kill_tree(leader: int, *launches: Launch) -> set[int]:
    """Kill `leader`, everything below it and every stray, wait until all of them are gone, and return their pids.

    A process may fork while it is being killed; its child becomes a stray, so the search goes on until it finds none.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    return kill_rest(leader, *launches)


def kill_rest(leader: int, *launches: Launch) -> set[int]:
    """Kill what `rest` finds until it finds nothing more, and return the pids."""
    return kill_until_none(partial(rest, leader, *launches))


def kill_until_none(find: Callable[[], list[psutil.Process]]) -> set[int]:
    """Kill what `find` finds until it finds nothing more, twice in a row, and return the pids.

    One look may miss a process whose parent dies meanwhile: it has left one list and does not stand on the other yet.
    """
    seen: set[int] = set()
    end = time.monotonic() + DEATH_SECONDS
    looks_in_vain = 0
    while looks_in_vain < 2 and time.monotonic() < end:
        remaining = find()
        looks_in_vain = 0 if remaining else looks_in_vain + 1
        if remaining:
            seen.update(process.pid for process in remaining)
            _kill(remaining)
            time.sleep(POLL_SECONDS)
    return seen


def collect(leader: int, pids: Iterable[int]) -> None:
    """Wait until `leader` has ended, and collect the dead of its tree: those of its session, and `pids`.

    The dead become the harness's children when their parents end. Nobody else is waited for, since the harness, or the
    pytest process that it lives in, may have other children; so one that left the session and ended before it was seen
    stays in the process table as long as the harness.
    """
    if sys.platform == "linux":
        os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
        collect_rest(leader, pids)


def collect_rest(leader: int, pids: Iterable[int]) -> None:
    """Collect the dead of the tree of `leader`, which may still run: those of its session, and `pids`.

    When one is collected, its own dead may have become the harness's children; so it is tried until there are no more.
    """
    if sys.platform == "linux":
        while any(_collected(pid) for pid in {*pids, *_own_zombies_in_session(leader)}):
            pass


def collect_adopted() -> None:
    """Collect the dead that were handed to the harness out of sessions that no child of its own leads.

    What was started in this process is in its session or leads one itself. So these are orphans, such as an adapter
    leaves when it kills a tree, and nobody waits for them.
    """
    if sys.platform == "linux":
        children = _own_children()
        theirs = {os.getsid(0), *children}
        for pid in children:
            with contextlib.suppress(psutil.Error, OSError):
                if os.getsid(pid) not in theirs and psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                    _collected(pid)


def _collected(pid: int) -> bool:
    """Collect a dead or dying child of the harness, and tell whether there was one."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if not _is_dying(pid):
                return False
            time.sleep(POLL_SECONDS)
        return True
    return False


def _is_dying(pid: int) -> bool:
    """Tell whether a process has begun to end: it closes its pipes a moment before it can be collected."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return bool(int(stat.rpartition(b")")[2].split()[FLAGS]) & PF_EXITING)


def _kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill()


def _own_zombies_in_session(leader: int) -> Iterator[int]:
    """Yield the dead of the tree that ended by themselves after their parents, and were handed to the harness."""
    for pid in _own_children():
        with contextlib.suppress(psutil.Error, OSError):
            if pid != leader and os.getsid(pid) == leader and psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                yield pid
