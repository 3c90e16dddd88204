"""What a kind of route has no way to hand over, whatever the place."""

from __future__ import annotations

from conformance.model import MARKER_SESSION, SESSION, Case, Route, Step


def why_inexpressible(route: Route, step: Step) -> str | None:
    """Return why `route` cannot hand over what `step` needs; None where it can."""
    body_on_stdin = route.stdin is not None or route.kind == MARKER_SESSION
    if body_on_stdin and (step.stdin.length or "stdin" in step.wiring):
        return "the route hands over the body on standard input, so the hook has none of its own"
    if step.wiring and route.kind in (SESSION, MARKER_SESSION):
        return "the streams of a session are pipes, so none of them can be closed or full"
    return None


def why_skipped(case: Case) -> str | None:
    """Return why the route of `case` cannot hand over what one of its steps needs; None where it can."""
    return next(filter(None, (why_inexpressible(case.route, step) for step in case.fixture.steps)), None)
