"""Select cases from a catalogue by id, route and fixture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.errors import NothingSelectedError
from conformance.model import Case

DEFAULT_MATRIX = "core"
"""What cases are selected from where no matrix is named."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A callable filter; every part that is not empty must let a case through."""

    ids: tuple[str, ...] = ()
    """Globs on case ids; a text without wildcards is an exact id or, where there is none, a part of ids."""
    routes: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()

    def __call__(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """Return the cases that are selected.

        Raises NothingSelectedError where there is none.
        """
        cases = tuple(cases)
        by_id = _matcher(self.ids, {case.id for case in cases})
        by_fixture = _matcher(self.fixtures, {case.fixture.id for case in cases})
        selected = tuple(
            case
            for case in cases
            if by_id(case.id) and (not self.routes or case.route.id in self.routes) and by_fixture(case.fixture.id)
        )
        if not selected:
            raise NothingSelectedError(f"no case matches {self}: `conformance list cases full` names them all")
        return selected

    def __str__(self) -> str:
        parts = [*(f"-k {glob}" for glob in self.ids), *(f"--route {id_}" for id_ in self.routes)]
        parts += [f"--fixture {glob}" for glob in self.fixtures]
        return " ".join(parts) or "the matrix"


def _matcher(patterns: tuple[str, ...], known: set[str]) -> Callable[[str], bool]:
    """Return a test for ids: no pattern lets all through, an exact id only itself, any other text what contains it."""
    globs = tuple(pattern if pattern in known or set(pattern) & set("*?[") else f"*{pattern}*" for pattern in patterns)
    return lambda id_: not globs or any(fnmatchcase(id_, glob) for glob in globs)
