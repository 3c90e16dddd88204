"""Hosts of pwsh sessions: C# that ships as text, compiled once by the pwsh that loads it, and kept in the cache."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.cache import check_code, code_folder, make_code_folder
from conformance.errors import HarnessError
from conformance.paths import data_folder
from conformance.shells import Shell

COMPILE_SECONDS = 120
PRIVATE_FILE = 0o600
_QUIET = ("-NoLogo", "-NoProfile", "-NonInteractive")


def compiled_host(source: str, pwsh: Shell, environment: Mapping[str, str]) -> Path:
    """Return the assembly that `pwsh` makes of the C# text `source`; it is compiled, in `environment`, if it is new.

    Raises HarnessError where others can change what is kept, where it cannot be kept, or does not compile.
    """
    digest = hashlib.sha256(f"{pwsh.version}\n{source}".encode()).hexdigest()
    with code_folder("pwsh-hosts", "the compiled host of pwsh sessions") as folder:
        host = folder / f"{pwsh.version}-{digest[:32]}.dll"
        if not host.is_symlink() and not host.exists():
            make_code_folder(folder)
            _compile(source, pwsh, environment, host)
        check_code(host)
    return host


def _compile(source: str, pwsh: Shell, environment: Mapping[str, str], host: Path) -> None:
    """Compile beside `host` and rename: what has its name is whole, however many compile at once."""
    with tempfile.TemporaryDirectory(prefix="part-", dir=host.parent) as part:
        text, assembly = Path(part, "host.cs"), Path(part, "host.dll")
        text.write_text(source, encoding="utf-8")
        script = data_folder("matrices") / "pwsh-session-compile.ps1"
        complaint = _complaint([pwsh.path, *_QUIET, "-File", script, text, assembly], environment)
        if complaint is None and not assembly.is_file():
            complaint = "it made no file"
        if complaint is not None:
            raise HarnessError(
                f"the host of pwsh sessions does not compile with {pwsh.path} {pwsh.version}: {complaint}. "
                f"Leave its routes out, or use another pwsh (CONFORMANCE_PWSH)."
            )
        assembly.chmod(PRIVATE_FILE)  # pwsh leaves the mode to the umask
        assembly.replace(host)


def _complaint(command: Sequence[str | Path], environment: Mapping[str, str]) -> str | None:
    """Run the compiler and return the first line of what it complains of, or None."""
    try:
        completed = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMPILE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {COMPILE_SECONDS} seconds"
    except OSError as error:
        return f"it cannot be started: {error.strerror}"
    if completed.returncode == 0:
        return None
    lines = (completed.stderr + completed.stdout).strip().splitlines()
    return lines[0].strip() if lines else f"it exited {completed.returncode} without a word"
