"""What takes longest begins first, so that no worker is left alone with it at the end."""

from __future__ import annotations

from conformance.catalog import load_catalog
from conformance.schedule import expected_seconds


def test_many_bodies_and_long_deadlines_come_before_what_is_over_at_once() -> None:
    cases = {case.id: expected_seconds(case) for case in load_catalog(["core", "sessions"]).cases()}
    ordered = [
        "sessions/thousand-bodies/pwsh-session",
        "sessions/hang/pwsh-session",
        "sessions/same-code-twice/pwsh-session",
        "sessions/thousand-bodies/bash-session",
        "exit-codes/exit-7/bash-command",
    ]
    assert sorted(ordered, key=lambda id_: cases[id_], reverse=True) == ordered
    assert len({cases[id_] for id_ in ordered}) == len(ordered)
