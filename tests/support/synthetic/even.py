"""Trials at even intervals, made up: what the classic view is computed from.

Enters: raw series a second. Leaves: `EvenSeries`. Never: reads a stored trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.even_series import EvenSeries

Array = NDArray[np.float64]
SECONDS = 600
QUIET: Mapping[str, float] = {
    "commits": 100.0, "tup_fetched": 200.0, "tup_inserted": 50.0, "tup_updated": 50.0,
    "tup_deleted": 0.0, "hit": 990.0, "read": 10.0, "written_bytes": 8192.0,
    "cpu_user": 40.0, "cpu_nice": 0.0, "cpu_system": 20.0, "cpu_irq": 0.0, "cpu_softirq": 0.0,
    "cpu_idle": 140.0, "cpu_iowait": 0.0, "cpu_steal": 0.0, "ctxt": 1000.0, "intr": 500.0,
    "pgpgin": 10.0, "pgpgout": 20.0, "pswpin": 0.0, "pswpout": 0.0, "procs_running": 2.0,
    "procs_blocked": 0.0, "mem_free_kb": 2e6, "mem_available_kb": 6e6, "mem_total_kb": 8e6,
    "mem_dirty_kb": 6e3, "swap_total_kb": 1e6, "swap_free_kb": 1e6,
    "sda/reads": 10.0, "sda/read_ms": 10.0, "sda/sectors_read": 2048.0,
    "sda/writes": 10.0, "sda/write_ms": 10.0, "sda/sectors_written": 2048.0,
    "sda/busy_ms": 100.0, "sda/queued_ms": 100.0,
    **{f"wait/{name}": 0.0 for name in (
        "BufferPin", "Extension", "IO", "IPC", "Lock", "LWLock", "Timeout")},
}  # fmt: skip
"""A server and host with nothing to report, that never change."""


def even(
    values: Mapping[str, Array | float] | None = None,
    *,
    number: int = 1,
    arm: str = "a1",
    seconds: int = SECONDS,
    checkpoints_s: Sequence[float] = (),
    steps: Sequence[tuple[int, int]] | None = None,
    without: Sequence[str] = (),
) -> EvenSeries:
    """A trial that is quiet but for `values`; `without` are the first words of series not read."""
    rows = {
        name: np.broadcast_to(np.asarray(value, float), (seconds,)).copy()
        for name, value in {**QUIET, **(values or {})}.items()
        if not name.startswith(tuple(without))
    }
    disks = tuple(sorted({n.partition("/")[0] for n in rows if "/" in n and n[:5] != "wait/"}))
    spans = tuple(steps) if steps is not None else ((0, seconds),)
    return EvenSeries(number, number, arm, 1.0, spans, np.array(checkpoints_s, float), rows, disks)
