"""Tells SQL from a word that somebody takes for the name of a level.

Enters: the text of a level. Leaves: whether it may be SQL. Never: parses it; the server does.
"""

from __future__ import annotations

import re
from typing import Any

# PostgreSQL documentation, "SQL Commands".
_WORDS = (
    "abort alter analyze begin call checkpoint close cluster comment commit copy create deallocate"
    " declare delete discard do drop end execute explain fetch grant import insert listen load lock"
    " merge move notify prepare reassign refresh reindex release repack reset revoke rollback"
    " savepoint security select set show start table truncate unlisten update vacuum values wait"
    " with"
)
_COMMANDS = frozenset(_WORDS.split())
_FIRST_WORD = re.compile(r"\s*([A-Za-z_]\w*)")


def starts_as_sql(text: Any) -> bool:
    """Returns whether the first word is that of an SQL command."""
    word = _FIRST_WORD.match(text) if isinstance(text, str) else None
    return word is not None and word[1].lower() in _COMMANDS


def is_no_sql(text: str) -> bool:
    """Returns whether the first word is none that a statement begins with. A text that begins with
    a comment or a parenthesis may be SQL."""
    return _FIRST_WORD.match(text) is not None and not starts_as_sql(text)
