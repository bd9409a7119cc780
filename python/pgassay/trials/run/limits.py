"""The limits of `[guard]`: looked at each second of a trial, so that a run which harms others ends.

Enters: the table, the servers of a trial. Leaves: LimitPassed, whose note has the limit and what
was found. Never: judges a figure of the experiment, or takes a server that does not answer in time
for a healthy one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

import psycopg

from pgassay.errors import ConnectionRefused, LimitPassed, TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import Refusal
from pgassay.server.connection.session import connect
from pgassay.server.hosts.host import Host
from pgassay.server.protocol import Connection, Target
from pgassay.server.statements import statement
from pgassay.spec.model import GuardTable

_EVERY_S = 1.0
_IN_A_ROW = 3
"""A single slow answer is chance."""
_DISK_EVERY_S = 5.0
_ANSWER_S = 5.0


def unseen(
    table: GuardTable, session: Connection, host: Host | None, directory: str | None
) -> Iterator[Refusal]:
    """Refuses each limit on what cannot be seen of this server; `directory` has its data."""
    if table.replication_lag is not None:
        row = session.execute(statement("trials/may_see_lag"), prepare=False).fetchone()
        standby = session.execute(statement("trials/standbys"), prepare=False).fetchone()
        if row is None or not row[0]:
            yield Refusal("guard-sees-no-lag")
        elif standby is None:
            yield Refusal("guard-without-standby")
    if table.free_disk is not None and _free_bytes(host, directory) is None:
        yield Refusal("guard-sees-no-disk")


@dataclass(frozen=True)
class Seen:
    """What the watch of one trial passes on to the next, by the place of each server."""

    slow: dict[int, int] = field(default_factory=dict)
    """Slow answers in a row."""
    standbys: dict[int, Mapping[str, int]] = field(default_factory=dict)
    """Names at the start, and how many standbys had each."""
    gone_since_s: dict[int, dict[str, float]] = field(default_factory=dict)
    """Names that fewer have now; an empty one where there was no standby at the start."""


class LimitWatch:
    """Compares the servers of one trial with the limits of `[guard]`."""

    def __init__(self, table: GuardTable | None, targets: Sequence[Target], seen: Seen) -> None:
        self._table, self._targets = table, targets if table is not None else ()
        self._sessions: dict[int, Connection] = {}
        self._seen = seen
        self._looked_s = self._disk_s = 0.0
        self.transactions = 0
        """Own transactions on the first server."""

    def look(self) -> None:
        """Raises LimitPassed where a limit is passed; looks at most once a second."""
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
        """Closes its sessions."""
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
                rows = session.execute(statement("trials/standbys"), prepare=False).fetchall()
                self.transactions += place == 0
                _refuse_behind({row[0]: row[2] or 0.0 for row in rows}, table.replication_lag)
                self._refuse_gone(place, {row[0]: row[1] for row in rows}, table.replication_lag)
        except (psycopg.Error, ConnectionRefused, TargetError):
            # Whether the server is down says the load.
            with suppress(KeyError):
                self._sessions.pop(place).close()

    def _refuse_gone(self, place: int, connected: Mapping[str, int], limit_s: float) -> None:
        """A standby that is lost has no lag."""
        known = self._seen.standbys.get(place) or connected
        self._seen.standbys[place] = known
        now = time.monotonic()
        before = self._seen.gone_since_s.get(place, {})
        fewer = [name for name, count in known.items() if connected.get(name, 0) < count]
        gone = {name: before.get(name, now) for name in (fewer if known else [""])}
        self._seen.gone_since_s[place] = gone
        for name, since_s in gone.items():
            gone_s = now - since_s
            if gone_s > limit_s and name:
                raise LimitPassed(
                    Note.of("trials/run/standby-gone", limit_s=limit_s, name=name, gone_s=gone_s)
                )
            if gone_s > limit_s:
                raise LimitPassed(Note.of("trials/run/no-standby", limit_s=limit_s, gone_s=gone_s))

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
        slow = self._seen.slow
        slow[place] = slow.get(place, 0) + 1 if took_s > limit_s else 0
        if slow[place] >= _IN_A_ROW:
            values = {"limit_ms": 1e3 * limit_s, "times": _IN_A_ROW, "took_ms": 1e3 * took_s}
            raise LimitPassed(Note("trials/run/slow-beside", values))

    def _refuse_full(self, target: Target) -> None:
        least = cast(GuardTable, self._table).free_disk
        free = _free_bytes(target.host(), target.facts().data_directory)
        if least is not None and free is not None and free < least:
            values = {"least_gb": least / 2**30, "free_gb": free / 2**30}
            raise LimitPassed(Note("trials/run/disk-full", values))


def _refuse_behind(lags_s: Mapping[str, float], limit_s: float) -> None:
    for name, behind_s in lags_s.items():
        if behind_s > limit_s:
            raise LimitPassed(
                Note.of("trials/run/standby-behind", limit_s=limit_s, name=name, behind_s=behind_s)
            )


def _free_bytes(host: Host | None, directory: str | None) -> int | None:
    """Of the disks of data directory and WAL the least; None where they cannot be seen."""
    if host is None or directory is None:
        return None
    found = host.run(["df", "-kP", "--", directory, f"{directory}/pg_wal/."], limit_s=_ANSWER_S)
    rows = [line.split() for line in found.stdout.splitlines()[1:]]
    free = [int(row[3]) * 1024 for row in rows if len(row) >= 6 and row[3].isdecimal()]
    return min(free, default=None)
