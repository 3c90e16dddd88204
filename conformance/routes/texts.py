"""Render the texts of a route, and write the files that they name."""

from __future__ import annotations

from pathlib import Path

from conformance.model import Route
from conformance.runners import Runner, Stage
from conformance.template import Placeholder, render

EXTENSIONS = {"sh": ".sh", "bash": ".sh", "pwsh": ".ps1", "powershell5": ".ps1", "cmd": ".cmd"}


class RouteTexts:
    """The texts of a route on one stage."""

    def __init__(self, route: Route, runner: Runner, stage: Stage, extension: str) -> None:
        """Files get `extension`, by which shells know their language."""
        self._route = route
        self._runner = runner
        self._stage = stage
        self._extension = extension

    def rendered(self, text: str) -> str:
        """Return `text` with its templates filled in."""
        return render(text, self.value)

    def value(self, placeholder: Placeholder) -> str:
        """Return what stands for `placeholder`."""
        if placeholder.name == "file":
            name = placeholder.argument or ""
            return self.write(name, self.rendered(self._route.files[name]))
        if placeholder.name == "folder":
            return str(self._route.folder)
        if placeholder.name == "system":
            return str(self._runner.system(placeholder.argument or ""))
        if placeholder.name in self._route.programs:
            return str(self._runner.program(placeholder.name))
        return str(self._runner.shell(placeholder.name).path)

    def write(self, name: str, text: str) -> str:
        """Write the file called `name`, and return its path."""
        path: Path = self._stage.folder / f"{name}{self._extension}"
        path.write_bytes(text.encode())
        return str(path)
