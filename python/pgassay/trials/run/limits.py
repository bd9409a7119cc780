"""The limits of `[guard]`: looked at each second of a trial, so that a run which harms others ends.

Enters: the table, the servers of a trial. Leaves: LimitPassed, one line with the limit and what was
found. Never: judges a figure of the experiment, or takes a server that does not answer in time for
a healthy one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

import psycopg

from pgassay.errors import ConnectionRefused, LimitPassed, SpecError, TargetError
from pgassay.language import stored
from pgassay.server.connection.session import as_target_error, connect
from pgassay.server.protocol import Connection, Target
from pgassay.server.statements import statement
from pgassay.spec.guard import GuardTable

_EVERY_S = 1.0
_IN_A_ROW = 3
"""A single slow answer is chance."""
_DISK_EVERY_S = 5.0
_ANSWER_S = 5.0


def refuse_unseen(table: GuardTable, target: Target, source: str) -> None:
    """SpecError where a limit is set on what cannot be seen of this server."""
    if table.replication_lag is not None:
        with as_target_error("looking at the server"), target.connect() as session:
            row = session.execute(statement("trials/may_see_lag"), prepare=False).fetchone()
        if row is None or not row[0]:
            problem = "this role sees no lag of standbys; GRANT pg_monitor to it"
            raise SpecError(problem, file=source, key="guard.replication_lag")
    if table.free_disk is not None and _free_bytes(target) is None:
        problem = "the server's disks cannot be seen from here; give target.ssh, or leave it out"
        raise SpecError(problem, file=source, key="guard.free_disk")


class LimitWatch:
    """Looks at the servers of one trial."""

    def __init__(
        self, table: GuardTable | None, targets: Sequence[Target], slow: dict[int, int]
    ) -> None:
        """`slow` are the slow answers in a row of each server, which trials hand on."""
        self._table, self._targets = table, targets if table is not None else ()
        self._sessions: dict[int, Connection] = {}
        self._slow = slow
        self._looked_s = self._disk_s = 0.0
        self.transactions = 0
        """Own transactions on the first server."""

    def look(self) -> None:
        """Raise LimitPassed where a limit is passed; looks at most once a second."""
        now = time.monotonic()
        if self._table is None or now - self._looked_s < _EVERY_S:
            return
        self._looked_s = now
        sees_disk = self._table.free_disk is not None and now - self._disk_s >= _DISK_EVERY_S
        for place, target in enumerate(self._targets):
            self._look_at(place, target)
            if sees_disk:
                self._disk_s = now
                self._refuse_full(target)

    def close(self) -> None:
        """Close its sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions = {}

    def _look_at(self, place: int, target: Target) -> None:
        table = cast(GuardTable, self._table)
        if table.replication_lag is None and table.other_latency is None:
            return
        try:
            session = self._session(place, target)
            if table.other_latency is not None:
                self._time_a_row(session, place, table.other_latency)
            if table.replication_lag is not None:
                row = session.execute(statement("trials/standby_behind"), prepare=False).fetchone()
                self.transactions += place == 0
                if row is not None and row[1] > table.replication_lag:
                    limit_s, name, behind_s = table.replication_lag, row[0], row[1]
                    raise LimitPassed(
                        stored(
                            f"guard.replication_lag = {limit_s:g} s: the standby {name} is"
                            f" {behind_s:.1f} s behind"
                        )
                    )
        except (psycopg.Error, ConnectionRefused, TargetError):
            # Whether the server is down says the load.
            with suppress(KeyError):
                self._sessions.pop(place).close()

    def _session(self, place: int, target: Target) -> Connection:
        if place not in self._sessions:
            limit_s = max(_ANSWER_S, 2 * (cast(GuardTable, self._table).other_latency or 0.0))
            self._sessions[place] = connect(target.parameters(), statement_limit_s=limit_s)
        return self._sessions[place]

    def _time_a_row(self, session: Connection, place: int, limit_s: float) -> None:
        began = time.monotonic()
        with suppress(psycopg.errors.QueryCanceled):
            session.execute(statement("trials/one_row"), prepare=False)
        self.transactions += place == 0
        took_s = time.monotonic() - began
        self._slow[place] = self._slow.get(place, 0) + 1 if took_s > limit_s else 0
        if self._slow[place] >= _IN_A_ROW:
            limit_ms, took_ms, times = 1e3 * limit_s, 1e3 * took_s, _IN_A_ROW
            raise LimitPassed(
                stored(
                    f"guard.other_latency = {limit_ms:g} ms: {times} times in a row a query of one"
                    f" row beside the load took longer, the last {took_ms:.3g} ms"
                )
            )

    def _refuse_full(self, target: Target) -> None:
        least = cast(GuardTable, self._table).free_disk
        free = _free_bytes(target)
        if least is not None and free is not None and free < least:
            least_gb, free_gb = least / 2**30, free / 2**30
            raise LimitPassed(
                stored(
                    f"guard.free_disk = {least_gb:.3g} GB: {free_gb:.3g} GB are free on the"
                    " server's disks"
                )
            )


def _free_bytes(target: Target) -> int | None:
    """Of the disks of data directory and WAL the least; None where they cannot be seen."""
    host, directory = target.host(), target.facts().data_directory
    if host is None or directory is None:
        return None
    found = host.run(["df", "-kP", "--", directory, f"{directory}/pg_wal/."], limit_s=_ANSWER_S)
    rows = [line.split() for line in found.stdout.splitlines()[1:]]
    free = [int(row[3]) * 1024 for row in rows if len(row) >= 6 and row[3].isdecimal()]
    return min(free, default=None)
