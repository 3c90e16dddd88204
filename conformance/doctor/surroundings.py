"""What this process was started with and into: signals, PATH, variables, limits, load, locale."""

from __future__ import annotations

import locale
import math
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.doctor.finding import Finding, State
from conformance.status import signal_name

if sys.platform != "win32":
    import resource

STOPPING = ("SIGINT", "SIGTERM")
PYTHONS_OWN = ("SIGPIPE", "SIGXFSZ")
"""What Python itself ignores, and gives back to its children."""
NOT_PASSED_ON = (
    "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "TERM", "NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR",
    "LC_ALL", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PSModulePath", "PYTHONPATH", "__PSLockdownPolicy",
)  # fmt: skip
"""Variables that change what shells do, where a hook gets them."""
BUSY = 3.0
"""How many processes may wait for each processor before a deadline is at risk."""
LOCALE = "C.UTF-8"


@dataclass(frozen=True, slots=True)
class Dispositions:
    """What this process was started to do with signals, by name."""

    ignored: tuple[str, ...]
    blocked: tuple[str, ...]


def dispositions() -> Dispositions:
    """Return the signals that are ignored or blocked now."""
    ignored = [number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN]
    blocked: set[int] = set()
    if sys.platform != "win32":
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    names = [signal_name(number) for number in sorted(ignored)]
    return Dispositions(
        tuple(name for name in names if name not in PYTHONS_OWN), tuple(signal_name(number) for number in blocked)
    )


def signals_finding(entry: Dispositions) -> Finding:
    """Judge the signals as they were on `entry`. Hooks get them all back; whether they do, the smoke test sees."""
    parts = [
        f"{', '.join(names)} {'are' if len(names) > 1 else 'is'} {deed}"
        for names, deed in ((entry.ignored, "ignored"), (entry.blocked, "blocked"))
        if names
    ]
    if not parts:
        return Finding("surroundings/signals", State.OK, "none is ignored or blocked")
    deaf = [name for name in STOPPING if name in (*entry.ignored, *entry.blocked)]
    if not deaf:
        return Finding("surroundings/signals", State.OK, f"{'; '.join(parts)}, which hooks do not inherit")
    why = (
        f"a run cannot be stopped with {' or '.join(deaf)} (Ctrl-C), as after nohup or & in a script; "
        "hooks do not inherit it, so results hold"
    )
    names = ",".join(name.removeprefix("SIG") for name in deaf)
    mend = f"env --default-signal={names} conformance run" if set(deaf) <= set(entry.ignored) else _IN_FRONT
    return Finding("surroundings/signals", State.WARNING, "; ".join(parts), why, mend)


_IN_FRONT = "start conformance from a shell in the foreground"


def path_finding(path: str | None) -> Finding:
    """Judge the search path, which hooks get as it is."""
    if path is None:
        why = "shells are looked for, and hooks look for programs, in the system's default folders alone"
        return Finding(_PATH, State.WARNING, "PATH is not set", why, f"export PATH={os.defpath}")
    folders = path.split(os.pathsep)
    relative = [folder for folder in folders if not Path(folder).is_absolute()]
    if relative:
        shown = ", ".join(folder or "an empty entry" for folder in dict.fromkeys(relative))
        why = "a hook runs in a folder of its own, so it finds other programs there than were found here"
        absolute = os.pathsep.join(folder for folder in folders if folder not in relative)
        return Finding(_PATH, State.WARNING, f"PATH has relative folders: {shown}", why, f"export PATH={absolute}")
    missing = sum(not Path(folder).is_dir() for folder in folders)
    return Finding(_PATH, State.OK, f"{len(folders)} folders" + (f", {missing} of them missing" if missing else ""))


_PATH = "surroundings/path"


def variables_finding(environment: Mapping[str, str], passed_on: Mapping[str, str]) -> Finding:
    """Tell which of the caller's variables that change shells are kept from hooks."""
    kept = [name for name in NOT_PASSED_ON if name in environment and name not in passed_on]
    yours = f"; not your {', '.join(kept)}" if kept else ""
    return Finding("surroundings/variables", State.OK, f"hooks get {', '.join(sorted(passed_on))}{yours}")


@dataclass(frozen=True, slots=True)
class Limit:
    """The least that a resource limit may be, and what happens below it."""

    name: str
    """As in the module `resource`, without `RLIMIT_`."""
    option: str
    """The option of the shell's `ulimit`."""
    unit: int
    """What `ulimit` counts in, in units of the system's own."""
    least: int
    why: str

    @property
    def mend(self) -> str:
        """The command that raises it, as far as the hard limit lets it."""
        return f"ulimit {self.option} {self.least // self.unit}"


# Measured with PowerShell 7.6.9 on Linux: it does not start with 64 files or with 2 GB of addresses.
LIMITS = (
    Limit("NOFILE", "-n", 1, 256, "pwsh opens more than 64 files to start, and conformance some 10 for each job"),
    Limit("NPROC", "-u", 1, 256, "it counts all processes and threads of the user, and a pwsh alone has some 30"),
    Limit("CPU", "-t", 1, 600, "a long run, or a pwsh that computes, is ended by a signal that no hook sent"),
    Limit("AS", "-v", 1024, 8 << 30, "pwsh reserves addresses for gigabytes, and does not start without"),
    Limit("FSIZE", "-f", 1024, 64 << 20, "pwsh does not start where it can write no large file, and reports are cut"),
)


def limits_in_force() -> dict[str, int]:
    """Return the resource limits that hold here, without those that are infinite."""
    found: dict[str, int] = {}
    if sys.platform != "win32":
        for limit in (limit for limit in LIMITS if hasattr(resource, f"RLIMIT_{limit.name}")):
            soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{limit.name}"))
            if soft != resource.RLIM_INFINITY:
                found[limit.name] = soft
    return found


def limit_findings(in_force: Mapping[str, int]) -> Iterator[Finding]:
    """Judge the resource limits; children inherit them."""
    low = [limit for limit in LIMITS if in_force.get(limit.name, limit.least) < limit.least]
    for limit in low:
        found = f"ulimit {limit.option} is {in_force[limit.name] // limit.unit}"
        yield Finding(f"surroundings/limit-{limit.name.lower()}", State.WARNING, found, limit.why, limit.mend)
    if not low:
        files = f", {in_force['NOFILE']} open files" if "NOFILE" in in_force else ""
        yield Finding("surroundings/limits", State.OK, f"high enough{files}")


def load_finding(load: float, processors: int, time_scale: float) -> Finding:
    """Judge how many processes have been waiting for the `processors` in the last minute, on average."""
    found = f"load {load:.1f} on {processors} processor{'s' if processors > 1 else ''}"
    if load / processors <= BUSY * time_scale:
        return Finding("surroundings/load", State.OK, found)
    why = "a hook that waits for a processor may meet its deadline, and one that hangs may be taken for a slow one"
    mend = f"conformance run --timeout-scale {math.ceil(load / processors)}"
    return Finding("surroundings/load", State.WARNING, found, why, mend)


def locale_finding(known: Sequence[str]) -> Finding:
    """Judge the locale that hooks get, where the system tells which of those that matter it has."""
    if LOCALE in known:
        return Finding("surroundings/locale", State.OK, f"{LOCALE}, which hooks get, is there")
    why = "shells fall back to single bytes, so fixtures with characters beyond ASCII may differ from what was seen"
    mend = f"localedef -i C -f UTF-8 {LOCALE}  # as root"
    return Finding("surroundings/locale", State.WARNING, f"{LOCALE}, which hooks get, is missing", why, mend)


def known_locales() -> tuple[str, ...]:
    """Return the locale that hooks get, where this system has it."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, LOCALE)
    except locale.Error:
        return ()
    else:
        return (LOCALE,)
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
