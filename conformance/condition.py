"""The `when` of an expectation or a deviation, and what is known of a case that it asks about."""

from __future__ import annotations

from dataclasses import dataclass, fields

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a case before it runs: the things that a condition may ask about."""

    os: str
    dialect: str
    shell: str
    version: str
    runner: str
    judged_by: str


@dataclass(frozen=True, slots=True)
class Condition:
    """The `when` of an expectation or a deviation; an absent key asks for nothing."""

    os: str | None = None
    dialect: str | None = None
    shell: str | None = None
    version: str | None = None
    runner: str | None = None
    judged_by: str | None = None

    @property
    def keys(self) -> int:
        """How many keys are present: the more, the more specific."""
        return sum(getattr(self, field_.name) is not None for field_ in fields(self))

    def matches(self, facts: Facts) -> bool:
        """Tell whether every key that is present agrees with `facts`."""
        return all(
            wanted is None
            or (_version_in(facts.version, wanted) if name == "version" else getattr(facts, name) == wanted)
            for name, wanted in ((field_.name, getattr(self, field_.name)) for field_ in fields(self))
        )


def _version_in(version: str, specifiers: str) -> bool:
    try:
        return SpecifierSet(specifiers).contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False
