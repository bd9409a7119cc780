"""A connection string for pg_basebackup, which may be older than the libpq in use here.

Enters: resolved connection parameters. Leaves: key=value words, of which only what differs from
libpq's own defaults.
Never: holds a password, unless it is asked for and stays within this process.
"""

from __future__ import annotations

from pathlib import Path

from psycopg import pq
from psycopg.conninfo import make_conninfo

from pgassay.server.connection.libpq import DEFAULT_FILES
from pgassay.server.protocol import ConnectionParameters

SECRETS = ("password", "sslpassword")
IMPLIED = {
    "sslcertmode": "allow",
    "sslnegotiation": "postgres",
    "sslsni": "1",
    "ssl_min_protocol_version": "TLSv1.2",
    "gssencmode": "prefer",
}
"""Defaults that libpq has without naming them; older ones do not know all of these options."""
NOT_FOR_REPLICATION = ("dbname", "options", "client_encoding", "target_session_attrs")


def connection_words(parameters: ConnectionParameters) -> str:
    """Returns libpq's words for the way to the server, without secrets."""
    return make_conninfo(**_words(parameters))


def replication_words(parameters: ConnectionParameters) -> str:
    """Returns libpq's words for a replication session opened in this process, with secrets."""
    given = {"password": parameters.password, "sslpassword": parameters.libpq.get("sslpassword")}
    found = {name: value for name, value in given.items() if value}
    return make_conninfo(**_words(parameters), **found, replication="true")


def _words(parameters: ConnectionParameters) -> dict[str, str]:
    compiled = {
        option.keyword.decode(): (option.compiled or b"").decode()
        for option in pq.Conninfo.get_defaults()
    }
    defaults = {**compiled, **IMPLIED}
    return {
        name: str(value)
        for name, value in parameters.for_psycopg().items()
        if name not in (*SECRETS, *NOT_FOR_REPLICATION)
        and str(value) not in ("", defaults.get(name))
        and not (name in DEFAULT_FILES and not Path(str(value)).exists())
    }
