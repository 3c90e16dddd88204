"""The frozen values that everything else passes around. They hold no live objects and can be pickled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NewType

from conformance.condition import Condition
from conformance.payload import Payload
from conformance.status import ExitStatus

Seconds = NewType("Seconds", float)

LOCAL = "local"
ONE_SHOT, SESSION, MARKER_SESSION, ADAPTER = "one-shot", "session", "marker-session", "adapter"
"""The kinds of routes: a process for each body, one that swaps its streams for each, one that prints markers, and a
program that drives some other system."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The place in a file where a table was written."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A shell on an operating system that was really seen to give an expectation: `pwsh 7.6.9 linux`."""

    shell: str
    version: str
    os: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a faithful route delivers, under a condition. A stream that is None may hold anything."""

    status: ExitStatus
    stdout: Payload | None
    stderr: Payload | None
    received_bytes: int | None
    """How many bytes of standard input the witness must have got, from the start; None asks for no proof."""
    condition: Condition
    reason: str
    url: str
    seen: tuple[Sighting, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Step:
    """One body, in each dialect that can say it, with its standard input and what must come of it."""

    bodies: Mapping[str, str]
    stdin: Payload
    expectations: tuple[Expectation, ...]
    wiring: Mapping[str, str] = field(default_factory=dict)
    """The standard streams that are no pipes: `closed`, or `full` for a disk without room."""
    times: int = 1
    """How many times in a row the body is performed; all must come out the same."""


class Started(StrEnum):
    """Whether a faithful route starts the body at all."""

    YES = "yes"
    NO = "no"
    UNPROVABLE = "unprovable"


@dataclass(frozen=True, slots=True)
class Fixture:
    """A hook and what it must deliver. `id` is `<topic>/<name>`, and permanent.

    One with several steps is about a session, which performs them one after the other.
    """

    id: str
    summary: str
    source: str
    steps: tuple[Step, ...]
    started: Started
    unprovable_because: str
    deadline: Seconds | None
    """For a hook that hangs on purpose: how many seconds after its start it is killed."""
    origin: Origin
    reports: tuple[str, ...] = ()
    """Addresses of public reports of the fault that the fixture shows."""
    aliases: tuple[str, ...] = ()
    """The ids that it had before."""

    @property
    def needs_session(self) -> bool:
        """Whether it is about what one body does to the next."""
        return len(self.steps) > 1 or any(step.times > 1 for step in self.steps)

    @property
    def dialects(self) -> frozenset[str]:
        """The dialects in which every step has a body."""
        return frozenset.intersection(*(frozenset(step.bodies) for step in self.steps))


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a step is killed with its whole tree."""

    total: Seconds
    """Seconds after the launch."""
    after_start: Seconds | None
    """Seconds after the body has left its first mark, for a body that hangs on purpose; `total` bounds its start."""
    linger: Seconds
    """Seconds that a child which the hook left behind may hold its pipes, before it is killed as well."""


class State(StrEnum):
    """What a session does with what a body leaves behind in the shell."""

    FRESH = "fresh"
    KEPT = "kept"


class UnfinishedLine(StrEnum):
    """What a reader does with output that stands before the end marker on the same line."""

    KEPT = "kept"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """How a shell that reads code from its standard input is given a body, and how its answer is cut out of stdout.

    `request` and `begin` are templates, `end` is a regular expression with templates; `{{nonce}}` is new each time.
    """

    request: str
    begin: str
    """What stands before the output; nothing where all that comes is output."""
    end: str
    """What stands behind the output, with a group `code` that holds the exit code."""
    unfinished_line: UnfinishedLine


@dataclass(frozen=True, slots=True)
class Route:
    """One way to launch a body. Texts are templates; `files` are written beside the body."""

    id: str
    kind: str
    dialects: tuple[str, ...]
    argv: tuple[str, ...]
    files: Mapping[str, str]
    environment: Mapping[str, str]
    shells: tuple[str, ...]
    """The shells that it starts by name (`{{pwsh}}`), the one that interprets the body first; none where they hide."""
    judged_by: str
    source: str
    origin: Origin
    stdin: str | None = None
    """What the launcher feeds on standard input (a template) to hand over the body; None leaves it to the hook."""
    dialogue: Dialogue | None = None
    """How a marker session is spoken to."""
    state: State = State.KEPT
    """What a session does with what a body leaves behind; one that keeps nothing is lent to many cases."""
    fingerprint: str | None = None
    """The status policy that the route is known to have; None where that is not stated."""

    fixtures: tuple[str, ...] = ()
    """Globs on the ids of the fixtures that it meets instead of its matrix's; none where it meets those."""
    exceptions: tuple[str, ...] = ()
    """Globs on the ids of the fixtures among these that it does not meet."""
    folder: Path | None = None
    """The folder of the file in which it stands, for `{{folder}}`."""
    programs: tuple[str, ...] = ()
    """The programs beside shells that it starts by name (`{{node}}`)."""
    systems: tuple[str, ...] = ()
    """The systems that must have been installed for it (`{{system:NAME}}`)."""
    aliases: tuple[str, ...] = ()
    """The ids that it had before."""

    def takes(self, fixture: Fixture) -> bool:
        """Tell whether the route has a dialect of `fixture`, and may be a session where that needs one."""
        return not fixture.dialects.isdisjoint(self.dialects) and (self.kind != ONE_SHOT or not fixture.needs_session)


@dataclass(frozen=True, slots=True)
class ObservedPattern:
    """An observation that a deviation documents. What is None must be as the contract has it."""

    status: ExitStatus | None
    stdout: Payload | str | None
    """A payload, or the name of a shape (`final-newline-lost`), or `sha256:...`."""
    stderr: Payload | str | None
    started: Started | None
    received: str | None = None
    """`anything`: standard input did not reach the hook as the contract has it, and what did is not told."""


class Happens(StrEnum):
    """How often a documented departure happens: in every run, or in some while the contract is kept in others."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A known departure from the contract, with exactly what is observed instead, a reason and a URL."""

    routes: tuple[str, ...]
    fixtures: tuple[str, ...]
    exceptions: tuple[str, ...]
    observed: tuple[ObservedPattern, ...]
    """What is observed: one pattern or, where it happens sometimes, one or more, of which one holds each time."""
    condition: Condition
    reason: str
    url: str
    origin: Origin
    happens: Happens = Happens.ALWAYS


@dataclass(frozen=True, slots=True)
class Agreement:
    """A statement that routes do the same with a fixture: each two of them, for each fixture that both take."""

    routes: tuple[str, ...]
    fixtures: tuple[str, ...]
    exceptions: tuple[str, ...]
    equal: tuple[str, ...]
    """What must be equal: one or more of `status`, `stdout` and `stderr`."""
    reason: str
    url: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Matrix:
    """Which fixtures meet which routes, and what is known to go wrong there."""

    name: str
    extends: str | None
    """The name or path of another matrix whose routes meet this one's fixtures as well."""
    required: tuple[str, ...]
    fixtures: tuple[str, ...]
    routes: tuple[Route, ...]
    deviations: tuple[Deviation, ...]
    origin: Origin
    agreements: tuple[Agreement, ...] = ()
    baseline: tuple[Deviation, ...] = ()
    """What its user documents in a file beside it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A fixture on a route on a runner."""

    fixture: Fixture
    route: Route
    runner: str = LOCAL

    @property
    def id(self) -> str:
        """The permanent name, made of letters, digits and `/ - . +` only."""
        place = "" if self.runner == LOCAL else f"+{self.runner}"
        return f"{self.fixture.id}/{self.route.id}{place}"

    @property
    def dialect(self) -> str:
        """The dialect of the body that this route gets: the first of its preferences that the fixture has."""
        return next(dialect for dialect in self.route.dialects if dialect in self.fixture.dialects)


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """What a result was got on. Reports merge and compare by (case id, environment key)."""

    os: str
    architecture: str
    shell: str
    version: str
    runner: str

    def __str__(self) -> str:
        return f"{self.os}-{self.architecture}/{self.shell}-{self.version}/{self.runner}"

    @classmethod
    def parse(cls, text: str) -> EnvironmentKey:
        """Return the key that `str` made `text` of; raises ValueError for anything else."""
        found = _ENVIRONMENT_KEY.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no environment key: expected os-architecture/shell-version/runner")
        return cls(*(part for part in found.groups() if part is not None))


_ENVIRONMENT_KEY = re.compile(r"([^-/]+)-([^/]+)/(?:([^/]*)-(unknown)|([^/]*?)-(\d[^/]*))/([^/]+)")
