"""Checkpoints of one trial, from the server's log or, where that is missing, from its counters.

Enters: what was read of a log, and counter columns. Leaves: `Checkpoint` values, the other events.
Never: guesses a number that was not logged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pgassay.trials.counted_checkpoints import CheckpointCounts, Counted
from pgassay.trials.paired_checkpoints import pairs
from pgassay.trials.record import Checkpoint, CheckpointSource, Columns
from pgassay.trials.server_log.events import LogEvent
from pgassay.trials.server_log.reader import LogReading

_STARTS = {"checkpoint_start": False, "restartpoint_start": True}
_ENDS = {"checkpoint_end": False, "restartpoint_end": True}
_FLOATS = {"write_s", "sync_s", "total_s", "buffers_percent", "sync_longest_s", "sync_average_s"}
_FIGURES = {field.name for field in fields(Checkpoint)}
_MISSED = (
    "the server counted checkpoints that its log, read with gaps, does not tell: they are known to"
    " a second and have no figures"
)
_MOST_REMEMBERED = 1000


def checkpoints_in_log(events: Sequence[LogEvent]) -> tuple[Checkpoint, ...]:
    """Checkpoints and restartpoints that started or ended in these events, in order.

    One that was under way at first is as long as its end says, so it started before all of them;
    its cause was not seen.
    """
    found: list[Checkpoint] = []
    for event in events:
        if event.kind in _STARTS:
            cause = event.object.strip() or "unknown"
            found.append(Checkpoint(event.time_ns, None, cause, restartpoint=_STARTS[event.kind]))
        elif event.kind in _ENDS and found and _is_end_of(event, found[-1]):
            found[-1] = _ended(found[-1], event.time_ns, event.figures)
        elif event.kind in _ENDS and "total_s" in event.figures:
            started_ns = event.time_ns - round(event.figures["total_s"] * 1e9)
            under_way = Checkpoint(started_ns, None, "unknown", restartpoint=_ENDS[event.kind])
            found.append(_ended(under_way, event.time_ns, event.figures))
    return tuple(found)


def other_events(events: Sequence[LogEvent]) -> tuple[LogEvent, ...]:
    """Those that are not told as checkpoints."""
    return tuple(event for event in events if event.kind not in (*_STARTS, *_ENDS))


def checkpoints_in_counters(counters: Columns) -> tuple[Checkpoint, ...]:
    """Checkpoints seen as steps of the server's counters; the start is known to a second."""
    counts = CheckpointCounts()
    return tuple(one.checkpoint for one in (*counts.feed(counters), *counts.finish()))


@dataclass(frozen=True)
class Told:
    """The checkpoints of a stretch of time, and how they are known."""

    checkpoints: tuple[Checkpoint, ...]
    source: CheckpointSource
    notes: tuple[str, ...] = ()


class CheckpointThread:
    """Checkpoints over one stretch of time after another: one under way waits for its end.

    The log tells more than the counters, and wins. Where it was read with gaps, what the server
    counted beyond it counts too, one stretch later: until then the log may still tell of it.
    """

    def __init__(self) -> None:
        self._begun: LogEvent | None = None
        self._counts = CheckpointCounts()
        self._counted: list[Counted] = []
        self._waiting: list[Counted] = []
        """Counted in the stretch before: its log had gaps and may yet tell of them."""
        self._uncounted: list[Checkpoint] = []
        """Told by the log of the stretch before, perhaps sooner than by the counters."""
        self._by_counters: deque[Counted] = deque(maxlen=_MOST_REMEMBERED)
        """Told already: where the log tells of them after all, they are not told again."""

    def count(self, counters: Columns) -> None:
        """Further readings of the stretch that goes on."""
        self._counted += self._counts.feed(counters)

    def tell(self, logged: LogReading, *, last: bool) -> Told:
        """A stretch is over: those that ended in it; in the last one also the one under way."""
        counted = [*self._counted, *(self._counts.finish() if last else ())]
        self._counted = []
        if not logged.has_checkpoints:
            return Told(tuple(one.checkpoint for one in counted), "counters")
        found = self._in_log(logged.events or (), last=last)
        under_way = checkpoints_in_log([self._begun] if self._begun else [])
        open_ones = [*self._waiting, *counted]
        logged_ones = [*self._uncounted, *found, *under_way]
        same = pairs([*self._by_counters, *open_ones], logged_ones)
        self._uncounted = [one for one in found if one not in same.values()]
        doubted = open_ones if logged.has_gaps else self._waiting
        unheard = [one for one in doubted if one not in same]
        now = [one for one in unheard if last or one in self._waiting]
        found = tuple(
            one for one in found if not any(same.get(told) == one for told in self._by_counters)
        )
        later = [one for one in unheard if one not in now]
        self._waiting = [one for one in open_ones if one in later or same.get(one) in under_way]
        self._by_counters += now
        read = logged.events is not None
        if not now:
            return Told(found, "log" if read else "counters")
        every = sorted((*found, *(one.checkpoint for one in now)), key=lambda one: one.started_ns)
        return Told(tuple(every), "both" if read else "counters", (_MISSED,))

    def _in_log(self, events: Sequence[LogEvent], *, last: bool) -> tuple[Checkpoint, ...]:
        events = [*([self._begun] if self._begun else []), *events]
        found = checkpoints_in_log(events)
        self._begun = None
        if not last and found and found[-1].ended_ns is None:
            self._begun = next(event for event in reversed(events) if event.kind in _STARTS)
            found = found[:-1]
        return found


def _is_end_of(event: LogEvent, begun: Checkpoint) -> bool:
    return begun.ended_ns is None and begun.restartpoint == _ENDS[event.kind]


def _ended(begun: Checkpoint, at: int, figures: Mapping[str, float]) -> Checkpoint:
    known: dict[str, Any] = {
        name: value if name in _FLOATS else int(value)
        for name, value in figures.items()
        if name in _FIGURES
    }
    return replace(begun, ended_ns=at, **known)
