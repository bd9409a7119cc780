"""Check libpq's connection strings, which must have no password.

Enters: the text of a file or a command. Leaves: the same text, or a ValueError that names the fix.
Never: shows a value of the text, which may be part of a password.
"""

from __future__ import annotations

import re
from typing import Any

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.suggest import did_you_mean

_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key")
_PAIR = re.compile(r"\s*(\w+)\s*=\s*(?:'(?:[^'\\]|\\.)*'|(?:[^'\s\\]|\\.)*)(?=\s|$)")


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
        raise _unreadable(dsn) from None
    if any(given.get(secret) for secret in _SECRETS):
        raise UnfitValue("password-in-value")


def _unreadable(dsn: str) -> UnfitValue:
    """Why libpq cannot read the text: the first key of its pairs that libpq does not know, if they
    are pairs up to there."""
    from psycopg.pq import Conninfo

    known = [option.keyword.decode() for option in Conninfo.get_defaults()]
    place = 0
    while pair := _PAIR.match(dsn, place):
        place, word = pair.end(), pair[1]
        if word not in known:
            near = did_you_mean(word, known)
            return UnfitValue("unknown-word-of-connection", word=word, near=near)
    return UnfitValue("not-a-connection-string")
