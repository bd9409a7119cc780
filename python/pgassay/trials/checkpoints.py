"""Checkpoints of one trial, from the server's log or, without it, from its counters.

Enters: events of a log, or counter columns. Leaves: `Checkpoint` values, and the other events.
Never: guesses a number that was not logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pgassay.trials.record import Checkpoint, Columns
from pgassay.trials.server_log.events import LogEvent

_STARTS = {"checkpoint_start": False, "restartpoint_start": True}
_ENDS = {"checkpoint_end": False, "restartpoint_end": True}
_FLOATS = {"write_s", "sync_s", "total_s", "buffers_percent", "sync_longest_s", "sync_average_s"}
_FIGURES = {field.name for field in fields(Checkpoint)}


def checkpoints_in_log(events: Sequence[LogEvent]) -> tuple[Checkpoint, ...]:
    """Checkpoints and restartpoints that started in these events, in order."""
    found: list[Checkpoint] = []
    for event in events:
        if event.kind in _STARTS:
            cause = event.object.strip() or "unknown"
            found.append(Checkpoint(event.time_ns, None, cause, restartpoint=_STARTS[event.kind]))
        elif event.kind in _ENDS and found and _is_end_of(event, found[-1]):
            found[-1] = _ended(found[-1], event.time_ns, event.figures)
    return tuple(found)


def other_events(events: Sequence[LogEvent]) -> tuple[LogEvent, ...]:
    """Those that are not told as checkpoints."""
    return tuple(event for event in events if event.kind not in (*_STARTS, *_ENDS))


def checkpoints_in_counters(counters: Columns) -> tuple[Checkpoint, ...]:
    """Checkpoints seen as steps of the server's counters; the start is known to a second."""
    names = {"checkpoints_timed": "time", "checkpoints_requested": "requested"}
    last: dict[str, float] = {}
    found: list[Checkpoint] = []
    columns = (counters[name] for name in ("time_ns", "source", "name", "value"))
    for at, source, name, value in zip(*columns, strict=True):
        if source != "checkpointer" or name not in names:
            continue
        if name in last and value > last[name]:
            found.append(Checkpoint(at, None, names[name]))
        last[name] = value
    return tuple(found)


class CheckpointThread:
    """Checkpoints over several stretches of time: one that is under way waits for its end."""

    def __init__(self) -> None:
        self._begun: LogEvent | None = None
        self._last: dict[str, list[Any]] = {}

    def in_log(self, events: Sequence[LogEvent], *, last: bool) -> tuple[Checkpoint, ...]:
        """Those that ended in this stretch; in the last one also the one under way."""
        events = [*([self._begun] if self._begun else []), *events]
        found = checkpoints_in_log(events)
        self._begun = None
        if not last and found and found[-1].ended_ns is None:
            self._begun = next(event for event in reversed(events) if event.kind in _STARTS)
            found = found[:-1]
        return found

    def in_counters(self, counters: Columns) -> tuple[Checkpoint, ...]:
        """Those counted since the stretch before."""
        rows = [at for at, source in enumerate(counters["source"]) if source == "checkpointer"]
        own = {name: [column[at] for at in rows] for name, column in counters.items()}
        joined = {name: [*self._last.get(name, []), *own[name]] for name in own}
        if rows:
            moment = own["time_ns"][-1]
            latest = [at for at, time_ns in enumerate(own["time_ns"]) if time_ns == moment]
            self._last = {name: [column[at] for at in latest] for name, column in own.items()}
        return checkpoints_in_counters(joined)


def _is_end_of(event: LogEvent, begun: Checkpoint) -> bool:
    return begun.ended_ns is None and begun.restartpoint == _ENDS[event.kind]


def _ended(begun: Checkpoint, at: int, figures: Mapping[str, float]) -> Checkpoint:
    known: dict[str, Any] = {
        name: value if name in _FLOATS else int(value)
        for name, value in figures.items()
        if name in _FIGURES
    }
    return replace(begun, ended_ns=at, **known)
