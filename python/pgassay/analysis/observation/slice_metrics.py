"""Metrics of slices that are ratios of other signals, so that no average of them is one.

Enters: the signals of slices. Leaves: the same with metrics. Never: averages a ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgassay.analysis.measures.costs import CPU_BUSY, CPU_IDLE
from pgassay.analysis.reading.binned import Floats
from pgassay.analysis.reading.counters import Key
from pgassay.analysis.reading.metrics import WAIT_CLASSES

METRIC, TPS = "metric", "tps"
BUSY_MS = "busy_ms_per_tx"
"""Of all wait classes: the mean time of a transaction, as far as its session was not idle."""
_CLASS = "class"


def is_ratio(key: Key) -> bool:
    """Whether a signal is computed from others by `with_ratios`."""
    return key[0] == METRIC and key[2] != TPS


def with_ratios(values: Mapping[Key, Floats]) -> dict[Key, Floats]:
    """Adds the metrics whose parts are known."""
    found = dict(values)
    tps = values.get((METRIC, "", TPS))
    for wait_class in WAIT_CLASSES:
        sessions = values.get((_CLASS, "", wait_class.name))
        if tps is not None and sessions is not None:
            found[METRIC, "", wait_class.metric] = 1e3 * _ratio(sessions, tps)
    every = [row for key, row in values.items() if key[0] == _CLASS]
    if tps is not None and every:
        found[METRIC, "", BUSY_MS] = 1e3 * _ratio(np.sum(every, axis=0), tps)
    busy, idle, steal = (_processor(values, names) for names in (CPU_BUSY, CPU_IDLE, ("steal",)))
    if busy is not None and idle is not None:
        stolen = np.zeros(len(busy)) if steal is None else np.nan_to_num(steal)
        total = busy + idle + stolen
        found[METRIC, "", "host_cpu_busy"] = 100.0 * _ratio(busy, total)
        found[METRIC, "", "host_steal"] = 100.0 * _ratio(stolen, total)
    return found


def _processor(values: Mapping[Key, Floats], names: Sequence[str]) -> Floats | None:
    rows = [values[key] for name in names if (key := ("stat", "cpu", name)) in values]
    if not rows:
        return None
    total: Floats = np.sum(rows, axis=0)
    return total


def _ratio(above: Floats, below: Floats) -> Floats:
    found: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0.0)
    return found
