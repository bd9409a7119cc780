"""trace.json.

Enters: what a trace was, or the object of the file. Leaves: a `TraceFile`.
Never: has the readings, which are in Parquet files beside it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pgassay.stored_model import Items, Number, SaidNotes, Stored, StoredFile


class RelationFigures(Stored):
    """What one point counted for one relation, over the whole trace."""

    point: str
    name: str
    kind: str
    count: int
    total_ns: int


class WithAgainstWithout(Stored):
    """One figure with the probes and without, over pairs of windows."""

    without: Number
    probed: Number
    ratio: Number
    low: Number | None
    high: Number | None
    """Ends of the ratio's 95 % interval."""


class TraceCost(Stored):
    """What tracing costs, as measured."""

    pairs: int
    window_s: Number
    tps: WithAgainstWithout
    cpu_per_tx_us: WithAgainstWithout


class TraceFile(StoredFile):
    """What was traced, how, and what is doubtful about it."""

    schema_: Literal["pgassay.trace/1"] = Field("pgassay.trace/1", alias="schema")
    pgassay: str = ""
    server_version: str
    program: str
    started_ns: int
    ended_ns: int
    ended_by: str
    """`duration`, `stopped`, `server` or `tracer`."""
    complaint: str
    """bpftrace's, where it ended before its time."""
    what: Items[str]
    ways: dict[str, str]
    """Point → how it is probed: `usdt` or `uprobe`."""
    pair_cost_ns: dict[str, Number]
    missing: SaidNotes
    """What could not be probed."""
    unmatched: dict[str, int]
    """Point → pairs of which only one end was seen."""
    lost_events: int
    full_maps: Items[str]
    relations: Items[RelationFigures]
    server: str
    cost: TraceCost | None = None
