"""Which statements are pgassay's own: those of its samplers and control sessions.

Enters: texts of pg_stat_statements. Leaves: yes or no. Never: guesses by anything but the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from pgassay.trials.sampling.queries import all_queries

_LENGTH = 80
"""Characters of a text that tell it from others; what follows may be cut or joined."""
_SHORTEST = 20
_CONSTANT = re.compile(
    r"'(?:[^']|'')*'|\$\d+|%s|%\(\w+\)s|\b\d+(?:\.\d+)?\b|\b(?:true|false|epoch)\b"
)
_COMMENT = re.compile(r"--[^\n]*")
_SCHEMA = re.compile(r'(?:\{\w+\}|"(?:[^"]|"")+"|\b\w+)\.(?=pg_)')
"""An extension's schema is known only where the statement is sent."""
_LIST = re.compile(r"\?(?:/\*,\.\.\.\*/|(?:,\?)+)")
"""Several constants, which PostgreSQL 18 shows as one."""


def is_own(text: str) -> bool:
    """Whether pgassay sends this statement itself."""
    found = _skeleton(text)
    return len(found) >= _SHORTEST and found in _own()


def own_among(texts: Mapping[str, str]) -> set[str]:
    """The query ids of the statements that pgassay sends itself; `texts` by query id."""
    return {queryid for queryid, text in texts.items() if is_own(text)}


@cache
def _own() -> frozenset[str]:
    texts = [query.sql for query in all_queries()]
    texts += _sql_in(files("pgassay.server") / "sql")
    texts += tomllib.loads((files(__package__) / "own_statements.toml").read_text("utf-8"))["texts"]
    return frozenset(_skeleton(text) for text in texts)


def _sql_in(folder: Traversable) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sql_in(entry)
        elif entry.name.endswith(".sql"):
            yield entry.read_text("utf-8")


def _skeleton(text: str) -> str:
    """The beginning without constants, comments, spaces and schemas of PostgreSQL's own objects."""
    bare = _CONSTANT.sub("?", _SCHEMA.sub("", _COMMENT.sub(" ", text))).lower()
    return _LIST.sub("?", re.sub(r"\s+", "", bare))[:_LENGTH]
