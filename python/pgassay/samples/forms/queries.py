"""query_plans.json: how each query of a set was planned and what one execution took.

Enters: plans as EXPLAIN gives them, or the object of the file. Leaves: a `QueryPlansFile`.
Never: compares plans, or holds a value of a parameter that was sent.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pgassay.stored_model import Items, Number, SaidNote, Stored, StoredFile


class QueryCosts(Stored):
    """What one execution took, by EXPLAIN (ANALYZE, BUFFERS, WAL); blocks are of 8 kB, unless the
    server was built otherwise."""

    hit: int
    """Blocks of tables and indexes found in shared buffers."""
    read: int
    """Blocks of them that were not."""
    dirtied: int
    written: int
    temp_read: int
    """Blocks of temporary files."""
    temp_written: int
    wal_bytes: int
    rows: Number
    """Rows that the query returned, or changed where it returns none."""
    planning_ms: Number
    execution_ms: Number


class QueryPlan(Stored):
    """One query in one arm: its plan, or the reason why there is none."""

    query: str
    arm: str
    plan: Items[dict[str, Any]] = ()
    """As EXPLAIN (ANALYZE, FORMAT JSON) gives it."""
    costs: QueryCosts | None = None
    reason: SaidNote = None
    answer: str = ""
    """What its rows come to, whatever their order: the same number where two answers of one process
    are the same, and nothing else can be told from it."""


class QueryPlansFile(StoredFile):
    """query_plans.json of one trial."""

    schema_: Literal["pgassay.query-plans/1"] = Field("pgassay.query-plans/1", alias="schema")
    queries: Items[QueryPlan]
