"""Control sessions, and what to tell a user who gets none.

Enters: connection parameters or a libpq connection string. Leaves: an autocommit connection that
the experiment's own time limits cannot end. Never: shows a password, or libpq's many lines; lifts
any guard of the user but time limits, unless it is for the run's own changes.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from enum import Enum
from typing import Any, LiteralString, NamedTuple, NoReturn

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.refusals.refusal import NotConnected, TargetRefused
from pgassay.server.connection import libpq
from pgassay.server.connection.bounded_session import CONNECTION_FAILURE, BoundedSession
from pgassay.server.protocol import CONTROL_NAME, Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.reading.texts import shown

# psycopg warns of what it ignores while an error is on its way. Without a handler Python prints
# that on stderr, beside the one line for the user.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Work(Enum):
    """What a control session is for: this decides which guards of the user it lifts, as the values
    of lock_timeout and default_transaction_read_only; None leaves the user's."""

    LOOKING = ("0", None)
    """Nothing is written; a read takes no lock that others wait for."""
    AS_THE_USER = (None, None)
    """Statements on the user's own tables, which psql or pgbench would run alike."""
    OWN_CHANGES = ("0", "off")
    """What a run makes and takes back on a server that was found writable: by then the setting
    may be the run's own factor."""


_OF_OURS: LiteralString = "SET search_path = pg_catalog; SET jit = off"
"""For queries of ours. Where an arm switches an `enable_…` setting off, their estimated cost passes
`jit_above_cost`, and compiling them would take a processor from the load."""
_OF_USERS: LiteralString = "RESET search_path; RESET jit"
_OWN_PATH: LiteralString = "RESET search_path"
_PATH_NOW: LiteralString = "SELECT pg_catalog.current_setting('search_path')"
_PATH_AS: LiteralString = "SELECT pg_catalog.set_config('search_path', %s, false)"
CONNECT_LIMIT_S = 10
STATEMENT_LIMIT_S = 60.0
LIFT_ATTEMPTS = 20

# What the server or libpq says, and the code of its refusal. The first that fits is shown.
_REASONS = (
    (r"password authentication failed", "wrong-password"),
    (r"no password supplied", "password-missing"),
    (r"database .* does not exist", "no-such-database"),
    (r"role .* does not exist", "no-such-role"),
    (r"pg_hba\.conf", "shut-out-by-hba"),
    (r"too many clients|connection slots", "no-free-connection"),
    (r"Connection refused|No such file", "server-not-running"),
    (r"local user with ID .* does not exist", "user-not-named"),
    (r"could not translate|Name or service not known|resolve", "host-unknown"),
    (r"timeout|timed out|No route|unreachable", "host-unreachable"),
    (r"starting up|shutting down|recovery", "server-not-up-yet"),
    (r"definition of service", "service-unknown"),
    (r"SSL was required", "server-without-tls"),
    (r"certificate verify failed", "certificate-not-trusted"),
    (r"root certificate file", "no-root-certificate"),
    (r"server certificate for", "certificate-of-another-name"),
    (r"group or world access", "key-open-to-others"),
    (r"permission denied", "file-or-database-closed"),
    (r"unsupported startup parameter", "pooler-takes-no-setting"),
    (r"", "not-connected"),
)


def connect(
    parameters: ConnectionParameters,
    *,
    work: Work = Work.LOOKING,
    statement_limit_s: float = STATEMENT_LIMIT_S,
    through_pooler: bool = False,
    lasts_s: float | None = None,
    keeps_path: bool = False,
) -> Connection:
    """A control session, without the time limits of others; `statement_limit_s` 0 is none.

    It looks for functions and operators in pg_catalog alone: others may have put some of these
    names into the schemas of the search path, which would then run with the rights of this user
    (CVE-2018-1058), and its queries are never compiled. `keeps_path` is for the SQL of the user and
    of a workload, which keeps the user's `jit`, too; see `user_path`.

    One through a pooler is refused, or where that may be, left with the limits it has: what it sets
    would be left to others. It is cut after `lasts_s`, where that is given, also from a server that
    does not answer any more."""
    arguments = {"application_name": CONTROL_NAME, **parameters.for_psycopg()}
    session = _connected(parameters.password, **arguments)
    try:
        if lasts_s is not None:
            session.bound(lasts_s)
        if _is_pooled(session):
            if not through_pooler:
                raise TargetRefused("is-a-pooler", server=parameters.label)
            return session
        _tried_often(session, "SET statement_timeout = 0")
        session.execute(_OF_OURS, prepare=False)
        lift_guards(session, work, statement_limit_s)
        if keeps_path:
            session.execute(_OF_USERS, prepare=False)
    except psycopg.Error as error:
        # Such as a server that is stopped just now: it let us in and ended the session.
        session.close()
        _raise(refused(error, parameters.password))
    except BaseException:
        session.close()
        raise
    return session


def lift_guards(session: Connection, work: Work, statement_limit_s: float) -> None:
    """Gives the session the time limits of this kind of work from now on."""
    limits = (f"{round(statement_limit_s * 1000)}ms", *work.value)
    session.execute(statement("connection/control_session"), limits, prepare=False)


def for_sql(parameters: ConnectionParameters) -> Connection:
    """Opens a session for the SQL of a workload, with that workload's search path."""
    return connect(parameters, work=Work.OWN_CHANGES, statement_limit_s=0, keeps_path=True)


@contextmanager
def user_path(session: Connection) -> Iterator[None]:
    """Looks names up, while the block lasts, where the user or the workload looks for them."""
    (before,) = session.execute(_PATH_NOW, prepare=False).fetchall()
    session.execute(_OWN_PATH, prepare=False)
    try:
        yield
    finally:
        # A transaction that failed takes the path back by itself.
        with suppress(psycopg.Error):
            session.execute(_PATH_AS, before, prepare=False)


@contextmanager
def jit_of_the_server(session: Connection) -> Iterator[None]:
    """Lets a query see where the server's `jit` comes from; in other queries of ours it is off.

    Not by a transaction: within one, names that are no UTF-8 cannot be asked for again.
    """
    session.execute("RESET jit", prepare=False)
    try:
        yield
    finally:
        with suppress(psycopg.Error):
            session.execute("SET jit = off", prepare=False)


def _is_pooled(session: Connection) -> bool:
    """Whether what answers is another backend than the one whose key we were given to cancel."""
    answer = _tried_often(session, "SELECT pg_catalog.pg_backend_pid()").fetchone()
    return answer != (session.info.backend_pid,)


def _tried_often(session: Connection, query: LiteralString) -> psycopg.Cursor[tuple[Any, ...]]:
    """So short a statement fits into any limit, unless the host is held up just then.

    The limit is not lifted by a start-up option: pg_settings would then show that as the value to
    go back to.
    """
    for _ in range(LIFT_ATTEMPTS - 1):
        with suppress(psycopg.errors.QueryCanceled):
            return session.execute(query, prepare=False)
    return session.execute(query, prepare=False)


def resolve(dsn: str) -> ConnectionParameters:
    """Returns where libpq really goes, with its defaults, environment and files applied."""
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.Error:
        # libpq quotes what it could not read, and that may be a piece of the password.
        raise NotConnected("dsn-unreadable") from None
    arguments: dict[str, Any] = {
        "conninfo": dsn,
        "application_name": CONTROL_NAME,
        **_host_of(given),
    }
    if (given.get("gssencmode") or os.environ.get("PGGSSENCMODE")) != "require":
        # The load has no GSSAPI, so what is proved here must do without.
        arguments["gssencmode"] = "disable"
    chose_timeout = "connect_timeout" in given or "PGCONNECT_TIMEOUT" in os.environ
    # What is given here would win over a service, which may say it too.
    of_service = "service" in given or "PGSERVICE" in os.environ
    if not chose_timeout and not of_service:
        arguments["connect_timeout"] = CONNECT_LIMIT_S
    password = given.get("password")
    with _connected(str(password) if password else None, **arguments) as session:
        said = of_service and any(
            option.keyword == b"connect_timeout" and option.val for option in session.pgconn.info
        )
        try:
            return replace(_as_connected(session), chose_timeout=chose_timeout or said)
        except UnicodeDecodeError as error:
            raise NotConnected("name-not-utf8", name=shown(error.object)) from None


def first_address(dsn: str) -> str:
    """Where libpq would look for the server, without asking it; empty where that is several places
    or none."""
    attempt = psycopg.pq.PGconn.connect_start(dsn.encode())
    try:
        given = {option.keyword: option.val or b"" for option in attempt.info}
        if b"," in given.get(b"host", b"") + given.get(b"hostaddr", b"") or not attempt.host:
            return ""
        return f"{attempt.host.decode()}:{attempt.port.decode()}"
    finally:
        attempt.finish()


def parameters_of(options: Mapping[str, str]) -> ConnectionParameters:
    """Returns what others need to open the same session, from libpq's parameters of one single
    host."""
    return ConnectionParameters(
        host=options.get("host", ""),
        hostaddr=options.get("hostaddr", ""),
        port=int(options.get("port", "5432")),
        user=options["user"],
        dbname=options.get("dbname") or options["user"],
        password=options.get("password") or None,
        options=options.get("options", ""),
        startup=libpq.settings_of_environment(),
        client_encoding=options.get("client_encoding", ""),
        sslmode=options.get("sslmode") or "prefer",
        connect_timeout_s=libpq.connect_timeout_s(options, CONNECT_LIMIT_S),
        libpq=libpq.kept(options),
    )


def _host_of(given: Mapping[str, Any]) -> dict[str, str]:
    """An abstract socket, named so that `_connected` sees it."""
    host = str(given.get("host") or ("" if "service" in given else os.environ.get("PGHOST", "")))
    return {"host": host} if host.startswith("@") and "hostaddr" not in given else {}


def _as_connected(session: Connection) -> ConnectionParameters:
    # As bytes: the session has the encoding that the user names, and names are in UTF-8.
    reached = session.pgconn
    options = {
        option.keyword.decode(): option.val.decode() for option in reached.info if option.val
    }
    # One value each, as connected, even where the string names several hosts.
    host = reached.host.decode()
    local = host.startswith(("/", "@")) and not options.get("hostaddr")
    return parameters_of(
        {
            **options,
            "host": host,
            "hostaddr": "" if local else reached.hostaddr.decode(),
            "port": reached.port.decode() or "5432",
            "user": reached.user.decode(),
            "dbname": reached.db.decode(),
            "password": reached.password.decode(),
            "options": reached.options.decode(),
        }
    )


def identity(session: Connection) -> str:
    """Returns which cluster this is, whatever name led here; empty where this user may not know."""
    try:
        row = session.execute(statement("connection/identity")).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return ""
    return "" if row is None else str(row[0])


class ServerRow(NamedTuple):
    """The version, data directory, standby state and session process that a server reports."""

    version_num: int
    version: str
    data_directory: str | None
    """None where this user may not see it."""
    is_standby: bool
    backend: int
    """The process of this session."""


def server_row(session: Connection) -> ServerRow:
    """Asks a server for what it says of itself."""
    return ServerRow(*session.execute(statement("existing/server"), prepare=False).fetchall()[0])


def version_text(session: Connection) -> str:
    """Returns the answer to `SELECT version()`: the server with its compiler and platform."""
    row = session.execute("SELECT pg_catalog.version()").fetchone()
    return "" if row is None else str(row[0])


def one_line(error: BaseException) -> str:
    """Returns the line of an error that says what is wrong."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        return error.diag.message_primary.replace("\n", " ")
    lines = [line.strip(" -\t") for line in _whole_lines(str(error)) if line.strip()]
    telling = [line for line in lines if re.search(r"FATAL: |failed: |ERROR: ", line)]
    line = (telling or lines or [type(error).__name__])[-1 if telling else 0]
    line = re.sub(r"^(?:.*?, hostaddr: '[^']*': |.*?, hostaddr '[^']*': )", "", line)
    line = re.sub(r"^connection failed: ", "", line)
    return re.sub(r"failed: (?:FATAL|ERROR):\s+", "failed: ", line)


def _whole_lines(text: str) -> list[str]:
    """Lines, put together where one ends inside quotes: a name may hold a newline."""
    found: list[str] = []
    for line in text.splitlines():
        if found and found[-1].count('"') % 2:
            found[-1] += f" {line}"
        else:
            found.append(line)
    return found


def refused(error: psycopg.Error, password: str | None = None) -> ConnectionRefused:
    """Returns a failure to connect as an error of one line with its fix and without the
    password."""
    line = one_line(error)
    if "invalid integer value" in line:
        # A password with an unescaped @ or : in a URI ends up here as the "port".
        return NotConnected("dsn-port-not-a-number")
    if password:
        line = line.replace(password, "***")
    code = next(code for pattern, code in _REASONS if re.search(pattern, line))
    return NotConnected(code, sqlstate=error.sqlstate, why=line)


def target_failure(error: psycopg.Error, doing: str, sql: str = "") -> TargetError:
    """A statement that failed, with what it was for, and the line where the server says it and
    `sql` has several. Where the connection was lost no server gave an SQLSTATE; it is
    connection_failure then."""
    position = int(error.diag.statement_position or 0)
    if position and "\n" in sql:
        line = 1 + sql.count("\n", 0, position - 1)
        doing += f", line {line}"
    lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
    sqlstate = CONNECTION_FAILURE if lost else error.sqlstate
    return TargetRefused("request-failed", sqlstate=sqlstate, doing=doing, why=one_line(error))


@contextmanager
def as_target_error(doing: str, sql: str = "") -> Iterator[None]:
    """Turns errors of psycopg, while the block lasts, into TargetErrors that say what was being
    done, and in which line of `sql`, the text that was sent."""
    try:
        yield
    except psycopg.Error as error:
        raise target_failure(error, doing, sql) from error


def _connected(secret: str | None, /, **arguments: Any) -> BoundedSession:
    open_session: Callable[..., BoundedSession] = BoundedSession.connect
    if str(arguments.get("host", "")).startswith("@"):
        open_session = _connect_abstract
    try:
        return open_session(autocommit=True, **arguments)
    except psycopg.Error as error:
        _raise(refused(error, secret))


def _connect_abstract(conninfo: str = "", *, autocommit: bool, **arguments: Any) -> BoundedSession:
    """psycopg would look an abstract socket's name up in the DNS; libpq itself knows better."""
    pgconn = psycopg.pq.PGconn.connect(make_conninfo(conninfo, **arguments).encode())
    if pgconn.status != psycopg.pq.ConnStatus.OK:
        message = pgconn.get_error_message()
        pgconn.finish()
        raise psycopg.OperationalError(message)
    session = BoundedSession(pgconn)
    session.autocommit = autocommit
    return session


def _raise(error: TargetError) -> NoReturn:
    # Without its cause: libpq's text may quote the connection string.
    raise error from None
