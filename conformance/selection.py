"""Select cases from a catalogue by id, route and fixture."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.errors import NothingSelectedError
from conformance.model import Case

DEFAULT_MATRIX = "core"
"""What cases are selected from where no matrix is named."""


@dataclass(frozen=True)
class Shard:
    """One of `count` parts of any set of cases.

    An id alone decides which part it belongs to: SHA-256 of its UTF-8 text, the first 8 bytes read as a big-endian
    number, modulo `count`. So all machines and `conformance run` and pytest cut alike, whatever else is selected.
    """

    number: int
    """From 1 to `count`."""
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that `text` (`K/N`) names; raises ValueError for any other text."""
        found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"{text!r} is no shard: expected K/N with K from 1 to N, for example 1/4")
        return cls(int(found[1]), int(found[2]))

    def __contains__(self, id_: str) -> bool:
        digest = hashlib.sha256(id_.encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE = Shard(1, 1)
"""All of the cases."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A callable filter; every part that is not empty must let a case through."""

    ids: tuple[str, ...] = ()
    """Globs on case ids; a text without wildcards is an exact id or, where there is none, a part of ids."""
    routes: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    shard: Shard = WHOLE

    def __call__(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """Return the cases that are selected.

        Raises NothingSelectedError where there is none.
        """
        cases = tuple(cases)
        by_id = matcher(self.ids, {case.id for case in cases})
        by_fixture = matcher(self.fixtures, {case.fixture.id for case in cases})
        selected = tuple(
            case
            for case in cases
            if by_id(case.id)
            and (not self.routes or case.route.id in self.routes)
            and by_fixture(case.fixture.id)
            and case.id in self.shard
        )
        if not selected:
            raise NothingSelectedError(f"no case matches {self}: `conformance list cases full windows` names them all")
        return selected

    @property
    def what(self) -> str:
        """What is selected, whatever part of it is run."""
        parts = [*(f"-k {glob}" for glob in self.ids), *(f"--route {id_}" for id_ in self.routes)]
        parts += [f"--fixture {glob}" for glob in self.fixtures]
        return " ".join(parts) or "the matrix"

    def __str__(self) -> str:
        return self.what if self.shard.count == 1 else f"{self.what} --shard {self.shard}".removeprefix("the matrix ")


def matcher(patterns: tuple[str, ...], known: set[str]) -> Callable[[str], bool]:
    """Return a test for the ids in `known`.

    No pattern lets all through, an exact id only itself, any other text without wildcards what contains it.
    """
    globs = tuple(pattern if pattern in known or set(pattern) & set("*?[") else f"*{pattern}*" for pattern in patterns)
    return lambda id_: not globs or any(fnmatchcase(id_, glob) for glob in globs)
