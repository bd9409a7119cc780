"""The load of a replay: one step, as long as its trace.

Enters: the `[load]` table, the folder of its file. Leaves: the trace; the table with the
step that the trace makes. Never: replays it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pgassay.spec.load.table import LoadTable
from pgassay.spec.load.trace_file import Trace, TraceFacts, read_trace
from pgassay.spec.reading.texts import path_from


def trace_of(load: LoadTable, beside: Path) -> Trace:
    """Returns the trace that a load replays; a file that has not changed is read once. Raises
    Refusal for a file that is no trace."""
    path = path_from(load.replay or "", beside)
    try:
        seen = path.stat()
    except (OSError, ValueError):
        return read_trace(path)
    return _trace(path, seen.st_size, seen.st_mtime_ns)


@lru_cache(maxsize=2)
def _trace(path: Path, size: int, changed_ns: int) -> Trace:
    return read_trace(path)


def as_step(load: LoadTable, facts: TraceFacts) -> LoadTable:
    """Returns the table with what a trace says: its sessions as clients, its length as the step and
    its statements per second as the rate, none at full speed."""
    speed = load.speed
    step = {
        "clients": (facts.at_once,),
        "step": facts.seconds / (speed or 1.0),
        "rate": None if speed is None else (facts.rate * speed,),
    }
    return load.model_copy(update=step)
