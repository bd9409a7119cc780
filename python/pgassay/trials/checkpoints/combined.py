"""Checkpoints of one trial, from the server's log and, where it has gaps, from its counters.

Enters: readings of the log, and counter columns. Leaves: `Checkpoint` values, the other events.
Never: guesses a number that was not logged, or matches a checkpoint twice.

No two checkpoints of a server overlap, so a counted one is the one of the log that was under way
when it was counted: at its start, or at its end where it was not spread over time.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pgassay.notes import Note
from pgassay.trials.checkpoints.counted import CheckpointCounts, Counted
from pgassay.trials.model.record import Checkpoint, CheckpointSource, Columns
from pgassay.trials.server_log.events import LogEvent
from pgassay.trials.server_log.reader import LogReading

_STARTS = {"checkpoint_start": False, "restartpoint_start": True}
_ENDS = {"checkpoint_end": False, "restartpoint_end": True}
_FLOATS = {"write_s", "sync_s", "total_s", "buffers_percent", "sync_longest_s", "sync_average_s"}
_FIGURES = {field.name for field in fields(Checkpoint)}
_MISSED = Note("trials/checkpoints/gaps")
_MOST_REMEMBERED = 1000


def checkpoints_in_log(events: Sequence[LogEvent]) -> tuple[Checkpoint, ...]:
    """Returns the checkpoints and restartpoints that started or ended in these events, in order.

    One that was under way at first is as long as its end says, so it started before all of them;
    its cause is unknown.
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
    """Returns the events that are not of checkpoints."""
    return tuple(event for event in events if event.kind not in (*_STARTS, *_ENDS))


@dataclass(frozen=True)
class KnownCheckpoints:
    """The checkpoints of one period, and where they are known from."""

    checkpoints: tuple[Checkpoint, ...]
    source: CheckpointSource
    notes: tuple[Note, ...] = ()


class CheckpointFollower:
    """Checkpoints of consecutive periods; one that is under way is reported with its end.

    The log has more details than the counters and is preferred. A checkpoint that only the counters
    have is reported one period later: until then the log may still name it.
    """

    def __init__(self) -> None:
        self._begun: LogEvent | None = None
        self._counts = CheckpointCounts()
        self._counted: list[Counted] = []
        self._waiting: list[Counted] = []
        """Counted in the period before: the log may still name them."""
        self._uncounted: list[Checkpoint] = []
        """In the log of the period before, perhaps sooner than in the counters."""
        self._by_counters: deque[Counted] = deque(maxlen=_MOST_REMEMBERED)
        """Reported already: if the log names them after all, they are not reported again."""

    def count(self, counters: Columns) -> None:
        """Adds counter readings of the present period."""
        self._counted += self._counts.feed(counters)

    def end_period(self, logged: LogReading, *, last: bool) -> KnownCheckpoints:
        """Ends a period and returns its finished checkpoints; in the last period also the one under
        way."""
        counted = [*self._counted, *(self._counts.finish() if last else ())]
        self._counted = []
        if not logged.has_checkpoints:
            every = [*self._waiting, *counted]
            self._waiting = []
            self._by_counters += every
            return KnownCheckpoints(tuple(one.checkpoint for one in every), "counters")
        found = self._in_log(logged.events or (), last=last)
        under_way = checkpoints_in_log([self._begun] if self._begun else [])
        open_ones = [*self._waiting, *counted]
        logged_ones = [*self._uncounted, *found, *under_way]
        same = pairs([*self._by_counters, *open_ones], logged_ones)
        self._uncounted = [one for one in found if one not in same.values()]
        unmatched = [one for one in open_ones if one not in same]
        now = [one for one in unmatched if last or one in self._waiting]
        found = tuple(
            one for one in found if not any(same.get(old) == one for old in self._by_counters)
        )
        later = [one for one in unmatched if one not in now]
        self._waiting = [one for one in open_ones if one in later or same.get(one) in under_way]
        self._by_counters += now
        read = logged.events is not None
        if not now:
            return KnownCheckpoints(found, "log" if read else "counters")
        both = sorted((*found, *(one.checkpoint for one in now)), key=lambda one: one.started_ns)
        return KnownCheckpoints(tuple(both), "both" if read else "counters", (_MISSED,))

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


_SLACK_NS = 2_000_000_000
"""How late a count may appear: before 15 statistics are published up to a second late, and a log's
time may be cut down to its second."""


def pairs(counted: Sequence[Counted], logged: Sequence[Checkpoint]) -> dict[Counted, Checkpoint]:
    """Matches each counted checkpoint with the same one in the log; those that the log lacks are
    left out."""
    left = sorted(logged, key=lambda one: one.started_ns)
    found = {}
    for one in sorted(counted, key=lambda one: one.checkpoint.started_ns):
        same = next((other for other in left if _may_be(one, other)), None)
        if same is not None:
            left.remove(same)
            found[one] = same
    return found


def _may_be(one: Counted, logged: Checkpoint) -> bool:
    ended_ns = math.inf if logged.ended_ns is None else logged.ended_ns
    return (
        one.checkpoint.started_ns >= logged.started_ns - _SLACK_NS
        and one.since_ns <= ended_ns + _SLACK_NS
    )
