"""A session that ends by our own clock, whose loss is the target's failure, and that reads names in
any encoding.

Enters: what psycopg connects with, the longest the session may last. Leaves: a connection whose
socket is shut down then, so that a pending query fails; a ConnectionLost where the server has ended
the session. Never: asks the server whether to end.

statement_timeout is the server's: a backend that is stopped, waits for a disk that does not answer
or lies behind a cut network never looks at it, and TCP goes on acknowledging.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors, postgres, sql
from psycopg.abc import AdaptContext, Params
from psycopg.adapt import Buffer, Loader

from pgassay.refusals.refusal import TargetRefused
from pgassay.spec.reading.texts import shown

CONNECTION_FAILURE = "08006"


class ConnectionLost(TargetRefused, psycopg.OperationalError):
    """The server ended a session or does not answer: a restart, a crash, an administrator.

    Also psycopg's error, so that callers that go on without the session can catch it.
    """


class BoundedSession(psycopg.Connection[tuple[Any, ...]]):
    """A psycopg connection that is cut when its time is over, also where the server does not
    answer."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        read_leniently(self)
        self._cutting = threading.Lock()
        self._timer: threading.Timer | None = None

    def execute(
        self, query: Any, params: Params | None = None, **named: Any
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Executes a query as psycopg does.

        Where the server cannot convert a name to UTF-8 (another database's, or any in a database
        without an encoding), it is asked again for the bytes as they are.
        """
        try:
            return super().execute(query, params, **named)
        except (errors.CharacterNotInRepertoire, errors.UntranslatableCharacter):
            idle = self.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            if not idle or not _is_ascii(self, query, params):
                raise
        super().execute("SET client_encoding = 'SQL_ASCII'")
        try:
            return super().execute(query, params, **named)
        finally:
            if not self.closed:
                super().execute("SET client_encoding = 'UTF8'")

    def bound(self, limit_s: float) -> None:
        """Ends the session `limit_s` seconds from now if it is still open then."""
        self._timer = threading.Timer(limit_s, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def wait(self, *arguments: Any, **named: Any) -> Any:
        """Waits for the answer to a statement; raises ConnectionLost where the server has ended the
        session."""
        with self._losses_named():
            return super().wait(*arguments, **named)

    def cursor(self, *arguments: Any, **named: Any) -> Any:
        """Returns a cursor; raises where the session is lost."""
        with self._losses_named():
            return super().cursor(*arguments, **named)

    @contextmanager
    def _losses_named(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, ConnectionLost) or not self._is_lost_by(error):
                raise
            said = error.diag.message_primary or str(error).partition("\n")[0]
            sqlstate = error.sqlstate or CONNECTION_FAILURE
            raise ConnectionLost("connection-lost", sqlstate=sqlstate, why=said) from error

    def _is_lost_by(self, error: psycopg.Error) -> bool:
        # The server closes the connection a moment after it has sent a FATAL error.
        fatal = error.diag.severity_nonlocalized in ("FATAL", "PANIC")
        return fatal or (self.closed and isinstance(error, psycopg.OperationalError))

    def close(self) -> None:
        """Closes the session and cancels the cut."""
        # Between a look at the socket and its end the number must not become another's.
        with self._cutting:
            if self._timer is not None:
                self._timer.cancel()
            super().close()

    def _cut(self) -> None:
        with self._cutting, suppress(OSError, psycopg.Error):
            if not self.closed:
                with socket.socket(fileno=os.dup(self.fileno())) as same:
                    same.shutdown(socket.SHUT_RDWR)


def _is_ascii(session: BoundedSession, query: Any, params: Params | None) -> bool:
    """Whether nothing that was sent had to be converted."""
    text = query.as_bytes(session) if isinstance(query, sql.Composable) else query
    return bool(text.isascii()) and str(params).isascii()


_TEXTS = (0, *(postgres.types[name].oid for name in ("text", "name", "varchar", "bpchar")))
"""Types by their number; 0 stands for those that psycopg does not know."""


class _Text(Loader):
    def load(self, data: Buffer) -> str:
        return shown(bytes(data))


class _Json(Loader):
    def load(self, data: Buffer) -> Any:
        # A backslash would begin an escape of JSON.
        return json.loads(bytes(data).decode("utf-8", "replace"))


def read_leniently(session: AdaptContext) -> None:
    """Makes a session read text of any encoding, which names in pg_database, pg_roles and
    pg_stat_activity may have."""
    for oid in _TEXTS:
        session.adapters.register_loader(oid, _Text)
    for name in ("json", "jsonb"):
        session.adapters.register_loader(postgres.types[name].oid, _Json)
