"""`conformance repro ID`: a script that shows what a case shows, without this harness."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import click

from conformance.campaign import local_runner
from conformance.cli.options import case_options, load_case
from conformance.engine import terms_of
from conformance.errors import HarnessError
from conformance.repro.languages import LANGUAGES, language_on, script_of
from conformance.runners.local import local_os, public_path
from conformance.runners.local_windows import OF_THE_MACHINE
from conformance.signals import answering

PASSED_ON = ("PATH", "HOME", "TMPDIR", "CONFORMANCE_PWSH", "DOTNET_ROOT", "TEMP", *OF_THE_MACHINE)
"""What the script may know of where it runs, as it may on another machine."""


@click.command("repro")
@case_options
@click.option(
    "--shell",
    type=click.Choice(LANGUAGES),
    default=language_on(local_os()),
    show_default=True,
    help="The shell that the script is for, whatever shell the case is of.",
)
@click.option("--run", "run_it", is_flag=True, help="Run the script in a plain shell instead, and exit as it does.")
def repro_command(
    id_: str,
    matrices: tuple[str, ...],
    route_files: tuple[Path, ...],
    timeout_scale: float,
    shell: str,
    run_it: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """Print a script that shows what the case ID shows, on any machine with its shells and without this harness.

    The script exits 0 when the contract was kept, 1 when it was broken, and 3 when a program is missing.
    """
    catalog, case = load_case(id_, matrices, route_files)
    with local_runner() as (runner, _):
        key = runner.environment_key(case.route)
    script = script_of(case, terms_of(catalog, case, key), key, timeout_scale, shell)
    if run_it:
        return _run(script, shell)
    click.echo(script, nl=False)
    return 0


def _run(script: str, shell: str) -> int:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        command, name = _command(shell)
        path = Path(folder, name)
        path.write_text(script, encoding="utf-8", newline="\n")
        try:
            process = subprocess.Popen([*command, path], env=environment, stdin=subprocess.DEVNULL)
        except OSError as error:
            program = public_path(command[0])
            raise HarnessError(f"{program} cannot be started: {error.strerror}. Install it, or mend PATH.") from error
        # It has something to clear away, so it decides when to end.
        with process, answering(lambda sent, _: process.send_signal(sent)):
            return process.wait()


def _command(shell: str) -> tuple[list[str], str]:
    if shell == "bash":
        return ["bash", "--noprofile", "--norc"], "repro.bash"
    program = os.environ.get("CONFORMANCE_PWSH") or shutil.which("pwsh") or "powershell"
    return [program, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"], "repro.ps1"
