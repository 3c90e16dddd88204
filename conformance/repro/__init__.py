"""A case as a script that needs nothing of this project: what it launches, what it expects, and how it tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import conformance
from conformance.contract import Terms, pattern_text
from conformance.engine import DEADLINE_SECONDS, LINGER_SECONDS
from conformance.errors import UsageError
from conformance.model import ONE_SHOT, Case, EnvironmentKey, Happens, Started
from conformance.payload import Payload, sha256
from conformance.routes.expressible import why_inexpressible
from conformance.routes.texts import EXTENSIONS
from conformance.runners.natives import Natives, rendered_body
from conformance.status import SHELL_SIGNAL_BASE, Exited, ExitStatus, FailedToStart, Signalled, TimedOut
from conformance.template import Placeholder, parts
from conformance.views.text import printable

Text = tuple[str | Placeholder, ...]
"""A text of the route, cut into its templates and what stands between them."""
ANYTHING = "anything"
FILLER = re.compile(r"x{1000,}")
"""A long run in a body, which a script makes instead of holding it."""


@dataclass(frozen=True)
class Expected:
    """The contract's outcome, in the words that a script prints."""

    statuses: tuple[str, ...]
    stdout: str
    stderr: str
    started: str
    received: str


@dataclass(frozen=True)
class Recipe:
    """All that a script is made of, whatever language it is written in."""

    comments: tuple[str, ...]
    shells: tuple[str, ...]
    folder: str
    """What stands in the body for the script's private folder; nothing else in it looks so."""
    body: str
    extension: str
    needs_witness: bool
    argv: tuple[Text, ...]
    files: Mapping[str, Text]
    environment: Mapping[str, str]
    stdin: Payload | Text
    wiring: Mapping[str, str]
    total_seconds: float
    after_start_seconds: float | None
    linger_seconds: float
    expected: Expected

    @property
    def filters(self) -> frozenset[str]:
        """The filters that the route's texts use."""
        texts = [*self.argv, *self.files.values(), *([self.stdin] if isinstance(self.stdin, tuple) else [])]
        return frozenset(
            name for text in texts for part in text if isinstance(part, Placeholder) for name in part.filters
        )


def recipe_of(
    case: Case, terms: Terms, key: EnvironmentKey, time_scale: float, natives: Callable[[str], Natives]
) -> Recipe:
    """Return what a script for `case` is made of; in the environment `key` it is judged by `terms`.

    `natives` says how a script starts the programs of bodies, when it is told what stands for its folder.
    Raises UsageError where no script can show the case.
    """
    route, (step, *more) = case.route, case.fixture.steps
    if route.kind != ONE_SHOT or more:
        raise UsageError(f"{case.id} is more than one launch of a shell, which no script shows. Use `explain` on it.")
    if route.programs or any("{{folder}}" in text for text in (*route.argv, *route.files.values())):
        raise UsageError(f"{case.id} starts programs that lie beside its route's file. Start the route itself.")
    reason = why_inexpressible(route, step)
    if reason is not None:
        raise UsageError(f"{case.id} is skipped: {reason}. Take another route.")
    source = step.bodies[case.dialect]
    folder = _unlike(source, *route.argv, *route.files.values())
    body = rendered_body(source, case.dialect, natives(folder), PurePosixPath(folder, "record"))
    if "\0" in body or any("\0" in text for text in route.files.values()):
        raise UsageError(f"{case.id} has a NUL in its text, which no script can hold. Use `explain` on it.")
    own = case.fixture.deadline
    return Recipe(
        comments=tuple(_comments(case, terms, key)),
        shells=route.shells,
        folder=folder,
        body=body,
        extension=EXTENSIONS[case.dialect],
        needs_witness=any(isinstance(part, Placeholder) and part.name == "witness" for part in parts(source)),
        argv=tuple(tuple(parts(argument)) for argument in route.argv),
        files={name: tuple(parts(text)) for name, text in route.files.items()},
        environment=route.environment,
        stdin=step.stdin if route.stdin is None else tuple(parts(route.stdin)),
        wiring=step.wiring,
        total_seconds=DEADLINE_SECONDS * time_scale,
        after_start_seconds=None if own is None else own * time_scale,
        linger_seconds=LINGER_SECONDS * time_scale,
        expected=_expected(case, terms),
    )


def _unlike(*texts: str) -> str:
    """Return a word that occurs in none of `texts`."""
    numbers = ("", *map(str, range(1, len("".join(texts)) + 1)))
    return next(word for word in (f"@FOLDER{number}@" for number in numbers) if not any(word in t for t in texts))


def _expected(case: Case, terms: Terms) -> Expected:
    (expectation,), (step,) = terms.expectations, case.fixture.steps
    wanted = expectation.received_bytes
    return Expected(
        statuses=tuple(_statuses(expectation.status)),
        stdout=_size(expectation.stdout),
        stderr=_size(expectation.stderr),
        started=ANYTHING if case.fixture.started is Started.UNPROVABLE else str(case.fixture.started),
        received=ANYTHING if wanted is None else f"{wanted} bytes, sha256 {sha256(step.stdin, wanted)}",
    )


def _statuses(status: ExitStatus) -> Iterator[str]:
    if isinstance(status, Exited):
        yield f"exited {status.code}"
    elif isinstance(status, Signalled):
        yield f"signalled {status.number}"
        yield f"exited {SHELL_SIGNAL_BASE + status.number}"
    elif isinstance(status, TimedOut):
        yield "timed out"
    else:
        assert isinstance(status, FailedToStart), "no fixture can expect anything else"
        yield "failed to start"


def _size(payload: Payload | None) -> str:
    return ANYTHING if payload is None else f"{payload.length} bytes, sha256 {sha256(payload)}"


def _comments(case: Case, terms: Terms, key: EnvironmentKey) -> Iterator[str]:
    (expectation,), expected = terms.expectations, _expected(case, terms)
    yield f"{case.id} of shell-exit-conformance {conformance.__version__}, as a script that needs nothing of it."
    yield ""
    yield f"{case.fixture.summary}."
    yield f"  source: {case.fixture.source}"
    yield from (f"  report: {url}" for url in case.fixture.reports)
    yield f"The route: {case.route.id}, a way to launch a body written in {case.dialect}."
    yield f"  source: {case.route.source or 'none'}"
    yield f"The contract, on {key}: {' or '.join(expected.statuses)}."
    yield f"  stdout: {expected.stdout}"
    yield f"  stderr: {expected.stderr}"
    yield f"  because: {expectation.reason}"
    yield f"  source: {expectation.url}"
    if terms.deviation is None:
        yield "No deviation from it is documented."
    else:
        known = (
            "A deviation from it is documented" if terms.deviation.happens is Happens.ALWAYS else "It is known as flaky"
        )
        yield f"{known}: {pattern_text(terms.deviation)}."
        yield f"  because: {terms.deviation.reason}"
        yield f"  source: {terms.deviation.url}"


def comment_lines(recipe: Recipe, usage: str) -> str:
    """Return the comments of a script, and how it is used, as lines that begin with `#` in which nothing is hidden."""
    text = printable("\n".join([*recipe.comments, "", *usage.strip().split("\n")])).replace("\t", " ")
    return "".join(f"# {line}".rstrip() + "\n" for line in text.split("\n"))


def program_names(names: list[str]) -> str:
    """Return `names`, or what stands for none, as part of a sentence."""
    names = list(dict.fromkeys(names)) or ["nothing but the usual programs"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
