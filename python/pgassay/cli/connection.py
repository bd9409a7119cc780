"""libpq's connection options and the way to the server's host, the same for every command.

Enters: options. Leaves: a libpq connection string; what is left out, libpq fills in from its
environment, service and password files. Never: takes a password.
"""

from __future__ import annotations

from typing import Annotated

import typer
from psycopg.conninfo import make_conninfo

from pgassay.errors import SpecError
from pgassay.spec.passwords import refuse_password

Database = Annotated[
    str | None, typer.Argument(help="Database, or a libpq connection string [PGDATABASE].")
]
DatabaseName = Annotated[str | None, typer.Option("-d", "--dbname", help="The same, as an option.")]
Host = Annotated[str | None, typer.Option("-h", "--host", help="Host or socket folder [PGHOST].")]
Port = Annotated[int | None, typer.Option("-p", "--port", help="Port [PGPORT].")]
User = Annotated[str | None, typer.Option("-U", "--username", help="User [PGUSER].")]

Ssh = Annotated[str | None, typer.Option("--ssh", help="The server's host, as ssh knows it.")]
Sudo = Annotated[bool, typer.Option("--sudo", help="There, run commands by sudo -n.")]


def one_database(positional: str | None, named: str | None) -> str | None:
    """The database, which may be given either way but not both."""
    if positional is not None and named is not None:
        raise SpecError(f"two databases, {named} and {positional}; keep one")
    return positional if named is None else named


def connection_string(
    database: str | None, host: str | None, port: int | None, user: str | None
) -> str:
    """One libpq connection string from a command's options."""
    given = {"host": host, "port": port, "user": user}
    present = {name: value for name, value in given.items() if value is not None}
    if database is None:
        return make_conninfo("", **present)
    if "=" not in database and "://" not in database:
        return make_conninfo("", dbname=database, **present)
    try:
        refuse_password(database)
    except ValueError as error:
        raise SpecError(str(error), key="database") from None
    return make_conninfo(database, **present)
