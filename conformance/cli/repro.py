"""`conformance repro ID`: a script that shows what a case shows, without this harness."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import click

from conformance.campaign import local_runner
from conformance.cli.options import case_options, load_case
from conformance.engine import terms_of
from conformance.errors import HarnessError
from conformance.repro import recipe_of
from conformance.repro.bash import ScriptNatives, bash_script

PASSED_ON = ("PATH", "HOME", "TMPDIR", "CONFORMANCE_PWSH", "DOTNET_ROOT")
"""What the script may know of where it runs, as it may on another machine."""


@click.command("repro")
@case_options
@click.option("--run", "run_it", is_flag=True, help="Run the script under plain bash instead, and exit as it does.")
def repro_command(
    id_: str,
    matrices: tuple[str, ...],
    route_files: tuple[Path, ...],
    timeout_scale: float,
    run_it: bool,  # noqa: FBT001 - click passes options so
) -> int:
    """Print a script that shows what the case ID shows, on any machine with its shells and without this harness.

    The script exits 0 when the contract was kept, 1 when it was broken, and 3 when a program is missing.
    """
    catalog, case = load_case(id_, matrices, route_files)
    with local_runner() as (runner, _):
        key = runner.environment_key(case.route)
    script = bash_script(recipe_of(case, terms_of(catalog, case, key), key, timeout_scale, ScriptNatives))
    if run_it:
        return _run(script)
    click.echo(script, nl=False)
    return 0


def _run(script: str) -> int:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        path = Path(folder, "repro.bash")
        path.write_text(script, encoding="utf-8", newline="\n")
        try:
            completed = subprocess.run(
                ["bash", "--noprofile", "--norc", path], env=environment, stdin=subprocess.DEVNULL, check=False
            )
        except OSError as error:
            raise HarnessError(f"bash cannot be started: {error.strerror}. Install it, or mend PATH.") from error
    return completed.returncode
