"""What a check has found.

Enters: nothing. Leaves: frozen values. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pgassay.notes import Note


@dataclass(frozen=True)
class Pair:
    """One figure of the source, and the same of the run; None where it is not known."""

    source: float | None
    run: float | None


@dataclass(frozen=True)
class CheckedPlan:
    """How both servers plan a statement, by the shape of its generic plan."""

    source: str | None
    """A fingerprint; None where the server gives no plan."""
    run: str | None


@dataclass(frozen=True)
class CheckedStatement:
    """One statement, in whatever scenarios it is."""

    fingerprint: str
    text: str
    scenarios: tuple[str, ...]
    matters: bool
    """Whether it is among those that take 90 % of the source's time, or all that is drawn of it."""
    calls_share: Pair
    """0 to 1, of the calls of all drawn statements."""
    time_share: Pair
    rows: Pair
    """Per call, as the rest."""
    found: Pair
    """Blocks that were in shared buffers."""
    read: Pair
    dirtied: Pair
    wal_bytes: Pair
    differs: tuple[str, ...] = ()
    """Of `calls`, `blocks`, `plan`: what differs by more than the limits; `missing` where the run
    never called it."""
    plan: CheckedPlan | None = None

    @property
    def blocks(self) -> Pair:
        """Blocks found and read, per call."""
        return Pair(_sum(self.found.source, self.read.source), _sum(self.found.run, self.read.run))


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


@dataclass(frozen=True)
class Checked:
    """The run beside its source."""

    folder: str
    run: str
    arm: str
    """The id of the arm that was compared: the baseline."""
    trials: int
    statements: tuple[CheckedStatement, ...]
    """Those with most of the source's time first."""
    lost_share: float
    """0 to 1: what the workload does not have of the time of the source's statements."""
    commits: Pair
    """Per second."""
    hit_ratio: Pair
    """0 to 1."""
    sessions: Mapping[str, Pair]
    """Wait type, "CPU" without one → active sessions on average."""
    notes: tuple[Note, ...] = ()

    @property
    def is_true(self) -> bool:
        """Whether no statement that matters differs by more than the limits."""
        return not any(one.differs for one in self.statements if one.matters)

    @property
    def is_of_calls(self) -> bool:
        """Whether calls alone could be compared: the source has no blocks, and no plans were."""
        return not any(one.blocks.source is not None or one.plan for one in self.statements)
