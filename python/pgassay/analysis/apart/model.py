"""Runs made apart and their comparison, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, Literal, NamedTuple

from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.curves.model import ArmLatencyCurve
from pgassay.analysis.gates.model import GateResult
from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.latencies import TrialLatencies
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.sampled.model import HostFigure, LoadProfile
from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note, Term, Value
from pgassay.plan.model import Endpoint, Plan
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.spec.stored import Materials


class Session(NamedTuple):
    """What a run shares with runs made near it in time."""

    day: str = ""
    """On which its first trial began (UTC)."""
    start: float | None = None
    """Of the server, if all trials share one; None where each has its own."""


@dataclass(frozen=True)
class ApartRun:
    """The parts of one stored run that are compared."""

    name: str
    plan: Plan
    trials: tuple[TrialMeasures, ...]
    """Those that count."""
    invalid: int = 0
    asked: tuple[ArmAsked, ...] = ()
    """What its arms were run with; empty where this version cannot read spec.toml."""
    materials: Materials | None = None
    """workload.json; None where the run has none."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """spec.toml, as written."""
    environment: EnvironmentFile = field(default_factory=EnvironmentFile)
    """environment.json; any part of it may be missing."""
    session: Session = field(default_factory=Session)
    series: tuple[ChartSeries, ...] = ()
    """Of these trials; empty where no charts are asked for, as is `latencies`."""
    latencies: tuple[TrialLatencies, ...] = ()
    even: tuple[EvenSeries, ...] = ()
    """What was sampled in these trials."""


@dataclass(frozen=True)
class Side:
    """One run, or several of the same thing."""

    name: str
    runs: tuple[ApartRun, ...]


class SpreadSource(StrEnum):
    """Where the spread between runs of the same thing is known from."""

    RUNS = "repeated runs"
    SESSIONS = "repeated sessions"
    STATED = "stated"
    ASSUMED = "assumed"
    SLOW_CHANGES = "slow changes inside the runs"


@dataclass(frozen=True)
class RunSpread:
    """The standard deviation of runs of the same thing."""

    sd: float
    """On the scale of comparison; of repeated runs it includes that of their trials."""
    source: SpreadSource
    degrees: float
    """Degrees of freedom; infinite where it is stated or assumed."""


@dataclass(frozen=True)
class SideCollapses:
    """How often trials of a side may collapse although its verdict says that sides are alike."""

    trials: int
    """Of the side with fewer; of this one, if some of its trials collapsed."""
    seen: int
    most_pct: float
    """Upper 95 % limit of the share of trials that collapse (Clopper and Pearson)."""


@dataclass(frozen=True)
class RunDifference:
    """One metric of one arm: a side against the baseline side."""

    side: str
    arm: str
    """Its label; empty where runs of one arm are compared."""
    comparison: Comparison
    """Its interval includes the spread between runs."""
    within: Interval | None
    """The 95 % interval by the spread of trials inside runs alone, a lower bound of the
    uncertainty; in per cent, or in the metric's unit, as `ci95` of the comparison."""
    within_pct: Interval | None
    spread: RunSpread | None
    """None where a metric does not vary."""
    runs: tuple[int, int]
    """Of the baseline side, and of this one."""
    sessions: tuple[int, int] | None
    """The same, where the session is the unit; None where the run is."""
    trials: tuple[int, int]
    collapses: SideCollapses | None = None
    """Of a verdict over whole trials that sides are alike."""


Name = str | Note
"""A name that a file has as it is, a word of pgassay's as a `Term` or in a note."""
Unit = Literal["bytes", "s"] | None


@dataclass(frozen=True)
class ConditionDifference:
    """Something that is not the same in all runs: a candidate for what changed the figures."""

    group: Term
    name: Name
    values: tuple[tuple[Value | None, ...], ...]
    """By side and run; None where it is not known."""
    unit: Unit = None
    """Of values that are numbers."""


@dataclass(frozen=True)
class AtLoad:
    """One metric of the trials of a side at one load."""

    side: str
    metric: str
    load: float
    mean: float
    """Of the means of runs, as in a `Comparison`."""
    low: float
    """The lowest of the trials, as `high` the highest."""
    high: float


@dataclass(frozen=True)
class ArmCurves:
    """How one arm went in every side: a description of the runs, which decides nothing."""

    arm: str
    """Its label; empty where runs of one arm are compared."""
    series: tuple[ChartSeries, ...]
    """Trials, each with the name of its side for an arm."""
    latencies: tuple[ArmLatencyCurve, ...]
    """By scenario and side, whose name is the arm of the curve."""
    by_load: tuple[AtLoad, ...]
    """Throughput and the slow end of latency by side and load; empty for a single load."""
    host: tuple[HostFigure, ...] = ()
    """Of each side, whose name is the arm of the figure, as in `speed`: means of its trials."""
    speed: tuple[HostFigure, ...] = ()
    profiles: tuple[LoadProfile, ...] = ()
    """Load by load each side, whose name is the arm of the profile; empty for a single load."""


@dataclass(frozen=True)
class ApartAnalysis:
    """The analysis of runs made apart; the first side is the baseline."""

    metric: str
    smallest_effect: float
    endpoints: tuple[Endpoint, ...]
    sides: tuple[Side, ...]
    arms: tuple[str, ...]
    """Labels of the arms that all sides have."""
    left_out: tuple[str, ...]
    """Labels of arms that not all sides have."""
    differences: tuple[RunDifference, ...]
    conditions: tuple[ConditionDifference, ...]
    forced: tuple[Note, ...]
    """Why the comparison is meaningless, where it was made all the same."""
    caveats: tuple[Note, ...]
    gates: tuple[GateResult, ...] = ()
    curves: tuple[ArmCurves, ...] = ()
    """By arm."""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Returns all comparisons, in the order of `differences`."""
        return tuple(one.comparison for one in self.differences)

    def verdicts(self) -> tuple[RunDifference, ...]:
        """Returns the differences of the primary metric."""
        return tuple(one for one in self.differences if one.comparison.metric == self.metric)

    def beside(self, verdict: RunDifference) -> tuple[tuple[RunDifference, Endpoint], ...]:
        """Returns the endpoints of the same side, arm and load, with their margins."""
        of = {
            one.comparison.metric: one
            for one in self.differences
            if (one.side, one.arm, one.comparison.step)
            == (verdict.side, verdict.arm, verdict.comparison.step)
        }
        return tuple((of[one.metric], one) for one in self.endpoints if one.metric in of)

    def judged(self) -> tuple[RunDifference, ...]:
        """Returns every verdict, and beneath it the endpoints beside it."""
        beside = ((one, *(found for found, _ in self.beside(one))) for one in self.verdicts())
        return tuple(chain.from_iterable(beside))
