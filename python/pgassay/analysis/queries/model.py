"""What is said of each query of a set, and of the set as a whole, as values.

Enters: nothing. Leaves: frozen dataclasses, parts of `Analysis`. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.measures.model import ExplainPlan, QueryCosts, TrialQueries
from pgassay.analysis.plans.model import PlanChange
from pgassay.analysis.statistics.values import Interval

__all__ = ["ExplainPlan", "QueryCosts", "TrialQueries"]


@dataclass(frozen=True)
class QueryFailures:
    """Trials in which a query failed, of those that ran it, in one arm or level."""

    failed: int
    trials: int
    errors: Mapping[str, int] = field(default_factory=dict)
    """SQLSTATE → failed executions."""

    @property
    def always(self) -> bool:
        """Whether it failed in every trial."""
        return 0 < self.trials == self.failed


@dataclass(frozen=True)
class CostChange:
    """The change of a cost beside the time, over blocks."""

    baseline: float
    level: float
    change_pct: float | None
    """None where the baseline has none of it, and the level has."""
    ci95_pct: Interval | None
    """Holds together with those of all queries and levels; None where it cannot be told. Of a cost
    that never varies both ends are the change."""
    differs: bool = False
    """Whether the interval excludes no change, or one of both always has some and the other never
    any."""


@dataclass(frozen=True)
class QueryEffect:
    """One query: a level against its factor's baseline, over complete blocks."""

    query: str
    factor: str
    baseline: str
    level: str
    blocks: int
    """In which both have a time; 0 where it failed in all trials of one."""
    baseline_ms: float | None
    """Geometric means over blocks; None without blocks."""
    ms: float | None
    change_pct: float | None
    ci95_pct: Interval | None
    """Holds together with those of all queries and levels at 95 %, at every look of the run."""
    ci90_pct: Interval | None
    """The same at 90 %: it decides "equivalent", and that a gate holds."""
    verdict: Verdict
    margin: float
    """The smallest change that matters, as a share."""
    weight: float = 1.0
    """Calls: by how much a millisecond of this query counts against one of another."""
    blocks_to_decide: int | None = None
    """Further blocks to a verdict if mean and scatter stay; 0 when decided, None if unknown."""
    baseline_failures: QueryFailures = QueryFailures(0, 0)
    failures: QueryFailures = QueryFailures(0, 0)
    baseline_costs: QueryCosts = field(default_factory=QueryCosts)
    """Means over all trials of the baseline; likewise the next one of the level."""
    costs: QueryCosts = field(default_factory=QueryCosts)
    cost_changes: Mapping[str, CostChange] = field(default_factory=dict)
    """Of blocks found and read (`blocks`), of temporary files (`temp`), `dirtied`, `wal_bytes`,
    `rows`, `planning_ms`, and the 95th percentile of executions in ms (`p95`); where they tell."""
    plan_differs: bool | None = None
    """Whether most trials of the level had another plan than most of the baseline; None where
    plans are not known."""
    plan_varies: bool = False
    """Whether a level had several plans, so that `plan_differs` is no effect of the level alone."""
    plan_change: PlanChange | None = None
    """How the plan that most trials of the level had differs from that of the baseline, and what
    the server did otherwise by the same plan; None where it did the same."""
    answers_differ: bool = False
    """Whether it returned other rows than with the baseline, so that the two times are not those of
    the same question."""

    @property
    def gained_ms(self) -> float:
        """Returns the milliseconds by which the level is faster, times the weight."""
        if self.baseline_ms is None or self.ms is None:
            return 0.0
        return (self.baseline_ms - self.ms) * self.weight

    @property
    def fails_more(self) -> bool:
        """Whether it failed in a larger share of the level's trials than of the baseline's."""
        before, after = self.baseline_failures, self.failures
        return after.failed * before.trials > before.failed * after.trials

    @property
    def fails_only_here(self) -> bool:
        """Whether it failed in every trial of the level and in none of the baseline."""
        return self.failures.always and 0 == self.baseline_failures.failed < (
            self.baseline_failures.trials
        )


@dataclass(frozen=True)
class SetSummary:
    """The whole set: a level against its factor's baseline."""

    factor: str
    baseline: str
    level: str
    blocks: int
    compared: int
    """Queries that succeeded in every trial of all arms, which the ratios are of."""
    better: int
    worse: int
    equivalent: int
    """Negligible differences included."""
    undecided: int
    plans_changed: int
    mean_pct: float | None
    """The change of the geometric mean over queries: each counts alike."""
    mean_ci95_pct: Interval | None
    """By the run's rule, as the next interval, together with those of all levels."""
    baseline_total_ms: float | None
    """Time of every query once, or of as many calls as its weight says."""
    total_ms: float | None
    total_pct: float | None
    total_ci95_pct: Interval | None
    """Without a verdict."""


@dataclass(frozen=True)
class SchemaPrice:
    """What a level of the schema costs, against its factor's baseline."""

    factor: str
    baseline: str
    level: str
    made_in_s: float | None
    """How long its SQL took, once; None where that is not known of this level alone."""
    baseline_bytes: int | None
    """Of the whole database at the start of trials; likewise the next one with the level."""
    bytes: int | None


@dataclass(frozen=True)
class QuerySet:
    """What a run says of a set of queries."""

    margin: float
    simultaneous: int
    """How many intervals hold together: queries times levels."""
    weighted: bool
    """Whether weights are calls that were counted; else every query counts once."""
    summaries: tuple[SetSummary, ...]
    """By level, in the order of the plan."""
    effects: tuple[QueryEffect, ...]
    """Of each level in turn, the one that gains or loses most time first."""
    failed: tuple[str, ...] = ()
    """Queries that did not succeed in every trial, which no ratio of the set counts."""

    def of(self, factor: str, level: str) -> tuple[QueryEffect, ...]:
        """Returns the effects of one level, the most important first."""
        return tuple(one for one in self.effects if (one.factor, one.level) == (factor, level))
