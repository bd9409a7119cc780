"""Check libpq's connection strings, which must have no password.

Enters: the text of a file or a command. Leaves: the same text, or a ValueError that names the fix.
Never: shows a value of the text, which may be part of a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.suggest import did_you_mean

_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key")
_PAIR = re.compile(r"\s*(\w+)\s*=\s*(?:'(?:[^'\\]|\\.)*'|(?:[^'\s\\]|\\.)*)(?=\s|$)")
_URI = re.compile(r"postgres(?:ql)?://")
_WORD = re.compile(r"\w+")
_OF_JDBC = ("ssl", "true")
"""libpq takes it in a URI for sslmode=require."""


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
    """Why libpq cannot read the text: its first word that libpq does not know, if there is one."""
    from psycopg.pq import Conninfo

    known = [option.keyword.decode() for option in Conninfo.get_defaults()]
    words = _words_of_uri(dsn) if _URI.match(dsn) else _words_of_pairs(dsn)
    for word in words:
        if word not in known:
            near = did_you_mean(word, known)
            return UnfitValue("unknown-word-of-connection", word=word, near=near)
    return UnfitValue("not-a-connection-string")


def _words_of_pairs(dsn: str) -> Iterator[str]:
    """Yields the words of `word=value` pairs, as long as the text consists of them."""
    place = 0
    while pair := _PAIR.match(dsn, place):
        place = pair.end()
        yield pair[1]


def _words_of_uri(dsn: str) -> Iterator[str]:
    """Yields the words of a URI's parameters; none where what stands behind its last question mark
    may be part of a password."""
    query = dsn.rpartition("?")[2]
    if "@" in query:
        return
    for word, value in parse_qsl(query, keep_blank_values=True, separator="&"):
        if (word, value) != _OF_JDBC and _WORD.fullmatch(word):
            yield word
