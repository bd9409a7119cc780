"""Which objects the SQL of a level makes, where it makes indexes and statistics alone.

Enters: the SQL of a level. Leaves: the names that it gives, or None where it does anything else.
Never: parses SQL as the server does: what it does not know for certain is anything else.
"""

from __future__ import annotations

import re

_ASIDE = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|(?P<name>\"(?:[^\"]|\"\")*\")", re.DOTALL
)
"""Comments and constants, whose words say nothing; names in quotes stay."""
_NAME = r'"(?:[^"]|"")*"|[^\W\d][\w$]*'
_MAKES = re.compile(
    r"\s*CREATE\s+(?:(?:UNIQUE\s+)?INDEX(?:\s+CONCURRENTLY)?|STATISTICS)"
    rf"(?:\s+(?:(?:{_NAME})\s*\.\s*)?(?P<name>{_NAME}))?(?:\s*\([^()]*\))?\s*\bON\b",
    re.IGNORECASE,
)
"""IF NOT EXISTS is anything else: what it makes depends on what other levels have made."""


def names_of_objects(sql: str) -> list[str] | None:
    """Returns the names that CREATE INDEX and CREATE STATISTICS give, as the server keeps them;
    None where a statement is another. An object without a name gets one that no other has."""
    bare = _ASIDE.sub(lambda match: match["name"] or " ", sql)
    found = []
    for one in filter(str.strip, bare.split(";")):
        made = _MAKES.match(one)
        if made is None:
            return None
        if (name := made["name"]) is not None:
            found.append(name if name.startswith('"') else f'"{name.lower()}"')
    return found
