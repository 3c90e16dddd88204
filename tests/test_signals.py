"""The signals that end a program are answered as long as it is asked for, and no longer."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from conformance.signals import answering

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Let each test begin with the default handlers, and leave those of pytest behind."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_each_is_answered_and_then_handled_as_before() -> None:
    answered: list[int] = []
    with answering(lambda number, _: answered.append(number)):
        for number in ENDING:
            signal.raise_signal(number)
    assert answered == list(ENDING)
    assert {signal.getsignal(number) for number in ENDING} == {signal.SIG_DFL}


def test_one_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    answered: list[int] = []
    with answering(lambda number, _: answered.append(number)):
        signal.raise_signal(signal.SIGHUP)
    assert answered == []
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
