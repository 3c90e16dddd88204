"""`conformance init adapter`: write the files that putting a launcher of one's own under test starts from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from conformance.starting import LANGUAGES, NAME, StartingFiles, starting_files
from conformance.views.text import printable


@click.group("init")
def init_command() -> None:
    """Write files to start from."""


@init_command.command("adapter")
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default="python",
    show_default=True,
    help="What the adapter is written in.",
)
@click.option(
    "--id",
    "launcher_id",
    metavar="ID",
    default=NAME,
    show_default=True,
    help="What the route and its files are called.",
)
@click.argument("folder", type=click.Path(path_type=Path), default=".", metavar="[FOLDER]")
def adapter_command(language: str, launcher_id: str, folder: Path) -> int:
    """Write an adapter that works, and its route file, into FOLDER.

    FOLDER is this one unless you name another, which is made where it is missing; nothing in it is overwritten. The
    adapter runs bodies through a plain shell: put your launcher in the place of that (docs/adapters.md).
    """
    files = starting_files(language, launcher_id)
    files.write(folder)
    for line in _told(files, folder):
        click.echo(printable(line))
    return 0


def _told(files: StartingFiles, folder: Path) -> list[str]:
    program, route = str(folder / files.program), str(folder / files.route)
    dialect = files.language.dialects[0]
    asked = [] if dialect == "bash" else ["--dialect", dialect, "--"]
    check = ["conformance", "adapter", "check", *asked, *files.language.command(program)]
    return [
        f"{program}: the adapter, which runs bodies through a plain {dialect}: put your launcher there in its place",
        f"{route}: its route",
        "",
        "Both work as they are:",
        f"  {shlex.join(check)}",
        f"  {shlex.join(['conformance', 'run', '--route', route])}",
    ]
