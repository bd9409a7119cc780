"""Incidents, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sign:
    """Something that was far from usual while an incident lasted."""

    kind: str
    """As in signs.toml."""
    start_ns: int
    end_ns: int
    value: float
    """The mean while it lasted, in the unit of its kind."""
    usual: float
    objects: tuple[str, ...]
    """Wait events, tables or query ids with the most of it."""


@dataclass(frozen=True)
class BusyStatement:
    """A statement that sessions were busy with."""

    queryid: str
    sessions: float
    """On average while the incident lasted."""
    usual: float


@dataclass(frozen=True)
class Blocked:
    """Sessions that waited for a lock behind one kind of root."""

    whose: str
    """What the root is: the state of a session, or a type of process."""
    root_queryid: str
    root_pid: int | None
    """None where there were several roots."""
    depth: int
    """1 waits for the root itself, 2 for a session that does, 3 for one further on."""
    queryid: str
    locktype: str
    mode: str
    held: str
    """The relation; empty where it is not known."""
    waiting: float
    """On average while the incident lasted."""
    longest_ms: float
    root_xact_ms: float
    """The age of the root's transaction, at most."""


@dataclass(frozen=True)
class Incident:
    """A stretch in which the server was slower than usual, or did what is no usual work."""

    start_ns: int
    end_ns: int
    is_open: bool
    """Whether it lasted at the end of the record."""
    tps: float
    usual_tps: float
    sessions: float
    """Average active sessions."""
    usual_sessions: float
    lost_transactions: float
    """Fewer than usual; 0 where there were more."""
    extra_session_s: float
    """Session-seconds beyond the usual ones."""
    signs: tuple[Sign, ...]
    """The first one first."""
    statements: tuple[BusyStatement, ...]
    blocked: tuple[Blocked, ...]

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def kind(self) -> str:
        """The kind of the first sign; `slower` where there is none."""
        return self.signs[0].kind if self.signs else "slower"


@dataclass(frozen=True)
class Course:
    """Throughput and average active sessions over time."""

    starts_ns: tuple[int, ...]
    tps: tuple[float, ...]
    sessions: tuple[float, ...]


@dataclass(frozen=True)
class Incidents:
    """What was found in the slices of an observation."""

    start_ns: int
    end_ns: int
    read_s: float
    """How much of the time was read."""
    width_s: float
    """The usual length of a slice; an incident lasts for two of them, at least."""
    days: int
    """How many days say what is usual at a time of day; 0 where there are too few."""
    course: Course
    found: tuple[Incident, ...]
    """In order of time."""
