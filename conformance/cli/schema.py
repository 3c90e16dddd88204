"""`conformance schema`: the JSON Schemas of the files that the command reads and writes."""

from __future__ import annotations

import json

import click

from conformance.paths import schema_file, schema_names


@click.command("schema")
@click.argument("name", type=click.Choice(schema_names()), required=False, metavar="[NAME]")
def schema_command(name: str | None) -> int:
    """Print the JSON Schema called NAME, or list them all."""
    if name is not None:
        click.echo(_text(name), nl=False)
        return 0
    for known in schema_names():
        click.echo(f"{known}: {json.loads(_text(known))['title']}")
    return 0


def _text(name: str) -> str:
    return schema_file(name).read_text(encoding="utf-8")
