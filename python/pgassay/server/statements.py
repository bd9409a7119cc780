"""The SQL this package runs, one file each under `sql/`.

Enters: a name. Leaves: the statement, as psycopg takes it. Never: text put together from values;
those are parameters, and identifiers go through psycopg.sql.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def statement(name: str) -> bytes:
    """Returns the text of `sql/NAME.sql`, as psycopg takes it."""
    return (files(__package__) / "sql" / f"{name}.sql").read_bytes()
