"""Select cases from a catalogue by id, route and fixture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.errors import NothingSelectedError
from conformance.model import Case


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A callable filter; every part that is not empty must let a case through."""

    ids: tuple[str, ...] = ()
    """Globs on case ids; one without wildcards matches anywhere in the id."""
    routes: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()

    def __call__(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """Return the cases that are selected.

        Raises NothingSelectedError where there is none.
        """
        selected = tuple(
            case
            for case in cases
            if _any_match(self.ids, case.id)
            and (not self.routes or case.route.id in self.routes)
            and _any_match(self.fixtures, case.fixture.id)
        )
        if not selected:
            raise NothingSelectedError(f"no case matches {self}: `conformance list` names them all")
        return selected

    def __str__(self) -> str:
        parts = [*(f"-k {glob}" for glob in self.ids), *(f"--route {id_}" for id_ in self.routes)]
        parts += [f"--fixture {glob}" for glob in self.fixtures]
        return " ".join(parts) or "the matrix"


def _any_match(globs: tuple[str, ...], id_: str) -> bool:
    return not globs or any(fnmatchcase(id_, glob if set(glob) & set("*?[") else f"*{glob}*") for glob in globs)
