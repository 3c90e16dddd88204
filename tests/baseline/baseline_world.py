"""A launcher whose faults a test decides, its route file, and what updates make of its baseline."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import Finished, call_cli, valid_report

FIXTURES = (
    "exit-codes/exit-0",
    "exit-codes/exit-2",
    "exit-codes/exit-255",
    "exit-codes/exit-7",
    "native-codes/native-7",
)
ROUTE = """
[[route]]
id = "{id}"
kind = "one-shot"
dialects = ["sh"]
argv = ["/bin/sh", "-c", 'sh -c "$1"; code=$?; . "$2/behaviour"; exit $code', "sh", "{{{{body}}}}", "{{{{folder}}}}"]
source = "https://example.org/mytool"
"""
KEEPS = ":"
GROUNDS = ("--reason", "mytool loses it", "--url", "https://example.org/mytool/1")

Line = dict[str, Any]


@dataclass(frozen=True)
class World:
    """A folder with `mytool.toml`, perhaps with a baseline beside it."""

    folder: Path

    @classmethod
    def at(
        cls, folder: Path, *, fixtures: Sequence[str] = FIXTURES, routes: Sequence[str] = ("mytool",), more: str = ""
    ) -> World:
        text = f"fixtures = {json.dumps(list(fixtures))}\n"
        (folder / "mytool.toml").write_text(text + "".join(ROUTE.format(id=route) for route in routes) + more)
        return cls(folder)

    @property
    def baseline(self) -> Path:
        return self.folder / "mytool.baseline.toml"

    def text(self) -> str:
        return self.baseline.read_text()

    def run(self, behaviour: str, name: str = "report.jsonl", *arguments: str) -> Finished:
        """Run all cases while the launcher does what `behaviour` says: a text for sh that may change $code."""
        (self.folder / "behaviour").write_text(behaviour + "\n")
        with contextlib.chdir(self.folder):
            return call_cli("run", "--route", "mytool.toml", "--report", name, *arguments)

    def lines(self, name: str = "report.jsonl") -> list[Line]:
        return list(valid_report(self.folder / name).results)

    def results(self, name: str = "report.jsonl") -> dict[str, str]:
        return {line["id"].removesuffix("/mytool"): line["result"] for line in self.lines(name)}

    def rewrite(self, change: Callable[[Line], None], name: str = "report.jsonl", to: str = "") -> None:
        """Change every result of the report called `name`, and write it `to` another one, or to itself."""
        lines = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        for line in lines:
            if line["kind"] == "result":
                change(line)
        (self.folder / (to or name)).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def on(self, environment: str, name: str = "report.jsonl", to: str = "") -> None:
        """Make the report called `name` one of another environment."""
        self.rewrite(lambda line: line.update(environment=environment), name, to)

    def update(self, *arguments: str, code: int = 0) -> Finished:
        """Update the baseline, in this process; it must exit with `code`."""
        paths = [str(self.folder / word) if word.endswith(".jsonl") else word for word in arguments]
        finished = call_cli("baseline", "update", "--route", self.folder / "mytool.toml", *paths)
        assert finished.code == code, finished
        return finished

    def updated(self, *arguments: str, code: int = 0) -> str:
        """Update the baseline twice, which changes nothing the second time, and return its text."""
        self.update(*arguments, code=code)
        once = self.baseline.read_bytes()
        again = self.update(*arguments, code=code)
        assert self.baseline.read_bytes() == once, again.out
        assert ": 0 added, 0 removed, 0 narrowed, 0 widened, " in again.out.splitlines()[0]
        return once.decode()


def entry(observed: str, *fixtures: str, kind: str = "deviation", more: str = "", routes: str = '"mytool"') -> str:
    """Return a table of a baseline."""
    return (
        f"[[{kind}]]\nroutes = [{routes}]\nfixtures = {json.dumps(list(fixtures))}\nobserved = {observed}\n{more}"
        'reason = "mytool loses it"\nurl = "https://example.org/mytool/1"\n'
    )


def body(text: str) -> str:
    """Return the tables of a baseline, without the comment above them."""
    return text[text.index("[[") :] if "[[" in text else ""
