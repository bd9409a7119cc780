"""Which Parquet file of a run directory has which columns.

Enters: nothing. Leaves: file names and their pyarrow schemas. Never: computes.
"""

from __future__ import annotations

from pgassay.trials.model.columns import CHECKPOINTS, COUNTERS, EVENTS, LOAD, WAITS

TABLES = {
    "load": LOAD,
    "waits": WAITS,
    "postgres": COUNTERS,
    "host": COUNTERS,
    "checkpoints": CHECKPOINTS,
    "events": EVENTS,
}
"""File name (without .parquet) → schema, for every file of a trial."""

ADDED_LATER = frozenset({"events"})
"""Tables that runs of before do not have; they read as empty."""
