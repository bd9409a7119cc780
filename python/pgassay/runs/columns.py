"""The columns of every table over stored runs.

Enters: nothing. Leaves: pyarrow schemas. Never: reads a file.

Each table has `run`, the name of the run's directory, and each of samples `trial`: the number of
the trial or, in an observation, of the segment.
"""

from __future__ import annotations

import pyarrow as pa

from pgassay.samples.storage.tables import TABLES

_KINDS = {
    "text": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "truth": pa.bool_(),
    "time": pa.timestamp("us", "UTC"),
}


def _columns(*groups: str) -> pa.Schema:
    """Groups of columns: a kind, then names."""
    split = [group.split() for group in groups]
    named = [(name, _KINDS[kind]) for kind, *names in split for name in names]
    return pa.schema([("run", pa.string()), *named])


RUNS = _columns(
    "text path kind state",
    "time started",
    "text question verdict badge",
    "number effect_pct",
    "whole trials",
    "text pgassay server_version data cpu",
    "whole cpus memory_bytes",
    "text kernel",
)
COMPARISONS = _columns(
    "text metric factor baseline level",
    "number step",
    "text step_unit verdict",
    "number effect_pct ci95_low_pct ci95_high_pct",
    "whole blocks",
    "number baseline_mean level_mean difference ci95_low ci95_high p_t p_sign_flip p_looks",
    "number p_by",
    "truth clear",
    "whole blocks_to_decide",
)
TRIALS = _columns(
    "whole trial block position",
    "text arm levels",
    "truth valid",
    "text reasons",
    "number tps latency_mean_ms latency_p50_ms latency_p95_ms latency_p99_ms",
    "whole transactions failed",
    "number client_cpu_s reset_s",
    "whole started_ns ended_ns repeats warnings",
    "text checkpoints_from server",
)
METRICS = _columns("whole trial block", "text arm", "number step", "text metric", "number value")
ARMS = _columns("text arm factor level", "truth baseline")
STATEMENTS = _columns(
    "text queryid arm text",
    "number calls_per_tx mean_ms ms_per_tx share_pct rows_per_call hit_per_call read_per_call",
    "number dirtied_per_call wal_bytes_per_call temp_blocks_per_call",
)
SETTINGS = _columns("text name value source")
ENVIRONMENT = _columns("text key value")


def sampled(name: str) -> pa.Schema:
    """Returns the columns of one of the Parquet files, with words as plain text."""
    stored = [
        pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type)
        for one in TABLES[name]
    ]
    return pa.schema([pa.field("run", pa.string()), pa.field("trial", pa.int64()), *stored])
