"""Asks whether the data are still consistent after a trial's load: the checks of its workload.

Enters: the checks, where the server is reached. Leaves: for each check that found a row that row in
words, and a note on each that could not be finished. Never: writes, or works while a load is
measured.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.notes import Note
from pgassay.server.connection.session import connect, one_line
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.workload.folder import DataCheck

ALL_LIMIT_S = 30.0
"""At least: else as long as the load. After it no other check begins, as the next trial waits."""
_SHARE_OF_ONE = 3
"""A check gets this part of the time for all."""
_CURSOR = "pgassay_check"
_MOST_CHARACTERS = 40
"""Of one value."""
_MOST_COLUMNS = 8


@dataclass
class Consistency:
    """What the checks of one server found."""

    violations: dict[str, str] = field(default_factory=dict)
    """Check → the first row that it found."""
    notes: list[Note] = field(default_factory=list)
    """On each check that says nothing, and why."""
    held: list[str] = field(default_factory=list)


def check_data(
    checks: Sequence[DataCheck],
    server: ConnectionParameters,
    *,
    limit_s: float | None = None,
    all_limit_s: float = ALL_LIMIT_S,
) -> Consistency:
    """Runs each check in one session, which can write nothing; without checks there is none."""
    found = Consistency()
    if not checks:
        return found
    if limit_s is None:
        limit_s = float(max(1, round(all_limit_s / _SHARE_OF_ONE)))
    end = time.monotonic() + all_limit_s
    try:
        with connect(
            server, statement_limit_s=limit_s, lasts_s=all_limit_s + limit_s, keeps_path=True
        ) as session:
            session.execute(statement("trials/read_only"), prepare=False)
            for check in checks:
                if time.monotonic() >= end:
                    found.notes.append(
                        Note.of(
                            "trials/guards/check-not-run", name=check.name, all_limit_s=all_limit_s
                        )
                    )
                else:
                    _check(session, check, found, limit_s)
    except (psycopg.Error, ConnectionRefused, TargetError) as error:
        found.notes.append(Note("trials/guards/checks-unfinished", {"error": one_line(error)}))
    return found


def _check(session: Connection, check: DataCheck, found: Consistency, limit_s: float) -> None:
    try:
        row = _first_row(session, check.sql)
    except psycopg.errors.QueryCanceled:
        found.notes.append(
            Note.of("trials/guards/check-too-long", name=check.name, limit_s=limit_s)
        )
    except psycopg.Error as error:
        if session.broken or session.closed:
            raise
        found.notes.append(
            Note.of("trials/guards/check-refused", name=check.name, error=one_line(error))
        )
    else:
        if row:
            found.violations[check.name] = row
        else:
            found.held.append(check.name)


def _first_row(session: Connection, query: str) -> str:
    """In words; empty if there is none. A cursor, because there may be millions of them."""
    with session.transaction(), session.cursor(_CURSOR) as cursor:
        cursor.execute(query.encode())
        row = cursor.fetchone()
        if row is None:
            return ""
        columns = [column.name for column in cursor.description or ()]
        values = [
            f"{_short(name)} = {_short(value)}" for name, value in zip(columns, row, strict=True)
        ]
        more = ", …" if len(values) > _MOST_COLUMNS else ""
        return ", ".join(values[:_MOST_COLUMNS]) + more or "a row without columns"


def _short(value: object) -> str:
    """In one line, without characters that a terminal obeys."""
    text = "NULL" if value is None else str(value)
    shown = "".join(one if one.isprintable() else " " for one in text[: _MOST_CHARACTERS + 1])
    return shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…"
