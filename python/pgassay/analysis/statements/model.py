"""What is known of statements.

Enters: nothing. Leaves: frozen values, parts of `Analysis`. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note


@dataclass(frozen=True)
class StatementCosts:
    """One statement in one arm: means of its trials, over their whole load with the warm-up."""

    arm: str
    """The id of an arm; `all` where arms alternate within each trial."""
    trials: int
    calls_per_tx: float
    mean_ms: float | None
    """Execution time of a call; None where it was never called."""
    ms_per_tx: float
    share_pct: float
    """Of the execution time of all statements of the load."""
    rows_per_call: float
    hit_per_call: float
    read_per_call: float
    dirtied_per_call: float
    written_per_call: float
    """Blocks of shared buffers."""
    wal_bytes_per_call: float
    temp_blocks_per_call: float
    """Read and written."""
    waits: tuple[tuple[str, float], ...]
    """The wait events met most while it ran (`CPU`: none), as average sessions; waits for the
    client are left out."""


@dataclass(frozen=True)
class StatementEffect:
    """The execution time per transaction of one statement, of a level and of its baseline."""

    queryid: str
    factor: str
    baseline: str
    level: str
    blocks: int
    baseline_ms: float
    level_ms: float
    difference_ms: float
    ci95_ms: Interval | None
    """At the level of the correction for many statements."""
    p_t: float | None
    p_by: float | None
    clear: bool


@dataclass(frozen=True)
class StatementUse:
    """One statement of pg_stat_statements."""

    queryid: str
    text: str
    """Empty where the server did not tell."""
    ranked: int
    """Its place by total execution time, from 1."""
    of_the_80_pct: bool
    """Whether it is among those that take 80 % of the execution time together."""
    by_arm: tuple[StatementCosts, ...]
    effects: tuple[StatementEffect, ...] = ()


@dataclass(frozen=True)
class StatementPlan:
    """One plan of a statement, and where it was seen."""

    fingerprint: str
    trials: Mapping[str, int]
    """Arm → how many of its trials had this plan."""
    nodes: tuple[str, ...]
    text: tuple[str, ...]
    tree: Mapping[str, Any]
    differs_at: int | None = None
    """The line of its first node that is not as in the statement's first plan; in the first plan,
    that where the second differs."""
    reasons: tuple[Note, ...] = ()
    """What the server does otherwise than by the first plan; none where no rule knows it."""


@dataclass(frozen=True)
class StatementPlans:
    """One statement of a scenario with its plans, in the order of the arms that had them."""

    scenario: str
    line: int
    sql: str
    queryids: tuple[str, ...]
    plans: tuple[StatementPlan, ...]
    reason: Note | None = None
    """Why it has none."""
    factor: str | None = None
    """The one factor whose levels alone decide the plan; None where none or several do."""

    @property
    def plan_of_arm(self) -> Mapping[str, str]:
        """Arm → the fingerprint that most of its trials had."""
        most: dict[str, tuple[int, str]] = {}
        for plan in self.plans:
            for arm, trials in plan.trials.items():
                if trials > most.get(arm, (0, ""))[0]:
                    most[arm] = (trials, plan.fingerprint)
        return {arm: fingerprint for arm, (_, fingerprint) in most.items()}

    @property
    def trials_of_arm(self) -> Mapping[str, int]:
        """Arm → how many of its trials had any plan."""
        found: dict[str, int] = {}
        for plan in self.plans:
            for arm, trials in plan.trials.items():
                found[arm] = found.get(arm, 0) + trials
        return found

    @property
    def differs(self) -> bool:
        """Whether arms have different plans, by most of their trials."""
        return len(set(self.plan_of_arm.values())) > 1

    @property
    def varies(self) -> bool:
        """Whether some arm had several plans."""
        return any(sum(arm in plan.trials for plan in self.plans) > 1 for arm in self.trials_of_arm)
