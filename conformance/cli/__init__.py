"""The `conformance` command. Each subcommand is one thin file: parse, call, print."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

import conformance
from conformance.cli.subcommands import Subcommands
from conformance.errors import ConformanceError, HarnessError, InterruptedRunError
from conformance.views.text import printable

COMPLETION_VARIABLE = "_CONFORMANCE_COMPLETE"
"""Set by the shells' completion scripts; the name is the one that click makes of `conformance`."""
READER_WENT_AWAY = 141
"""What a shell shows of a program that SIGPIPE ended, which this one stands in for."""


SUBCOMMANDS = Subcommands(
    {
        "run": "conformance.cli.run:run_command",
        "try": "conformance.cli.try_:try_command",
        "verify": "conformance.cli.verify:verify_command",
        "agree": "conformance.cli.agree:agree_command",
        "fingerprint": "conformance.cli.fingerprint:fingerprint_command",
        "list": "conformance.cli.list_:list_command",
        "show": "conformance.cli.show:show_command",
        "explain": "conformance.cli.explain:explain_command",
        "cite": "conformance.cli.cite:cite_command",
        "repro": "conformance.cli.repro:repro_command",
        "diff": "conformance.cli.diff:diff_command",
        "report": "conformance.cli.report:report_command",
        "merge": "conformance.cli.merge:merge_command",
        "baseline": "conformance.cli.baseline:baseline_command",
        "adapter": "conformance.cli.adapter:adapter_command",
        "init": "conformance.cli.init:init_command",
        "doctor": "conformance.cli.doctor:doctor_command",
        "systems": "conformance.cli.systems:systems_command",
        "schema": "conformance.cli.schema:schema_command",
    }
)


@click.group(commands=SUBCOMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(conformance.__version__, prog_name="conformance")
def group() -> None:
    """Test whether a launcher of shell code keeps a hook's exact exit code and exact bytes.

    Exit codes: 0 all as documented, 1 something differs, 2 usage or a broken file, 3 the harness, a route or a required
    shell is broken, 4 nothing selected, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit with its documented code; errors of the user's are one message, never a traceback."""
    code = _exit_code(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:  # Python would try again when it ends, and put a code of its own in the place of ours
        code = code or _unwritable(error)
        _discard_output()
    sys.exit(code)


def _exit_code(arguments: Sequence[str] | None) -> int:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed, so what is said there goes nowhere
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    _write_any_text()
    try:
        return int(group.main(args=arguments, complete_var=COMPLETION_VARIABLE, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show(told := io.StringIO())
        click.echo(printable(told.getvalue()), err=True, nl=False)
        return error.exit_code
    except ConformanceError as error:
        from conformance.runners.local import public_path  # here, since `--version` need not wait for it

        click.echo(f"conformance: {printable(public_path(str(error)))}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return InterruptedRunError.exit_code
    except SystemExit as ending:  # without its standalone mode, click exits in these two cases only
        return int(ending.code or 0) if os.environ.get(COMPLETION_VARIABLE) else READER_WENT_AWAY
    except OSError as error:
        _discard_output()
        return _unwritable(error)


def _unwritable(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        return READER_WENT_AWAY
    reason = f"the output cannot be written: {error.strerror}. Make room, or send it elsewhere."
    click.echo(f"conformance: {reason}", err=True)
    return HarnessError.exit_code


def _discard_output() -> None:
    """Let what is still buffered go nowhere, since it would fail again when Python closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_any_text() -> None:
    """Write what an encoding lacks as an escape; on Windows, let pipes and files have UTF-8 as elsewhere."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            windows_file = sys.platform == "win32" and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if windows_file else None, errors="backslashreplace")
