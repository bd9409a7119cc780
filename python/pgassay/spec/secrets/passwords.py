"""Refuse passwords in connection strings, which are stored with every run.

Enters: a libpq connection string. Leaves: nothing, or a ValueError that names the fix.
Never: shows the string.
"""

from __future__ import annotations

from typing import Any

from pgassay.refusals.refusal import UnfitValue

_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key")


def without_password(dsn: Any) -> Any:
    """Returns the connection string of a table's field, or raises ValueError where it has a
    password; a value of another type is refused elsewhere."""
    if isinstance(dsn, str):
        refuse_password(dsn)
    return dsn


def refuse_password(dsn: str) -> None:
    """Raise ValueError if a connection string is unreadable or has a secret."""
    import psycopg  # loaded where there is one: a report of a stored run needs none
    from psycopg.conninfo import conninfo_to_dict

    try:
        given = conninfo_to_dict(dsn)
    except psycopg.Error:
        # libpq's message quotes the text, which may be part of a password.
        raise UnfitValue("not-a-connection-string") from None
    if any(given.get(secret) for secret in _SECRETS):
        raise UnfitValue("password-in-value")
