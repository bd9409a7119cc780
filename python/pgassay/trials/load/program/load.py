"""A user's program as the load of a trial.

Enters: the `[load]` table, the steps, where to connect. Leaves: a result and interval rows like
those of the engine. Never: knows what the program does; it is judged by its exit status, by the
server's own commits and by what it wrote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgassay import _core
from pgassay.plan.steps import Step
from pgassay.refusals.refusal import TrialRefused
from pgassay.server.connection.session import as_target_error, connect
from pgassay.server.hosts.placement import Place
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.load.table import LoadTable, ThroughputTable
from pgassay.trials.load.interval_rows import CommandStep, Latencies, interval_rows, latency_summary
from pgassay.trials.load.program.hdr_log import read_hdr_log
from pgassay.trials.load.program.output import read_pgbench_log, throughput
from pgassay.trials.load.program.process import (
    Ended,
    environment,
    expanded,
    run_program,
)
from pgassay.trials.model.record import Columns

LOG = "command.log"
_SESSIONS_END_S = 3.0
"""How long a finished program's sessions may take to end and hand in their last counts."""
_POLL_S = 1.0


@dataclass(frozen=True)
class CommandRequest:
    """What one trial asks of the program that makes its load."""

    load: LoadTable
    steps: Sequence[Step]
    folder: Path
    """Where the program runs: beside the experiment file."""
    output: Path
    """Where its output is kept, and where it may write logs."""
    variables: Mapping[str, str]
    """The PGASSAY_… variables that stay the same over the trial."""


class CommandLoad:
    """The load of one trial, made by a program that is run once per step."""

    native: _core.Load | None = None
    backends: frozenset[int] = frozenset()
    leading_bits: int | None = None

    def __init__(
        self, request: CommandRequest, connection: ConnectionParameters, place: Place | None = None
    ) -> None:
        self._request = request
        self._place = place
        self.placed: Mapping[str, str] = {}
        self._connection = connection
        self._steps: list[CommandStep] = []

    @property
    def kept(self) -> tuple[Path, ...]:
        """The files of the program that are moved into the trial's folder."""
        return (self._request.output / LOG,)

    def run(
        self, watch: Callable[[Mapping[str, Any]], None], own_transactions: Callable[[], int]
    ) -> dict[str, Any]:
        """Runs every step in turn; `own_transactions` are those of our samplers in this
        database."""
        with connect(self._connection) as control:
            commits = _Commits(control, own_transactions)
            for index, step in enumerate(self._request.steps):
                self._steps.append(self._run_step(index, step, commits, watch))
        return self._result()

    def intervals(self) -> Columns:
        """Returns the columns of the load by second."""
        return interval_rows(self._steps)

    def stored(self) -> dict[str, Any]:
        """Returns nothing: a `TrialRecord` has nothing of this load alone."""
        return {}

    def _run_step(
        self, index: int, step: Step, commits: _Commits, watch: Callable[[Mapping[str, Any]], None]
    ) -> CommandStep:
        load = self._request.load
        key = "command" if step.measured else "warmup_command"
        words = load.command if step.measured else load.warmup_command
        variables = {**self._request.variables, **_step_variables(index, step)}
        commits.begin()
        start_ns = _core.now_ns()

        def look(elapsed_s: float) -> None:
            commits.poll()
            watch(
                {
                    "elapsed_s": sum(s.seconds for s in self._steps) + elapsed_s,
                    "step": index,
                    "clients": step.clients,
                    "measured": step.measured,
                    "transactions": commits.count,
                    "failed": 0,
                    "tps": commits.count / elapsed_s if elapsed_s > 0 else 0.0,
                }
            )

        with environment(self._connection, variables) as of_process:
            ended = run_program(
                expanded(words or (), variables),
                named=f"trial {variables['PGASSAY_TRIAL']}, load.{key}",
                variables=of_process,
                folder=self._request.folder,
                log=self._request.output / LOG,
                limit_s=load.time_limit,
                watch=look,
                place=self._place,
                secret=self._connection.password,
            )
        self.placed = ended.placed
        end_ns = _core.now_ns()
        commits.finish()
        seconds = (end_ns - start_ns) / 1e9
        where = load.throughput if step.measured else None
        tps = commits.count / seconds
        if where is not None:
            tps = self._reported_tps(where, ended, variables)
        return CommandStep(
            index=index,
            clients=step.clients,
            rate=step.rate,
            measured=step.measured,
            start_ns=start_ns,
            end_ns=end_ns,
            tps=tps,
            client_cpu_s=ended.cpu_s,
            commits=tuple(commits.counts),
            rollbacks=commits.rollbacks,
            latencies=self._latencies(variables) if step.measured else (),
        )

    def _reported_tps(
        self, where: ThroughputTable, ended: Ended, variables: Mapping[str, str]
    ) -> float:
        text = ended.output
        if where.file is not None:
            path = self._path(where.file, variables)
            try:
                text = path.read_text("utf-8", errors="replace")
            except OSError as error:
                raise TrialRefused("throughput-file", path=path, why=error.strerror) from None
        return throughput(text, where)

    def _latencies(self, variables: Mapping[str, str]) -> tuple[Latencies, ...]:
        where = self._request.load.latency
        if where is None:
            return ()
        if where.pgbench_log is not None:
            return read_pgbench_log(self._path(where.pgbench_log, variables))
        return read_hdr_log(self._path(where.hdr_log or "", variables), where.unit or "ns")

    def _path(self, written: str, variables: Mapping[str, str]) -> Path:
        """Relative to the folder that the program gets as PGASSAY_OUTPUT."""
        return self._request.output / expanded([written], variables)[0]

    def _result(self) -> dict[str, Any]:
        measured = [step for step in self._steps if step.measured]
        seconds = sum(step.seconds for step in measured)
        tps = sum(step.tps * step.seconds for step in measured) / seconds
        transactions = sum(step.transactions for step in measured)
        latency = latency_summary(tuple(part for step in measured for part in step.latencies))
        return {
            "backend": "command",
            "started_ns": self._steps[0].start_ns,
            "ended_ns": self._steps[-1].end_ns,
            "duration_s": seconds,
            "tps": tps,
            "transactions": transactions,
            "failed": 0,
            "skipped": 0,
            "rollbacks": sum(step.rollbacks for step in measured),
            "client_cpu_s": sum(step.client_cpu_s for step in measured),
            "latency_ms": latency,
            "lost_connections": 0,
            "first_error": None,
            "scenarios": [],
            "steps": [step.described() for step in self._steps],
        }


class _Commits:
    """The server's own count of one step's commits, without pgassay's."""

    def __init__(self, control: Connection, own_transactions: Callable[[], int]) -> None:
        self._control = control
        self._own_of_samplers = own_transactions
        self._asked = 0
        self._began = (0, 0)
        self.rollbacks = 0
        self.counts: list[tuple[int, int]] = []

    @property
    def count(self) -> int:
        return self.counts[-1][1] if self.counts else 0

    def begin(self) -> None:
        self.counts, self.rollbacks = [], 0
        self._began = self._read()

    def poll(self) -> None:
        """Reads the server's counters again, at most once a second."""
        if not self.counts or _core.now_ns() - self.counts[-1][0] >= _POLL_S * 1e9:
            self._look()

    def finish(self) -> None:
        """Takes the last count, once the program's sessions have ended and handed in theirs."""
        end = time.monotonic() + _SESSIONS_END_S
        while self._others() and time.monotonic() < end:
            time.sleep(0.05)
        self._look()

    def _look(self) -> None:
        commits, rollbacks = self._read()
        self.rollbacks = max(0, rollbacks - self._began[1])
        # Our own reach the counters up to a second late, so a first look may go below zero.
        self.counts.append((_core.now_ns(), max(self.count, commits - self._began[0], 0)))

    def _read(self) -> tuple[int, int]:
        row = self._ask("trials/commits")
        return row[0] - self._asked - self._own_of_samplers(), row[1]

    def _others(self) -> int:
        return int(self._ask("trials/sessions_of_others")[0])

    def _ask(self, name: str) -> tuple[Any, ...]:
        with as_target_error("counting the server's commits"):
            row = self._control.execute(statement(name)).fetchone()
        self._asked += 1
        if row is None:
            raise TrialRefused("no-row", doing="counting the server's commits")
        return row


def _step_variables(index: int, step: Step) -> dict[str, str]:
    variables = {
        "PGASSAY_CLIENTS": str(step.clients),
        "PGASSAY_DURATION": f"{step.duration_s:g}",
        "PGASSAY_STEP": str(index),
    }
    return variables if step.rate is None else {**variables, "PGASSAY_RATE": f"{step.rate:g}"}
