"""Subcommands that are imported when they are asked for, so that `--version` and completion need not wait for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

import click


class Subcommands(Mapping[str, click.Command]):
    """The subcommands of a group by name; looking one up imports its module."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """`places` says for each name where the command stands: `package.module:attribute`."""
        self._places = places

    def __getitem__(self, name: str) -> click.Command:
        module, _, attribute = self._places[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
