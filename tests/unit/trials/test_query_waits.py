"""A sampled wait is of the arm whose execution its session was in."""

from __future__ import annotations

import pyarrow as pa

from pgassay.trials.load.query_set.runner import Execution
from pgassay.trials.load.query_set.session import Executed
from pgassay.trials.load.query_set.waits import waits_of_arm
from pgassay.trials.model.columns import WAITS, PackedTables


def test_each_arm_has_all_looks_and_its_own_sessions_alone() -> None:
    looks = [
        {"tick_ns": 10, "pid": 1, "wait_event": "DataFileRead"},
        {"tick_ns": 10, "pid": 9, "wait_event": "WALWrite"},
        {"tick_ns": 20, "pid": 1},
        {"tick_ns": 20, "pid": 2, "wait_event": "BufferIo"},
        {"tick_ns": 20, "pid": 7, "leader_pid": 1},
        {"tick_ns": 30, "pid": None},
    ]
    waits = PackedTables(WAITS)
    waits.add(pa.Table.from_pylist(looks, WAITS))
    spans = [("a1", 1, 5, 15), ("a2", 1, 16, 25), ("a2", 2, 0, 15), ("a1", 2, 16, 40)]
    executions = [
        Execution("q", arm, 1, Executed(began, ended, 0), pid=pid)
        for arm, pid, began, ended in spans
    ]
    found = {}
    for arm in ("a1", "a2"):
        own = waits_of_arm(waits, [one for one in executions if one.arm == arm])
        rows = [row for part in own for row in part.to_pylist()]
        found[arm] = [(row["tick_ns"], row["pid"], row["wait_event"]) for row in rows]
    assert found == {
        "a1": [(10, 1, "DataFileRead"), (20, 2, "BufferIo"), (30, None, None)],
        "a2": [(10, None, None), (20, 1, None), (20, 7, None), (30, None, None)],
    }
