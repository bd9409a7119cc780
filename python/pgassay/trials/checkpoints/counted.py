"""Checkpoints as steps of the server's counters, where no log names them; those asked for.

Enters: counter columns, piece by piece; the WAL's position by the second, settings. Leaves:
`Counted` values, whose starts are known to a second; checkpoints with the cause `ASKED_FOR` where
the counters only say "requested" and too little WAL was written to cause one. Never: counts one
that the server skipped because there was nothing to write, or calls one asked for that WAL volume
might explain.

By volume a checkpoint begins max_wal_size / (1 + checkpoint_completion_target) after the last one
did, in whole segments (CalculateCheckpointSegments and XLogCheckpointNeeded of PostgreSQL 13
to 18).

`checkpoints_timed` and `_requested` step when one begins, also if it is then skipped. Servers count
those that were made from 17 on for restartpoints, from 18 on for checkpoints. On older servers a
requested one counts, and a timed one if it wrote buffers, or if WAL was written at that time: only
a server without new WAL skips it. Source: CheckpointerMain and CreateCheckPoint of
PostgreSQL 13 to 18.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pgassay.trials.model.record import Checkpoint, Columns

_KINDS = {"checkpoints": False, "restartpoints": True}
_CAUSES = {"timed": "time", "requested": "requested"}
_SOURCES = ("checkpointer", "wal_position")
_BUFFERS, _WAL = "buffers_written", "insert_bytes"
_LEAST = {_WAL: 100}
"""Bytes. A checkpoint's record takes 112 at least; an idle server writes one of 56 now and then, of
running transactions, which keeps no checkpoint from being skipped."""
_WAL_WITHIN_NS = 1_500_000_000
"""A checkpoint without a buffer to write is over, its own record written, when WAL is read next."""


@dataclass(frozen=True)
class Counted:
    """A checkpoint in the counters: it began after `since_ns`, and was counted at its start."""

    checkpoint: Checkpoint
    since_ns: int
    """The reading before."""


@dataclass
class _Begun:
    at: int
    since: int
    kind: str
    cause: str
    worked: bool = False


class CheckpointCounts:
    """Finds checkpoints in counter readings, over any length of time."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._read_ns: dict[str, int] = {}
        self._begun: list[_Begun] = []
        """Those of which it is not known yet whether they were made, the latest last."""

    def feed(self, counters: Columns) -> tuple[Counted, ...]:
        """Adds readings; returns the checkpoints that are known with them."""
        found: list[Counted] = []
        for at, source, values in readings(counters):
            last = self._last
            since, self._read_ns[source] = self._read_ns.get(source, at), at
            grown = {
                name
                for name, value in values.items()
                if value > last.get(name, value) + _LEAST.get(name, 0)
            }
            self._last = last | values
            begun = [
                _Begun(at, since, kind, cause)
                for kind in _KINDS
                for name, cause in _CAUSES.items()
                if f"{kind}_{name}" in grown
            ]
            self._see_work(at, grown, begun)
            done = [kind for kind in _KINDS if f"{kind}_done" in grown]
            made = [one for kind in done if (one := self._done(kind, begun)) is not None]
            self._begun = [*self._begun, *begun]
            made += [one for one in self._begun if self._was_made(one) and one not in made]
            found += map(_as_counted, sorted(made, key=lambda one: one.at))
            self._forget(made, begun)
        return tuple(found)

    def finish(self) -> tuple[Counted, ...]:
        """Returns the checkpoints that are under way at the end."""
        left, self._begun = self._begun, []
        return tuple(_as_counted(one) for one in left if one.worked)

    def _see_work(self, at: int, grown: set[str], begun: list[_Begun]) -> None:
        """Buffers are those of the one under way; if it wrote none before, of the one that began
        in this reading."""
        latest = self._begun[-1] if self._begun else None
        if _BUFFERS in grown:
            if latest is not None and (latest.worked or not begun):
                latest.worked = True
            elif begun:
                begun[-1].worked = True
        elif _WAL in grown and latest is not None and not self._counts_made(latest.kind):
            latest.worked |= at - latest.at <= _WAL_WITHIN_NS

    def _done(self, kind: str, begun: list[_Begun]) -> _Begun | None:
        """Which one ended: the one that wrote something, or the latest: others were skipped."""
        before = [one for one in self._begun if one.kind == kind]
        at_work = [one for one in before if one.worked]
        return next(iter([*at_work[:1], *reversed([*before, *begun])]), None)

    def _counts_made(self, kind: str) -> bool:
        return f"{kind}_done" in self._last

    def _was_made(self, one: _Begun) -> bool:
        if self._counts_made(one.kind):
            return False
        unknown = _BUFFERS not in self._last and _WAL not in self._last
        return one.worked or one.cause != _CAUSES["timed"] or unknown

    def _forget(self, made: list[_Begun], begun: list[_Begun]) -> None:
        """What was made, and what cannot have been any more."""
        latest = max((one.at for one in made), default=0)
        left = [one for one in self._begun if one not in made and one.at >= latest]
        # Of several without work only the latest may still prove to be at it.
        self._begun = [one for one in left if one.worked or one is left[-1] or one in begun]


def _as_counted(one: _Begun) -> Counted:
    checkpoint = Checkpoint(one.at, None, one.cause, restartpoint=_KINDS[one.kind])
    return Counted(checkpoint, one.since)


def readings(counters: Columns) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Iterates over time, source and values of each reading of the checkpointer and of WAL, in
    their order."""
    columns = (counters[name] for name in ("time_ns", "source", "name", "value"))
    rows = (row for row in zip(*columns, strict=True) if row[1] in _SOURCES)
    for (at, source), reading in groupby(rows, key=lambda row: row[:2]):
        yield at, source, {name: value for _, _, name, value in reading}


REQUESTED = "requested"
ASKED_FOR = "requested, not by WAL"
DECIDED_BY = frozenset({"max_wal_size", "checkpoint_completion_target"})
_INSERTED = "insert_bytes"
_MIB = 1 << 20


def with_asked_for(
    checkpoints: Sequence[Checkpoint],
    counters: Columns,
    settings: Mapping[str, str],
    redo_position: int | None,
) -> list[Checkpoint]:
    """Returns the checkpoints with the cause of those that were asked for; unchanged where the WAL
    between them is unknown.

    `settings` and `redo_position` (where the last checkpoint began) are those of before the load.
    """
    least = least_volume(settings)
    positions = _positions(counters)
    redo: float | None = redo_position
    found = []
    for one in checkpoints:
        at = next((position for at_ns, position in positions if at_ns >= one.started_ns), None)
        written = None if redo is None or at is None else at - redo
        asked = least is not None and written is not None and written < least
        found.append(replace(one, cause=ASKED_FOR) if asked and one.cause == REQUESTED else one)
        past = (position for at_ns, position in reversed(positions) if at_ns < one.started_ns)
        redo = next(past, None)
    return found


def least_volume(settings: Mapping[str, str]) -> int | None:
    """Returns the bytes of WAL after a checkpoint below which volume causes no other; None where
    unknown."""
    try:
        segment = int(settings["wal_segment_size"])
        most = int(settings["max_wal_size"]) * _MIB
        target = float(settings["checkpoint_completion_target"])
    except (KeyError, ValueError):
        return None
    # One segment less for the place of the last checkpoint in its own, one for the comparison.
    return (int(most / segment / (1.0 + target)) - 2) * segment


def _positions(counters: Columns) -> list[tuple[int, float]]:
    return [(at, values[_INSERTED]) for at, _, values in readings(counters) if _INSERTED in values]
