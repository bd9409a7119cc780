"""Loads whose size is not that of their steps: a replay, a query set.

Enters: nothing. Leaves: frozen dataclasses of a plan. Never: reads a trace or a query.
"""

from __future__ import annotations

from dataclasses import dataclass

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
class QuerySet:
    """The queries that every trial executes."""

    queries: int
    repeats: int
    """Executions of each that count, in every session."""
    executions: int
    """Of each, with that which does not count."""

    def described(self) -> Note:
        """Returns a line such as `22 queries, 3 executions of each that count`."""
        queries = Note.of("plan/set-queries", n=self.queries)
        return Note.of("plan/query-set", queries=queries, n=self.repeats)
