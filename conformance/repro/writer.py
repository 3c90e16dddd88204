"""What scripts of every language have in common: the variables of a route's texts, each set once before it is used."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from conformance.repro import Recipe, Text
from conformance.template import Placeholder


class ScriptWriter(ABC):
    """Writes the script of a recipe. `lines` are those that set what stands in the route's texts, in their order."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.lines: list[str] = []
        self.known = {*recipe.shells, "body"}
        """The variables that are set already."""

    @property
    def own_launcher(self) -> str | None:
        """The program that the route starts by its own name; None where it starts a shell that is to be found."""
        first = self.recipe.argv[0]
        return None if any(isinstance(part, Placeholder) for part in first) else "".join(map(str, first))

    @abstractmethod
    def expression(self, text: Text) -> str:
        """Return one expression for `text`, after the lines that set what stands in it."""

    @abstractmethod
    def reference(self, name: str) -> str:
        """Return the expression that is the value of the variable `name`."""

    @abstractmethod
    def assigned(self, name: str, text: str) -> str:
        """Return the lines that set the variable `name` to `text`, as lines of their own where nothing is hidden."""

    @abstractmethod
    def store(self, name: str, file: str, content: str) -> None:
        """Add the lines that write `content` to `file`, and set the variable `name` to its path."""

    def variable_of(self, placeholder: Placeholder) -> str:
        """Return the variable of `placeholder`, without its filters; where it is a file, that is written first."""
        file = placeholder.argument if placeholder.name == "file" else None
        name = placeholder.name if file is None else f"file_{plain(file)}"
        if name not in self.known:
            self.known.add(name)
            self.store(name, f"{file or 'body'}{self.recipe.extension}", self._content(file))
        return name

    def _content(self, file: str | None) -> str:
        if file is None:
            return self.reference("body")
        text = self.recipe.files[file]
        if len(text) == 1 and isinstance(text[0], str):
            self.lines.append(self.assigned("content", text[0]))
            return self.reference("content")
        return self.expression(text)


def plain(name: str) -> str:
    """Return `name` as a variable may be called."""
    return re.sub(r"\W", "_", name)
