"""Loads whose size is not that of their steps: a replay, a query set.

Enters: nothing. Leaves: frozen dataclasses of a plan. Never: reads a trace or a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgassay.notes import Note


@dataclass(frozen=True)
class Replayed:
    """The trace that every trial replays."""

    statements: int
    sessions: int
    speed: float | None
    """Times as fast as at the source; None for no pauses."""

    def described(self) -> Note:
        """Returns a line such as `replay of 900 statements in 12 sessions, speed 1`."""
        statements = Note.of("plan/replay-statements", n=self.statements)
        sessions = Note.of("plan/replay-sessions", n=self.sessions)
        if self.speed is None:
            return Note.of("plan/replay-unpaced", statements=statements, sessions=sessions)
        return Note.of("plan/replay", statements=statements, sessions=sessions, speed=self.speed)


@dataclass(frozen=True)
class OpenQueries:
    """The queries that are executed from some block on, when all others have their verdicts."""

    since: int
    """The block."""
    repeats: Mapping[str, int]
    """Query → executions that count, in every session."""


@dataclass(frozen=True)
class QuerySet:
    """The queries that trials execute."""

    queries: int
    repeats: int | None
    """Executions of each that count, in every session; None where a pilot says."""
    chosen: Mapping[str, int] = field(default_factory=dict)
    """What the pilot says: query → executions that count; empty before it."""
    open_alone: tuple[OpenQueries, ...] = ()
    """Of runs that went on for some queries, by block."""
    calls: Mapping[str, float] = field(default_factory=dict)
    """Query → its calls, as its file says; without those whose file says nothing."""
    parameters: tuple[str, ...] = ()
    """Queries that take values from a file, so that their executions differ."""
    writes_s: float = 0.0
    """How long scripts that write run after them."""
    names: tuple[str, ...] = ()
    """What they are called; empty in plans of old versions."""

    @property
    def needs_pilot(self) -> bool:
        """Whether a pilot has yet to say how often each is executed."""
        return self.repeats is None and not self.chosen

    def is_whole(self, block: int) -> bool:
        """Whether trials of this block execute every query."""
        return all(block < one.since for one in self.open_alone)

    def executed_in(self, block: int) -> Mapping[str, int]:
        """Returns query → executions that count; empty for all queries, equally often."""
        later = [one.repeats for one in self.open_alone if one.since <= block]
        return later[-1] if later else self.chosen

    def described(self) -> Note:
        """Returns a line such as `22 queries, 3 executions of each that count`."""
        found = self._executions()
        if not self.writes_s:
            return found
        return Note.of("plan/then-writes", queries=found, seconds=self.writes_s)

    def _executions(self) -> Note:
        queries = Note.of("plan/set-queries", n=self.queries)
        if self.repeats is not None:
            return Note.of("plan/query-set", queries=queries, n=self.repeats)
        if not self.chosen:
            return Note.of("plan/query-set-by-pilot", queries=queries)
        counts = self.chosen.values()
        values = {"least": min(counts), "most": max(counts)}
        return Note.of("plan/query-set-chosen", queries=queries, **values)
