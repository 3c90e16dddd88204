"""What takes longest begins first, so that no worker is left alone with it at the end; a run ends when it is told."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from conftest import tiny_catalog

from conformance.campaign import local_runner
from conformance.catalog import load_catalog
from conformance.schedule import expected_seconds, run_cases


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


@pytest.mark.skipif(sys.platform == "win32", reason="signals are given to threads on POSIX")
def test_a_signal_that_another_thread_was_given_ends_the_run_at_once(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    body = json.dumps(f"echo >{begun}; exec sleep 60")
    catalog = tiny_catalog(tmp_path, 'argv = ["{{sh}}", "-c", "{{body}}"]', body)

    def send() -> None:
        begun.read_bytes()
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with local_runner() as (runner, cancellation):
        sender = threading.Thread(target=send)
        sender.start()
        with closing(run_cases(catalog, catalog.cases(), runner, 1, 1.0)) as results:
            assert list(results) == []
        sender.join()
        assert cancellation.thrown
