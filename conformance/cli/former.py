"""What a user names by a former id, by today's; that it was renamed is said on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

Todays = Callable[[str], str]


def todays(id_: str, find: Todays) -> str:
    """Return today's id, as `find` knows it, of what the user calls `id_`."""
    found = find(id_)
    if found != id_:
        click.echo(f"conformance: {id_} was renamed, it is {found} now", err=True)
    return found


def todays_all(ids: Iterable[str], find: Todays) -> tuple[str, ...]:
    """Return today's ids of all of `ids`; what is no former id stays what it is."""
    return tuple(todays(id_, find) for id_ in ids)
