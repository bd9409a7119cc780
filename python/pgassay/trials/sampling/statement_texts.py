"""The texts of statements that pg_stat_statements counted.

Enters: a way to sessions, the counters of a load's statements. Leaves: queryid → text.
Never: runs while a load is measured, keeps what looks like a password, or fails a trial.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.spec.secrets.redaction import redacted
from pgassay.trials.sampling.queries import Extension
from pgassay.trials.sampling.statement_statistics import STATEMENTS

MOST_CHARACTERS = 2000
_READ_CHARACTERS = 10_000
"""More than is kept: a secret that the cut splits would not be recognised."""


def texts_of(
    connect: Callable[[], Connection],
    extensions: Mapping[str, Extension],
    counters: Mapping[str, Sequence[Any]],
) -> dict[str, str]:
    """The texts of the statements among these counters; none where they cannot be read."""
    extension, wanted = extensions.get(STATEMENTS.extension), _ids_in(counters)
    if extension is None or not wanted:
        return {}
    asked = sql.SQL(statement("trials/statement_texts").decode()).format(
        extension=sql.SQL(extension.schema)
    )
    # Its figures could not be read either, which has its own note.
    with suppress(psycopg.Error, TargetError, ConnectionRefused), connect() as session:
        rows = session.execute(asked, (_READ_CHARACTERS, list(wanted)), prepare=False).fetchall()
        return {queryid: kept(text) for queryid, text in rows}
    return {}


def kept(text: str) -> str:
    """The text as it is stored: without secrets, and not longer than the limit."""
    text = redacted(text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _ids_in(counters: Mapping[str, Sequence[Any]]) -> Collection[int]:
    named = zip(counters["source"], counters["object"], strict=True)
    found = {thing for source, thing in named if source == STATEMENTS.source}
    return sorted(int(thing) for thing in found if thing.lstrip("-").isdigit())
