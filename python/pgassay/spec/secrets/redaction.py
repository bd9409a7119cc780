"""Finds secrets by their form: removed from what is shown or stored, refused in a file.

Enters: text, values of JSON, names of settings. Leaves: the same without the secrets. Never: finds
every secret by its form; callers pass those that they know by value.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any

HIDDEN = "***"
SET = "(set)"
"""Shown in place of a setting's value that may contain a secret."""
SHORTEST_KNOWN = 4
"""A shorter password is part of too many words to be removed from text by value."""


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_TABLE = tomllib.loads((files(__package__) / "redaction.toml").read_text("utf-8"))
_MAY_HOLD, _ARE_SECRETS = _any_of(_TABLE["may_hold"]), _any_of(_TABLE["are_secrets"])
_COLUMNS = _any_of(_TABLE["are_secrets"] + _TABLE["columns"])
_SQL = _any_of(_TABLE["sql"])
_TEXT = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _TABLE["text"])


def hides(setting: str) -> bool:
    """Whether a setting's value may contain a secret, whatever its form."""
    return _MAY_HOLD.search(setting) is not None or is_secret(setting)


def is_secret(setting: str) -> bool:
    """Whether a setting's value is a secret."""
    return _ARE_SECRETS.search(setting) is not None


def is_secret_column(name: str) -> bool:
    """Whether the values of a column of a user's table are secrets, by its name."""
    return _COLUMNS.search(name) is not None


def shown_of(setting: str, value: str) -> str:
    """Returns a setting's value as it may be shown or stored: without a password."""
    return SET if hides(setting) else redacted(value)


def redacted(text: str, *known: str | None) -> str:
    """Returns a text without what looks like a password, and without the passwords that are
    known."""
    for pattern in _TEXT:
        text = pattern.sub(rf"\1{HIDDEN}", text)
    for secret in known:
        if secret and len(secret) >= SHORTEST_KNOWN:
            text = text.replace(secret, HIDDEN)
    return text


def redacted_value(value: Any) -> Any:
    """Returns a JSON value with every text redacted; keys stay."""
    match value:
        case str():
            return redacted(value)
        case dict():
            return {key: redacted_value(inner) for key, inner in value.items()}
        case list() | tuple():
            return [redacted_value(inner) for inner in value]
        case _:
            return value


def secret_line(text: str) -> int | None:
    """Returns the number of the first line with something like a password; None without one."""
    found = [match.start() for pattern in _TEXT if (match := pattern.search(text))]
    return text.count("\n", 0, min(found)) + 1 if found else None


def sql_secret_line(text: str) -> int | None:
    """Returns the number of the first line of SQL that gives a password to a server; None without
    one."""
    found = _SQL.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else None
