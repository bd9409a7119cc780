"""A query set as the load of a trial.

Enters: the queries of one arm, or of all arms that alternate; where to connect. Leaves: a result
and interval rows like those of the engine, the executions, and plans. Never: leaves a query
running, whatever interrupts it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from pgassay import _core
from pgassay.server.hosts.placement import Place, confirm_place, run_in, threads
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.query_set.results import (
    interval_rows,
    plans_of,
    query_rows,
    result_of,
)
from pgassay.trials.load.query_set.rows import rows_of_queries
from pgassay.trials.load.query_set.runner import ArmQueries, Execution, run_session
from pgassay.trials.load.query_set.session import QuerySession
from pgassay.trials.load.query_set.waits import waits_of_arm
from pgassay.trials.model.columns import PackedTables
from pgassay.trials.model.record import Columns

_POLL_S = 0.2


@dataclass(frozen=True)
class QueryRequest:
    """What one trial asks of a query set."""

    arms: Sequence[ArmQueries]
    scenarios: Sequence[Scenario]
    """The queries of the first arm, with their files of parameters."""
    clients: int
    repeats: Mapping[str, int]
    """Query → executions that count, in each session."""
    timeout_s: float
    is_warm: bool
    reads_only: bool
    seed: int
    answers: Collection[str] = ()
    """Queries whose answers are compared: one more execution in each arm."""
    explains_output: bool = True
    """Whether blocks count what EXPLAIN reads to send the rows, where the server can tell: not
    beside a server that cannot."""


class QueryLoad:
    """The load of one trial, made by executing queries."""

    native: _core.Load | None = None
    leading_bits: int | None = None
    kept: tuple[Path, ...] = ()

    def __init__(
        self, request: QueryRequest, connection: ConnectionParameters, place: Place | None = None
    ) -> None:
        """Opens its sessions. Raises ConnectionRefused; SpecError where a file of parameters is not
        the one that was read."""
        self._request, self._place = request, place
        self.placed: Mapping[str, str] = {}
        self._executions: list[Execution] = []
        self._stopped, self._problems, self._cpu_s = Event(), list[BaseException](), 0.0
        self._rows = rows_of_queries(
            [arm.queries for arm in request.arms],
            request.scenarios,
            request.repeats,
            request.seed,
        )
        self._sessions: list[QuerySession] = []
        try:
            for _ in range(request.clients):
                self._sessions.append(self._opened(connection))
        except BaseException:
            self._close()
            raise
        self.backends = frozenset(one.pid for one in self._sessions)

    def run(
        self,
        watch: Callable[[Mapping[str, Any]], None],
        own_transactions: Callable[[], int] = lambda: 0,
    ) -> dict[str, Any]:
        """Runs all executions; `watch` gets the progress a few times a second."""
        before = threads()
        workers = [
            Thread(target=self._work, args=(number, one), daemon=True)
            for number, one in enumerate(self._sessions)
        ]
        started_ns = _core.now_ns()
        try:
            run_in(self._place, lambda: _start(workers))
            self.placed = confirm_place("client", self._place, threads() - before)
            while any(one.is_alive() for one in workers):
                watch(self._progress(started_ns))
                for one in workers:
                    one.join(_POLL_S / len(workers))
        finally:
            self._stopped.set()
            for one in workers:
                one.join()
            self._lost = sum(one.is_lost for one in self._sessions)
            self._close()
        if self._problems:
            raise self._problems[0]
        self._span = (started_ns, _core.now_ns())
        return self._result(self._executions, self._cpu_s)

    def of_arm(
        self, arm: str, waits: PackedTables
    ) -> tuple[dict[str, Any], Columns, dict[str, Any]]:
        """Returns what `run`, `intervals` and `stored` return, of one of several arms, with its own
        of all waits. Its share of the client's time is that of its executions."""
        own = [one for one in self._executions if one.arm == arm]
        result = self._result(own, self._cpu_s * len(own) / max(len(self._executions), 1))
        stored = {
            "queries": query_rows(own),
            "query_plans": plans_of(own, self._rows.keys()),
            "waits": waits_of_arm(waits, own),
        }
        return result, interval_rows(own, self._span), stored

    def _result(self, executions: Sequence[Execution], client_cpu_s: float) -> dict[str, Any]:
        return result_of(
            executions,
            list(self._request.arms[0].queries),
            self._span,
            clients=self._request.clients,
            client_cpu_s=client_cpu_s,
            lost=self._lost,
        )

    def intervals(self) -> Columns:
        """Returns the columns of `Load.intervals`."""
        return interval_rows(self._executions, self._span)

    def stored(self) -> dict[str, Any]:
        """Returns what a `TrialRecord` has of the executions, by field."""
        return {
            "queries": query_rows(self._executions),
            "query_plans": plans_of(self._executions, self._rows.keys()),
        }

    def _opened(self, connection: ConnectionParameters) -> QuerySession:
        request = self._request
        return QuerySession(
            connection,
            self._stopped,
            timeout_s=request.timeout_s,
            reads_only=request.reads_only,
        )

    def _work(self, number: int, session: QuerySession) -> None:
        request = self._request
        try:
            run_session(
                session,
                request.arms,
                repeats=request.repeats,
                is_warm=request.is_warm,
                rows=self._rows,
                seed=f"{request.seed}/{number}",
                answers=() if number else request.answers,
                explains_output=request.explains_output and session.explains_output,
                report=self._report,
            )
        except BaseException as error:
            self._problems.append(error)
            self._stopped.set()
        self._cpu_s += time.thread_time()

    def _report(self, done: Execution) -> bool:
        if not self._stopped.is_set():
            self._executions.append(done)
        return not self._stopped.is_set()

    def _progress(self, started_ns: int) -> dict[str, Any]:
        elapsed_s = (_core.now_ns() - started_ns) / 1e9
        failed = sum(one.failed for one in self._executions)
        done = len(self._executions) - failed
        return {
            "elapsed_s": elapsed_s,
            "step": 0,
            "clients": self._request.clients,
            "measured": True,
            "transactions": done,
            "failed": failed,
            "tps": done / elapsed_s if elapsed_s > 0 else 0.0,
        }

    def _close(self) -> None:
        for one in self._sessions:
            one.close()


def _start(workers: Sequence[Thread]) -> None:
    for one in workers:
        one.start()
