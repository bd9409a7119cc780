"""The texts of statements that pg_stat_statements counted.

Enters: a way to sessions, the counters of a load's statements. Leaves: queryid → text.
Never: runs while a load is measured, keeps a literal or password, or fails a trial.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.notes import Note
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.spec.secrets.redaction import redacted
from pgassay.trials.sampling.queries import STATEMENTS, Extension

MOST_CHARACTERS = 2000
_READ_CHARACTERS = 10_000
"""More than is kept: a secret that the cut splits would not be recognised."""
_MASKED = "'…'"
_LITERAL = re.compile(
    r"""
      (?P<stays> "(?:[^"]|"")*" | --[^\n]* | /\*(?: /\*.*?(?:\*/|\Z) | . )*?(?:\*/|\Z) )
    | (?<![\w$]) E'(?: [^'\\] | \\. | '' | '[^\S\n]*\n\s*' )*(?:'|\Z)
    | (?: (?<![\w$]) U& )? '(?: [^'] | '' )*(?:'|\Z)
    | (?<![\w$]) \$(?P<tag> (?:[^\W\d]\w*)? )\$ .*? (?: \$(?P=tag)\$ | \Z )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""'…', E'…', U&'…' and $tag$…$tag$, to the end of a text that was cut; quoted names and comments
come first, because a quote within them begins nothing (PostgreSQL documentation, "Lexical
Structure"; comments may be nested, here once)."""


def read_texts(
    connect: Callable[[], Connection],
    extensions: Mapping[str, Extension],
    counters: Mapping[str, Sequence[Any]],
    known: Collection[str] = (),
) -> tuple[dict[str, str], Note | None]:
    """Returns the texts of the statements among these counters, but for the ids that are `known`;
    or why they could not be read, where the reason is theirs alone."""
    extension, wanted = extensions.get(STATEMENTS.extension), _ids_in(counters, known)
    if extension is None or not wanted:
        return {}, None
    asked = sql.SQL(statement("trials/statement_texts").decode()).format(
        extension=sql.SQL(extension.schema)
    )
    try:
        with connect() as session:
            limits = (_READ_CHARACTERS, list(wanted))
            rows = session.execute(asked, limits, prepare=False).fetchall()
    except (psycopg.errors.CharacterNotInRepertoire, psycopg.errors.UntranslatableCharacter):
        return {}, Note("trials/sampling/no-texts")
    except (psycopg.Error, TargetError, ConnectionRefused):
        return {}, None  # its figures could not be read either, which has its own note
    return {queryid: kept(text) for queryid, text in rows}, None


def kept(text: str) -> str:
    """Returns the text as it is stored: without literals and secrets, and not longer than the
    limit.

    What the server normalises has no literal; utility statements it keeps word for word.
    """
    text = redacted(_LITERAL.sub(lambda found: found["stays"] or _MASKED, text))
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _ids_in(counters: Mapping[str, Sequence[Any]], known: Collection[str]) -> Collection[int]:
    named = zip(counters["source"], counters["object"], strict=True)
    found = {thing for source, thing in named if source == STATEMENTS.source} - set(known)
    return sorted(int(thing) for thing in found if thing.lstrip("-").isdigit())
