"""What an adapter is asked to run when it is checked, in the words of each dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BINARY = b"\xff\x00\n"
LARGE_BYTES = 1024 * 1024
VARIABLE = "CONFORMANCE_CHECK"
OWN = "CONFORMANCE_CHECK_OF_THE_ADAPTER"
"""A variable that the adapter is started with, and no body may see."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """Small programs that need nothing but the shell, and the commands that every system has."""

    output: str
    """Prints two lines, of which the last has no end."""
    both: str
    """Prints `out` to standard output and `err` to standard error."""
    copy: str
    """Copies standard input to standard output."""
    variable: str
    """Prints the value of `VARIABLE`, without an end of line."""
    own: str
    """Prints the value of `OWN`, without an end of line."""
    directory: str
    """Prints the working directory, without an end of line."""
    binary: str
    """Prints `BINARY`."""
    large: str
    """Prints `LARGE_BYTES` times `0`."""
    killed: str
    """Kills its own shell."""
    hanging: str
    """Waits for an hour."""
    remember: str
    """Sets a variable of the shell to `kept`."""
    recall: str
    """Prints that variable or, where it is not set, `fresh`."""


_POSIX = Bodies(
    output="printf 'a\\nb'",
    both="echo out; echo err >&2",
    copy="cat",
    variable=f'printf %s "${VARIABLE}"',
    own=f'printf %s "${OWN}"',
    directory="pwd -P | tr -d '\\n'",
    binary="printf '\\377\\000\\n'",
    large=f"printf '%0{LARGE_BYTES}d' 0",
    killed="kill -KILL $$",
    hanging="sleep 3600",
    remember="conformance_check=kept",
    recall='printf %s "${conformance_check-fresh}"',
)
_POWERSHELL = Bodies(
    output='[Console]::Out.Write("a`nb")',
    both='[Console]::Out.Write("out`n"); [Console]::Error.Write("err`n")',
    copy="[Console]::OpenStandardInput().CopyTo([Console]::OpenStandardOutput())",
    variable=f"[Console]::Out.Write($env:{VARIABLE})",
    own=f"[Console]::Out.Write($env:{OWN})",
    directory="[Console]::Out.Write((Get-Location).Path)",
    binary="[Console]::OpenStandardOutput().Write([byte[]](255, 0, 10), 0, 3)",
    large=f"[Console]::Out.Write('0' * {LARGE_BYTES})",
    killed="[Diagnostics.Process]::GetCurrentProcess().Kill()",
    hanging="Start-Sleep 3600",
    remember="$global:conformanceCheck = 'kept'",
    recall="[Console]::Out.Write($(if ($global:conformanceCheck) { $global:conformanceCheck } else { 'fresh' }))",
)

BODIES: Mapping[str, Bodies] = {"sh": _POSIX, "bash": _POSIX, "pwsh": _POWERSHELL}
"""By dialect."""
