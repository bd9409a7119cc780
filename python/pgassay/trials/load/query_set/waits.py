"""The sampled waits of one arm, where arms alternate from execution to execution.

Enters: the waits of all sessions, the executions of an arm. Leaves: the same looks at the server
with those sessions alone that executed for this arm then. Never: counts a session of another
program, or a background process, which are of no arm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.trials.load.query_set.runner import Execution
from pgassay.trials.model.columns import WAITS, PackedTables

Times = NDArray[np.int64]


def waits_of_arm(waits: PackedTables, executions: Sequence[Execution]) -> PackedTables:
    """Returns rows of waits.parquet. Parallel workers belong to their leader's execution."""
    found = PackedTables(WAITS)
    for part in waits:
        ticks: Times = part["tick_ns"].to_numpy()
        pids = pc.fill_null(pc.coalesce(part["leader_pid"], part["pid"]), 0).to_numpy()
        is_own = np.zeros(len(ticks), dtype=bool)
        for pid in {one.pid for one in executions}:
            own = [one.found for one in executions if one.pid == pid]
            begins = np.array([one.began_ns for one in own])
            ends = np.array([one.ended_ns for one in own])
            at = np.searchsorted(begins, ticks, side="right") - 1
            is_own |= (pids == pid) & (at >= 0) & (ticks < ends[at])
        looks = np.setdiff1d(ticks, ticks[is_own])
        others = [pa.nulls(len(looks), one.type) for one in list(WAITS)[1:]]
        empty = pa.table([pa.array(looks), *others], schema=WAITS)
        found.add(pa.concat_tables([part.filter(is_own), empty]).sort_by("tick_ns"))
    return found
