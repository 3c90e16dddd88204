"""What takes longest begins first, so that no worker is left alone with it at the end; a run ends when it is told."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
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


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Path]:
    """Give a pipe for a body that hangs: when it has written there, this process is told to end by another thread."""
    pipe = tmp_path / "begun"
    os.mkfifo(pipe)

    def send() -> None:
        pipe.read_bytes()
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    sender = threading.Thread(target=send)
    sender.start()
    yield pipe
    sender.join()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are given to threads on POSIX")
def test_a_signal_that_another_thread_was_given_ends_the_run_at_once(tmp_path: Path, begun: Path) -> None:
    hanging = json.dumps(f"echo >{begun}; exec sleep 60")
    catalog = tiny_catalog(tmp_path, 'argv = ["{{sh}}", "-c", "{{body}}"]', hanging)
    with local_runner() as (runner, cancellation):
        with closing(run_cases(catalog, catalog.cases(), runner, 1, 1.0)) as results:
            assert list(results) == []
        assert cancellation.thrown


@pytest.mark.skipif(sys.platform == "win32", reason="signals are given to threads on POSIX")
def test_and_so_does_one_that_comes_when_no_more_results_are_wanted(tmp_path: Path, begun: Path) -> None:
    late = tmp_path / "late"
    route = f'argv = ["{{{{sh}}}}", "-c", "if mkdir {tmp_path}/one; then exit 7; else {{{{body}}}}; fi"]'
    catalog = tiny_catalog(tmp_path, route, json.dumps(f"echo >{begun}; sleep 60; echo >{late}"))
    twice = (*catalog.cases(), *catalog.cases())
    with local_runner() as (runner, _), closing(run_cases(catalog, twice, runner, 2, 1.0)) as results:
        next(results)
    assert not late.exists()
