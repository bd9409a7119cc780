"""Control sessions, and what to tell a user who gets none.

Enters: connection parameters or a libpq connection string. Leaves: an autocommit connection that
the experiment's own time limits cannot end. Never: shows a password, or libpq's many lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.target.protocol import Connection, ConnectionParameters
from pgassay.target.statements import statement

APPLICATION_NAME = "pgassay control"
CONNECT_LIMIT_S = 10
STATEMENT_LIMIT_S = 60.0
ENCRYPTED = ("require", "verify-ca", "verify-full")

# What the refusal's text says, what to do about it. The first that fits is shown.
HINTS = (
    (
        r"password authentication failed",
        "check the user and the password (dsn, PGPASSWORD or ~/.pgpass)",
    ),
    (r"no password supplied", "give one in PGPASSWORD, ~/.pgpass or a service file"),
    (r"database .* does not exist", "create it, or name another with dbname="),
    (r"role .* does not exist", "create it, or name another with user="),
    (r"pg_hba\.conf", "let this host, user and database in through pg_hba.conf"),
    (r"too many clients|connection slots", "close sessions or raise max_connections"),
    (
        r"Connection refused|No such file",
        "is the server running there, and is host and port right?",
    ),
    (r"could not translate|Name or service not known|resolve", "check the host name"),
    (r"timeout|timed out|No route|unreachable", "check the host, the port and any firewall"),
    (r"starting up|shutting down|recovery", "try again in a moment"),
    (r"definition of service", "check the service name and pg_service.conf"),
    (r"SSL was required", "the load engine has no TLS either: use sslmode=disable or prefer"),
    (r"permission denied", "this user may not; name another or grant it"),
)


def connect(
    parameters: ConnectionParameters, *, statement_limit_s: float = STATEMENT_LIMIT_S
) -> Connection:
    """A control session; `statement_limit_s` 0 is none."""
    arguments = {
        "application_name": APPLICATION_NAME,
        "connect_timeout": CONNECT_LIMIT_S,
        **parameters.for_psycopg(),
    }
    session = _connected(parameters.password, **arguments)
    try:
        session.execute(
            statement("control_session"), (f"{round(statement_limit_s * 1000)}ms",), prepare=False
        )
    except BaseException:
        session.close()
        raise
    return session


def resolve(dsn: str) -> ConnectionParameters:
    """Where libpq really goes: its defaults, environment, service and password files applied."""
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.Error:
        # libpq quotes what it could not read, and that may be a piece of the password.
        raise ConnectionRefused(
            "target.dsn is not a connection string libpq reads; write key=value pairs such as "
            '"service=lab" or "host=db1 dbname=bench", or postgresql://user@host/dbname'
        ) from None
    arguments: dict[str, Any] = {"conninfo": dsn, "application_name": APPLICATION_NAME}
    if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
        arguments["connect_timeout"] = CONNECT_LIMIT_S
    password = given.get("password")
    with _connected(str(password) if password else None, **arguments) as session:
        # One value each, as connected, even where the string names several hosts.
        options = {
            option.keyword.decode(): (option.val or b"").decode() for option in session.pgconn.info
        }
        reached = session.info
        host = reached.hostaddr if options.get("hostaddr") else reached.host
        return ConnectionParameters(
            host=host,
            port=reached.port,
            user=reached.user,
            dbname=reached.dbname,
            password=reached.password or None,
            options=reached.options,
            sslmode=options.get("sslmode") or "prefer",
        )


def refuse_encryption(parameters: ConnectionParameters) -> None:
    """The load engine speaks no TLS yet; say so before anything is measured over another path."""
    if parameters.host.startswith("/"):
        return
    if parameters.sslmode in ENCRYPTED:
        raise no_tls(f"sslmode={parameters.sslmode}")


def no_tls(why: str) -> ConnectionRefused:
    return ConnectionRefused(
        f"{why}, and the load engine has no TLS yet; run pgassay on the server's host over its "
        "socket (host=/var/run/postgresql), or through an SSH tunnel with sslmode=disable"
    )


def identity(session: Connection, *, with_database: bool = False) -> str:
    """Which cluster this is, whatever name led here; empty where this user may not know."""
    try:
        row = session.execute(statement("identity")).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return ""
    if row is None:
        return ""
    return f"{row[0]}/{row[1]}" if with_database else str(row[0])


def one_line(error: BaseException) -> str:
    """The line of an error that says what is wrong."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        return error.diag.message_primary.replace("\n", " ")
    lines = [line.strip(" -\t") for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"FATAL: |failed: |ERROR: ", line)]
    line = (telling or lines or [type(error).__name__])[-1 if telling else 0]
    line = re.sub(r"^(?:.*?, hostaddr: '[^']*': |.*?, hostaddr '[^']*': )", "", line)
    line = re.sub(r"^connection failed: ", "", line)
    return re.sub(r"failed: (?:FATAL|ERROR):\s+", "failed: ", line)


def refused(error: psycopg.Error, password: str | None = None) -> ConnectionRefused:
    """A failure to connect, as one line with its fix and without the password."""
    line = one_line(error)
    if "invalid integer value" in line:
        # A password with an unescaped @ or : in a URI ends up here as the "port".
        line = "the port of target.dsn is not a number (in a URI write @ : / of a password as %40)"
        return ConnectionRefused(line, sqlstate=error.sqlstate)
    if password:
        line = line.replace(password, "***")
    hint = next((hint for pattern, hint in HINTS if re.search(pattern, line)), None)
    return ConnectionRefused(f"{line}; {hint}" if hint else line, sqlstate=error.sqlstate)


def target_failure(error: psycopg.Error, doing: str) -> TargetError:
    """A statement that failed, with what it was for."""
    return TargetError(f"{doing}: {one_line(error)}", sqlstate=error.sqlstate)


@contextmanager
def told_as_target_error(doing: str) -> Iterator[None]:
    """A statement of ours that fails is the target's failure, never psycopg's."""
    try:
        yield
    except psycopg.Error as error:
        raise target_failure(error, doing) from error


def _connected(secret: str | None, /, **arguments: Any) -> Connection:
    open_session: Callable[..., Connection] = psycopg.connect
    try:
        return open_session(autocommit=True, **arguments)
    except psycopg.Error as error:
        _raise(refused(error, secret))


def _raise(error: TargetError) -> NoReturn:
    # Without its cause: libpq's text may quote the connection string.
    raise error from None
