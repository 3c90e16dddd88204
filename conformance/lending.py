"""Lend executors to cases: a new one, or a session that others have used, where each body starts as new in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from conformance.errors import HarnessError, InexpressibleError, RouteBrokenError, UnavailableError
from conformance.model import Case
from conformance.routes import Executor, open_executor
from conformance.runners import Place, Runner

STARTS = 4
"""How often a program that breaks is started for one worker, before its route is given up."""


@dataclass(frozen=True)
class Loan:
    """An executor for one case."""

    executor: Executor
    after: str | None
    """Which cases have used it, in a few words; None where it is new."""


class Lender:
    """Keeps the executors of one worker that other cases may use. Not for several threads."""

    def __init__(self, runner: Runner, place: Place) -> None:
        self._runner = runner
        self._place = place
        self._kept: dict[str, tuple[Loan, ExitStack]] = {}
        self._breaks: Counter[str] = Counter()
        self._given_up: dict[str, RouteBrokenError | UnavailableError] = {}

    @contextmanager
    def executor(self, case: Case) -> Iterator[Loan]:
        """Lend an executor to `case`, if possible one that is there.

        Raises what the route raised before, where it is given up.
        """
        route = case.route.id
        if route in self._given_up:
            raise self._given_up[route]
        kept = self._kept.pop(route, None)
        loan, stack = kept or self._new(case)
        with self._giving_up(route), stack:
            loan.executor.begin(case)
            try:
                yield loan
            except (InexpressibleError, HarnessError):  # nothing has happened to one that is still there
                self._keep(route, loan, stack)
                raise
            after = case.id if loan.after is None else f"{case.id} or one before it"
            self._keep(route, Loan(loan.executor, after), stack)

    @contextmanager
    def new_executor(self, case: Case) -> Iterator[Loan]:
        """Lend an executor to `case` that no other has used or will use."""
        loan, stack = self._new(case)
        with stack:
            loan.executor.begin(case)
            yield loan

    def _keep(self, route: str, loan: Loan, stack: ExitStack) -> None:
        if loan.executor.reusable:
            self._kept[route] = loan, stack.pop_all()

    @contextmanager
    def _giving_up(self, route: str) -> Iterator[None]:
        """Remember what ends the route for this worker: nothing to drive, or a program that breaks again and again."""
        try:
            yield
        except UnavailableError as error:
            self._given_up[route] = error
            raise
        except RouteBrokenError as error:
            self._breaks[route] += 1
            if self._breaks[route] == STARTS:
                self._given_up[route] = RouteBrokenError(f"broke {STARTS} times and is not started again: {error}")
            raise

    def give_up(self, case: Case) -> None:
        """Keep nothing that another case on the route of `case` might be lent."""
        kept = self._kept.pop(case.route.id, None)
        if kept is not None:
            kept[1].close()

    def close(self) -> None:
        """Give all executors up."""
        with ExitStack() as stack:
            for _, kept in self._kept.values():
                stack.push(kept)
        self._kept.clear()

    def _new(self, case: Case) -> tuple[Loan, ExitStack]:
        stack = ExitStack()
        return Loan(stack.enter_context(open_executor(case.route, self._runner, self._place)), None), stack
