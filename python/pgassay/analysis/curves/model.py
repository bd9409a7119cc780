"""The parts of an analysis that describe a run beyond its verdicts.

Latency by quantile, throughput by load, and what happened inside trials over time: steadiness,
checkpoints, associations.

Enters: nothing. Leaves: frozen dataclasses, parts of `Analysis`. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.statistics.values import Estimate, Interval
from pgassay.notes import Note
from pgassay.quantities import LoadUnit


@dataclass(frozen=True)
class QuantileShift:
    """Latency of a level against the baseline, quantile by quantile.

    The band holds for all quantiles together; a quantile whose difference never varies has none.
    """

    factor: str
    baseline: str
    level: str
    step: float | None
    step_unit: LoadUnit
    of: Literal["latency", "response"]
    """From the start of the transaction, or, in an open loop, from when it was due."""
    blocks: int
    shares: tuple[float, ...]
    baseline_ms: tuple[float, ...]
    level_ms: tuple[float, ...]
    shift_pct: tuple[float, ...]
    band95_pct: tuple[Interval | None, ...]
    refused: Note | None = None
    """Why there is no band."""


@dataclass(frozen=True)
class Crossing:
    """A load at which the sign of the effect changes."""

    at: float
    low: float
    high: float
    """The loads between which the simultaneous band contains zero."""
    below: Literal["better", "worse"]
    """The effect at smaller loads; it is the opposite at greater ones."""


@dataclass(frozen=True)
class EffectByLoad:
    """One level against the baseline at every load, with a band over all of them."""

    metric: str
    factor: str
    baseline: str
    level: str
    step_unit: LoadUnit
    blocks: int
    loads: tuple[float, ...]
    effect_pct: tuple[float, ...]
    band95_pct: tuple[Interval | None, ...]
    crossings: tuple[Crossing, ...]
    refused: Note | None = None


@dataclass(frozen=True)
class ScalingFit:
    """Gunther's Universal Scalability Law, X(N) = rate·N / (1 + σ(N − 1) + κN(N − 1))."""

    rate: Estimate
    """λ: transactions a second of a single client."""
    contention: Estimate
    """σ: the serial share of the work."""
    coherence: Estimate
    """κ: the cost of coherence between pairs of clients; above 0 throughput has a maximum."""
    knee_clients: Estimate | None
    """Where throughput is greatest, √((1 − σ)/κ)."""
    knee_tps: Estimate | None
    knee_refused: Note | None
    misfit_pct: float
    """Root mean square of the relative residuals."""
    curve: tuple[tuple[float, float], ...]
    """(clients, throughput) along the fit, within the loads that were run."""


@dataclass(frozen=True)
class LoadCurve:
    """Throughput of one arm against its number of clients."""

    arm: str
    blocks: int
    clients: tuple[float, ...]
    tps: tuple[float, ...]
    """Geometric means over blocks."""
    interval95: tuple[Interval | None, ...]
    """Student's t over blocks, at each number of clients by itself."""
    fit: ScalingFit | None
    refused: Note | None
    """Why there is no fit."""


@dataclass(frozen=True)
class HalfEffect:
    """The effect in one half of the measured time, in per cent."""

    effect_pct: float
    ci95_pct: Interval | None
    """Of the run's own rule, so it holds at every look."""


@dataclass(frozen=True)
class EffectByHalf:
    """Whether the effect of a level is the same in both halves of the measured time of trials."""

    metric: str
    factor: str
    baseline: str
    level: str
    blocks: int
    first: HalfEffect
    second: HalfEffect
    change_pct: float
    """The ratio of the level to its baseline in the second half, against that in the first."""
    change_ci95_pct: Interval | None
    """Student's t over blocks, shared by all levels."""
    p_t: float | None
    """Of the change, for this level alone."""
    verdict: Dependence
    """`depends`: the effect is another one in the second half."""
    holds_in_both: bool
    """Whether each half alone gives the verdict; true of an undecided one."""


class Steadiness(StrEnum):
    """Whether one step of one trial was steady."""

    STEADY = "steady"
    WARMING = "warming"
    """Steady after a beginning is left out."""
    UNSTEADY = "no steady state"
    UNKNOWN = "unknown"
    """Too short, or nothing varies."""


NOT_STEADY = (Steadiness.WARMING, Steadiness.UNSTEADY)


@dataclass(frozen=True)
class Shift:
    """A change of the mean throughput."""

    at_s: float
    """Seconds from the beginning of the step."""
    change_pct: float
    near_checkpoint: bool


@dataclass(frozen=True)
class Trend:
    """The Theil-Sen slope: change over the whole step, in per cent of the mean."""

    over_step_pct: float
    ci95_pct: Interval


@dataclass(frozen=True)
class StepSteadiness:
    """The steadiness of one step of one trial."""

    trial: int
    arm: str
    step: float
    course: Steadiness
    cause: Note | None
    """Why it was not steady, or not judged."""
    warmup_s: float
    """Seconds to leave out for the rest to be steady; 0 where none are needed, or none help."""
    shifts: tuple[Shift, ...]
    trend: Trend | None
    phase_removed: bool
    """Whether the mean course of a checkpoint cycle was removed first."""

    @property
    def why(self) -> str:
        """The cause in the language in force."""
        return "" if self.cause is None else str(self.cause)


@dataclass(frozen=True)
class CheckpointEffect:
    """Throughput around the start of a checkpoint, in one arm; the unit is the trial."""

    arm: str
    trials: int
    checkpoints: int
    before_s: float = 0.0
    after_s: float = 0.0
    offset_s: tuple[float, ...] = ()
    profile_pct: tuple[float, ...] = ()
    """Change relative to the mean of the seconds before the start."""
    band95_pct: tuple[Interval | None, ...] = ()
    """A simultaneous band over the whole profile."""
    depth_pct: Estimate | None = None
    dip_at_s: float | None = None
    duration_s: Estimate | None = None
    """How long throughput stays below half the depth."""
    recovery_s: Estimate | None = None
    """From the start until nine tenths of the dip have recovered."""
    lost_transactions: Estimate | None = None
    """Per checkpoint, from its start to the end of the profile."""
    full_page_images: Estimate | None = None
    """In the same time, beyond the rate of the seconds before; None where not all trials have
    them."""
    refused: Note | None = None
    """Why nothing but the number of checkpoints is known."""


@dataclass(frozen=True)
class CheckpointContrast:
    """A level's checkpoints against the baseline's, over blocks."""

    factor: str
    baseline: str
    level: str
    blocks: int
    depth_points: Estimate
    """Depth less the baseline's, in percentage points."""
    lost_transactions: Estimate
    lost_share_pct: Estimate | None = None
    """The same in per cent of the baseline's loss; None where that is not clearly above zero."""


@dataclass(frozen=True)
class Association:
    """A sampled series that correlates with throughput inside trials; not a cause."""

    series: str
    with_: str
    """`tps`, or `latency_mean` where the load is an open loop."""
    lag_s: float
    """Above 0: the series moves before throughput."""
    correlation: float
    ci95: Interval
    p_adjusted: float
    """Benjamini and Yekutieli, over all series and lags."""
    trials: int
    effective_samples: float


@dataclass(frozen=True)
class Associations:
    """The associations found, and how many series were tested."""

    found: tuple[Association, ...]
    series: int
    lags_s: tuple[float, ...]
    trials: int
    phase_removed: int
    """Trials whose checkpoint cycle was removed first."""
    refused: Note | None


@dataclass(frozen=True)
class ArmLatencyCurve:
    """One scenario in one arm, at the greatest load of its trials."""

    scenario: str
    """Empty: all together, which a workload of one scenario has too."""
    arm: str
    of: Literal["latency", "response"]
    """Response time, from when a transaction was due, or latency, from when it began."""
    step: float | None
    """The load, where trials have several."""
    trials: int
    transactions: int
    shares: tuple[float, ...]
    latency_ms: tuple[float, ...]
    """At each share, of all trials' transactions together."""
    low_ms: tuple[float | None, ...]
    """The lowest of the trials; None where a trial has too few transactions. Likewise `high_ms`."""
    high_ms: tuple[float | None, ...]
    max_ms: float

    def at(self, share: float) -> float | None:
        """The quantile at a named share; None where too few transactions were slower."""
        found = dict(zip(self.shares, self.latency_ms, strict=True))
        return found.get(share)
