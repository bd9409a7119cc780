"""No password in a file that is stored with every run, nor on a command line.

Enters: a libpq connection string. Leaves: nothing, or a ValueError that names the fix.
Never: shows the string.
"""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key")

_REACHES = ("host", "hostaddr", "service")


def is_reached_by(dsn: str) -> bool:
    """Whether a connection string says where the server is; one that is unreadable does not."""
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.Error:
        return False
    return any(given.get(name) for name in _REACHES)


def refuse_password(dsn: str) -> None:
    """Raise ValueError where a connection string is unreadable or holds a secret."""
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.Error:
        # libpq quotes what it could not read, and that may be a piece of a password.
        raise ValueError(
            "not a connection string libpq reads; write key=value pairs such as"
            " 'host=db1 dbname=bench' or postgresql://user@host/dbname"
        ) from None
    if any(given.get(secret) for secret in _SECRETS):
        raise ValueError("a password has no place here; use ~/.pgpass, PGPASSWORD or a service")
