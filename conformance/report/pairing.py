"""Which result of one report is compared with which of another: the same case in the same environment, or what is told.

`--map 'pwsh 7.4=pwsh 7.6'` has the results that the old report got on pwsh 7.4 compared with those that the new one got
on 7.6; `--map linux-x86_64=macos-arm64` does that with places, and `--map-route a=b` with routes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.model import EnvironmentKey

Line = Mapping[str, Any]
Key = tuple[str, str]
"""The id of a case, and its environment."""


@dataclass(frozen=True)
class ShellVersions:
    """A shell in all versions that begin alike: `pwsh 7.4` is 7.4 and 7.4.6, but not 7.40."""

    shell: str
    version: str

    def __contains__(self, key: EnvironmentKey) -> bool:
        same = key.version == self.version or key.version.startswith((f"{self.version}.", f"{self.version}-"))
        return key.shell == self.shell and same

    def moved(self, key: EnvironmentKey) -> EnvironmentKey:
        """Return `key` as if it were of this shell."""
        return replace(key, shell=self.shell, version=self.version)


@dataclass(frozen=True)
class OperatingSystem:
    """An operating system on an architecture: `linux-x86_64`."""

    os: str
    architecture: str

    def __contains__(self, key: EnvironmentKey) -> bool:
        return (key.os, key.architecture) == (self.os, self.architecture)

    def moved(self, key: EnvironmentKey) -> EnvironmentKey:
        """Return `key` as if it were of this system."""
        return replace(key, os=self.os, architecture=self.architecture)


Ground = ShellVersions | OperatingSystem


@dataclass(frozen=True)
class GroundMap:
    """What the old report got on `old` is compared with what the new one got on `new`."""

    old: Ground
    new: Ground

    @classmethod
    def parse(cls, text: str) -> GroundMap:
        """Return the map that `text` (`OLD=NEW`) tells; raises ValueError for any other text."""
        sides = [_ground(side) for side in text.split("=")]
        if len(sides) != 2 or None in sides or type(sides[0]) is not type(sides[1]):
            raise ValueError(
                f"{text!r} is no map: expected 'pwsh 7.4=pwsh 7.6' for shells, or linux-x86_64=macos-arm64 for systems"
            )
        old, new = (side for side in sides if side is not None)
        return cls(old, new)


def _ground(text: str) -> Ground | None:
    shell = re.fullmatch(r"\s*(\S+) ([0-9]\S*|unknown)\s*", text)
    if shell is not None:
        return ShellVersions(shell[1], shell[2])
    system = re.fullmatch(r"\s*([^\s-]+)-(\S+)\s*", text)
    return None if system is None else OperatingSystem(system[1], system[2])


@dataclass(frozen=True)
class Pairing:
    """Gives each result the key by which it finds the one that it is compared with; None leaves it out."""

    grounds: Sequence[GroundMap] = ()
    former: Mapping[str, str] = field(default_factory=dict)
    """Former id of a fixture or a route -> its id in the new report."""
    routes: Mapping[str, str] = field(default_factory=dict)
    """Route of the old report -> route of the new one; where there is none, each is compared with itself."""

    @classmethod
    def of(cls, new: Mapping[str, Any], grounds: Sequence[GroundMap], routes: Mapping[str, str]) -> Pairing:
        """Return the pairing of an older report with the one that has the header `new`, which knows former ids."""
        known = [*new["fixtures"], *new["routes"]]
        return cls(grounds, {former: one["id"] for one in known for former in one["aliases"]}, routes)

    def old(self, line: Line) -> Key | None:
        """Return the key of a result of the old report: where it would stand in the new one."""
        fixture, route = (self.former.get(line[what], line[what]) for what in ("fixture", "route"))
        if self.routes and route not in self.routes:
            return None
        route = self.routes.get(route, route)
        key = EnvironmentKey.parse(line["environment"])
        for ground in self.grounds:
            if key in ground.new:  # which the old report has as well, and which is not asked about
                return None
            if key in ground.old:
                key = ground.new.moved(key)
        return f"{fixture}/{route}", str(key)

    def new(self, line: Line) -> Key | None:
        """Return the key of a result of the new report."""
        if self.routes and line["route"] not in self.routes.values():
            return None
        key = EnvironmentKey.parse(line["environment"])
        for ground in self.grounds:
            if key in ground.new:
                key = ground.new.moved(key)
            elif key in ground.old:
                return None
        return line["id"], str(key)
