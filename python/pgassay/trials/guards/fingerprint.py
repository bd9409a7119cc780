"""The state of a server that must be the same before and after a trial.

Enters: an opened target. Leaves: a `Fingerprint` of the server, its settings and its host.
Never: judges it (guards.py does), and never keeps a setting that can hold a secret.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pgassay.errors import TargetError
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.hosts.memory_group import MemoryUse
from pgassay.server.protocol import Connection, ServerFacts, Target
from pgassay.server.settings.values import read_settings
from pgassay.server.statements import statement
from pgassay.spec.secrets.redaction import hides
from pgassay.trials.host.host_reading import HostState, host_state, read_host

_CLOCK_READINGS = 5
_NOT_TO_BE_ASKED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction)


@dataclass(frozen=True)
class Fingerprint:
    """A reading of everything that must not change in a trial."""

    version: str
    started_at_s: float
    settings: Mapping[str, str]
    database_bytes: int
    foreign_sessions: int
    """Client sessions, in any database, that are not pgassay's own."""
    foreign_active: int
    foreign_maintenance: int
    """Those of them that run VACUUM or ANALYZE."""
    autovacuum_workers: int
    base_backups: int
    replicas: str
    clock_offset_ns: int
    """Wall clock less monotonic clock: it moves when the clock is set, and only then."""
    host: HostState | None
    """None where the server's host cannot be looked at."""
    postmaster: int | None
    """Its process id on that host."""
    host_unseen: str = ""
    """Why a host that should be looked at was not."""
    redo_position: int | None = None
    """Where the last checkpoint began in the WAL, in bytes; None where that may not be asked."""
    memory: MemoryUse | None = None
    """What the control group counts that the server was started in, if one was asked for."""

    def described(self, before: Fingerprint | None = None) -> dict[str, Any]:
        """Returns the object of trial.json; of a second reading, only the settings that changed
        since `before`."""
        known = {} if before is None else before.settings
        changed = {n: v for n, v in self.settings.items() if known.get(n) != v}
        return {**asdict(self), "settings": changed}


def take_fingerprint(target: Target, facts: ServerFacts) -> Fingerprint:
    """Reads the server, in one transaction of one session, and its host."""
    with as_target_error("looking at the server"), target.connect() as session:
        # One transaction: a program of the user's is judged by the commits of its database.
        with session.transaction():
            settings = read_settings(session)
            with session.cursor(row_factory=dict_row) as cursor:
                row = cursor.execute(statement("trials/fingerprint")).fetchone()
            redo_position = _redo_position(session)
        if row is None:
            raise TargetRefused("no-row", doing="looking at the server")
        backend, host = row.pop("pid"), target.host()
        data = None if facts.data_directory is None else Path(facts.data_directory)
        reading, unseen = None, ""
        # While the session lasts: the parent of its process is the postmaster.
        if host is not None:
            try:
                reading = read_host(host, data, backend=backend)
            except TargetError as error:
                unseen = str(error)
    return Fingerprint(
        **row,
        settings={n: s.value for n, s in settings.items() if not hides(n)},
        clock_offset_ns=_clock_offset_ns(),
        host=None if reading is None else host_state(reading),
        postmaster=None if reading is None else reading.postmaster,
        host_unseen=unseen,
        redo_position=redo_position,
        memory=target.memory_use(),
    )


def _redo_position(session: Connection) -> int | None:
    with suppress(*_NOT_TO_BE_ASKED), session.transaction():
        row = session.execute(statement("trials/redo_position")).fetchone()
        return None if row is None else row[0]
    return None


def _clock_offset_ns() -> int:
    """The reading least held up between its two clocks."""
    readings = []
    for _ in range(_CLOCK_READINGS):
        began = time.monotonic_ns()
        wall = time.time_ns()
        ended = time.monotonic_ns()
        readings.append((ended - began, wall - (began + ended) // 2))
    return min(readings)[1]
