"""The options that name a server and its host, the same for every command.

Enters: options. Leaves: a libpq connection string; libpq fills in what is missing from its
environment variables, service file and password file. Never: takes a password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgassay.cli.terminal.options import option
from pgassay.refusals.refusal import Refusal, UnfitValue

if TYPE_CHECKING:
    from pgassay.server.protocol import ConnectionParameters

Database = Annotated[
    str | None, typer.Argument(help="Database name or libpq connection string [PGDATABASE].")
]
DatabaseName = Annotated[str | None, option("-d --dbname --dsn", "The database, as an option.")]
Host = Annotated[str | None, option("-h --host", "Host name or socket directory [PGHOST].")]
Port = Annotated[int | None, option("-p --port", "Port number [PGPORT].")]
User = Annotated[str | None, option("-U --username", "User name [PGUSER].")]

Ssh = Annotated[str | None, option("--ssh", "Reach the server's host by ssh, under this name.")]
Sudo = Annotated[bool, option("--sudo", "On that host, run commands by sudo -n.")]


def warn_of_killed_runs(where: ConnectionParameters) -> None:
    """Prints a warning where a killed run has left its settings on the server."""
    from pgassay.cli.terminal.console import warn
    from pgassay.server.undo.marking import left_on

    left = left_on(where)
    if left:
        warn(left)


def connection_string(
    database: str | None,
    host: str | None,
    port: int | None,
    user: str | None,
    dbname: str | None = None,
) -> str:
    """One libpq connection string from a command's options; only one names the database. As in
    psql and pgbench, what a connection string says wins over `-h`, `-p` and `-U`."""
    if database is not None and dbname is not None:
        raise Refusal("two-databases", one=dbname, other=database)
    database = database or dbname
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    from pgassay.spec.reading.connection_strings import refuse_password
    from pgassay.spec.reading.texts import shown

    given = {"host": host, "port": port, "user": user}
    present = {name: value for name, value in given.items() if value is not None}
    for name in (database, host, user):
        if name is not None and name != shown(name):
            raise Refusal("name-not-utf8", name=shown(name))
    if database is None:
        return make_conninfo("", **present)
    if "=" not in database and "://" not in database:
        return make_conninfo("", dbname=database, **present)
    try:
        refuse_password(database)
    except UnfitValue as error:
        raise error.refusal.at("database") from None
    if not present:
        return database
    said = {name: value for name, value in conninfo_to_dict(database).items() if value}
    return make_conninfo("", **{**present, **said})
