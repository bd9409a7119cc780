"""One session that executes queries and takes their times.

Enters: where to connect; texts of queries, values of their parameters. Leaves: an `Executed` each.
Never: leaves a transaction open, keeps a row, or has more than some of them in memory; goes on with
a query after it was asked to stop.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

import psycopg
from psycopg import capabilities, pq, sql

from pgassay import _core
from pgassay.server.connection.session import refused
from pgassay.server.protocol import LOAD_NAME, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.trials.load.query_set.answer import Answer

_ROWS_AT_A_TIME = 1000
_POLL_MS = 100
_TRIES = 10
_GRACE_S = 20.0
"""A query that takes no notice of its timeout or of a cancellation is given up after this."""
LOST = "connection"
"""In place of an SQLSTATE, as in the engine's results."""
_ERRORS = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)
_END = b"ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()"
_SERIALIZES = 170_000
"""The first version with EXPLAIN (SERIALIZE)."""
_CHUNKS = capabilities.has_stream_chunked()


@dataclass(frozen=True, slots=True)
class Executed:
    """How one execution went."""

    began_ns: int
    ended_ns: int
    rows: int
    """Those that it returned."""
    sqlstate: str = ""
    """`connection` where the session was lost; empty where it did not fail."""
    message: str = ""
    first: bytes | None = None
    """The first value of the first row."""
    answer: int | None = None
    """What its rows come to, where that was asked for."""


class QuerySession:
    """A session of the load."""

    def __init__(
        self,
        connection: ConnectionParameters,
        stopped: Event,
        *,
        timeout_s: float,
        reads_only: bool,
    ) -> None:
        """Connects. Raises ConnectionRefused."""
        arguments = {**connection.for_psycopg(), "application_name": LOAD_NAME}
        try:
            self._session = psycopg.connect(**arguments, autocommit=True)
            self._session.execute(statement("trials/end_without_client"))
        except psycopg.Error as error:
            raise refused(error, connection.password) from None
        self._pgconn = self._session.pgconn
        self.pid = self._pgconn.backend_pid
        self._stopped = stopped
        self._timeout, self._most_s = f"{round(timeout_s * 1000)}ms", timeout_s + _GRACE_S
        self._mode = "READ ONLY" if reads_only else "READ WRITE"
        self._ready = select.poll()
        self._ready.register(self._pgconn.socket, select.POLLIN)

    @property
    def is_lost(self) -> bool:
        """Whether the connection is gone."""
        return self._pgconn.status != pq.ConnStatus.OK

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    @property
    def explains_output(self) -> bool:
        """Whether EXPLAIN can read what is stored apart from its row, as sending the row does."""
        return self._pgconn.server_version >= _SERIALIZES

    def execute(
        self,
        text: bytes,
        values: Sequence[bytes | None],
        settings: Mapping[str, str],
        *,
        with_answer: bool = False,
        hides: bytes = b"",
        before: bytes = b"",
    ) -> Executed:
        """Executes a query in a transaction of its own, with these settings, and rolls it back.
        The transaction begins with `hides`; `before` is executed before the query, with its
        values."""
        began_ns = _core.now_ns()
        try:
            found = self._send(self._beginning(settings, hides), ())
            if before and not found.sqlstate:
                found = self._send(before, values)
            if not found.sqlstate:
                found = self._send(text, values, Answer() if with_answer else None)
            self._roll_back()
        except psycopg.Error as error:  # of the connection
            self.close()
            message = str(error).partition("\n")[0]
            return Executed(began_ns, _core.now_ns(), 0, LOST, message)
        return found

    def _roll_back(self) -> None:
        """The query's own timeout may end a ROLLBACK, too, on a host that is very busy. A session
        whose transaction cannot be ended is given up. Advisory locks of a session, which a ROLLBACK
        keeps, would hold up the user's other sessions."""
        for _ in range(_TRIES):
            if self.is_lost or self._pgconn.transaction_status == pq.TransactionStatus.IDLE:
                return
            self._pgconn.exec_(_END)
        if self._pgconn.transaction_status != pq.TransactionStatus.IDLE:
            self.close()

    def _beginning(self, settings: Mapping[str, str], hides: bytes) -> bytes:
        """Begins the transaction; the settings are those of the session again after it."""
        one = sql.SQL("pg_catalog.set_config({}, {}, true)")
        given = {**settings, "statement_timeout": self._timeout}
        parts = [one.format(sql.Literal(name), sql.Literal(value)) for name, value in given.items()]
        hidden = sql.SQL(hides.decode())
        return (
            sql.SQL(statement("trials/query_transaction").decode())
            .format(mode=sql.SQL(self._mode), hides=hidden, settings=sql.SQL(", ").join(parts))
            .as_bytes(self._session)
        )

    def _send(
        self, text: bytes, values: Sequence[bytes | None], answer: Answer | None = None
    ) -> Executed:
        began_ns, began = _core.now_ns(), time.perf_counter_ns()
        if values:
            self._pgconn.send_query_params(text, values)
        else:
            self._pgconn.send_query(text)
        if _CHUNKS:
            self._pgconn.set_chunked_rows_mode(_ROWS_AT_A_TIME)
        else:
            self._pgconn.set_single_row_mode()
        rows, first, failed = 0, None, ("", "")
        for result in self._results():
            if result.status in _ERRORS:
                failed = failed if failed[0] else _error_of(result)
            elif result.ntuples:
                rows += result.ntuples
                first = result.get_value(0, 0) if first is None and result.nfields else first
                if answer is not None:
                    answer.add(result)
            result.clear()
        ended_ns = began_ns + time.perf_counter_ns() - began
        number = None if answer is None else answer.number
        return Executed(began_ns, ended_ns, rows, *failed, first, number)

    def _results(self) -> Iterator[pq.abc.PGresult]:
        """The results of what was sent, some rows each."""
        is_ending, ends_at = False, time.monotonic() + self._most_s
        while True:
            while self._pgconn.is_busy():
                if self._ready.poll(_POLL_MS):
                    self._pgconn.consume_input()
                elif self._stopped.is_set() and not is_ending:
                    is_ending, ends_at = True, time.monotonic() + _GRACE_S
                    self._session.cancel_safe()
                elif time.monotonic() > ends_at:
                    raise psycopg.OperationalError("it does not end when it is cancelled")
            result = self._pgconn.get_result()
            if result is None:
                return
            yield result


def condition_of(sqlstate: str) -> str:
    """Returns the name of an SQLSTATE's condition, which holds no value of the user's."""
    try:
        return psycopg.errors.lookup(sqlstate).__name__
    except KeyError:
        return sqlstate


def _error_of(result: pq.abc.PGresult) -> tuple[str, str]:
    code, message = (
        (result.error_field(field) or b"").decode(errors="replace")
        for field in (pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY)
    )
    return code or LOST, message.partition("\n")[0]
