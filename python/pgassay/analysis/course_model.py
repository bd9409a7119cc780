"""What is said of the course of trials: steadiness, checkpoints, what moves together.

Enters: nothing. Leaves: frozen dataclasses, parts of `Analysis`. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgassay.analysis.curves_model import Estimate, Interval


class Course(StrEnum):
    """How one step of one trial went."""

    STEADY = "steady"
    WARMING = "warming"
    """Steady once a beginning is left out."""
    UNSTEADY = "no steady state"
    UNKNOWN = "unknown"
    """Too short, or nothing varies."""


@dataclass(frozen=True)
class Shift:
    """The mean level of throughput changed."""

    at_s: float
    """Since the step began."""
    change_pct: float
    near_checkpoint: bool


@dataclass(frozen=True)
class Trend:
    """Theil and Sen's slope, as per cent of the mean over the whole step."""

    over_step_pct: float
    ci95_pct: Interval


@dataclass(frozen=True)
class StepCourse:
    """One step of one trial."""

    trial: int
    arm: str
    step: float
    course: Course
    why: str
    warmup_s: float
    """What is to be left out for the rest to be steady; 0 where nothing is, or nothing helps."""
    shifts: tuple[Shift, ...]
    trend: Trend | None
    phase_removed: bool
    """Whether the mean course of a checkpoint cycle was taken out first."""


@dataclass(frozen=True)
class CheckpointEffect:
    """Throughput around the start of a checkpoint, in one arm; the unit is the trial."""

    arm: str
    trials: int
    checkpoints: int
    before_s: float
    after_s: float
    offset_s: tuple[float, ...]
    profile_pct: tuple[float, ...]
    """Against the mean of the seconds before the start."""
    band95_pct: tuple[Interval | None, ...]
    """Holds for the whole profile together."""
    depth_pct: Estimate | None
    dip_at_s: float | None
    duration_s: Estimate | None
    """How long throughput stays below half the depth."""
    recovery_s: Estimate | None
    """From the start until nine tenths of the dip are made good."""
    lost_transactions: Estimate | None
    """Per checkpoint, from its start to the end of the profile."""
    full_page_images: Estimate | None
    """The same time's, more than at the rate of the seconds before; None where not all trials saw
    them."""
    refused: str | None


@dataclass(frozen=True)
class CheckpointContrast:
    """A level's checkpoints against the baseline's, over blocks."""

    factor: str
    baseline: str
    level: str
    blocks: int
    depth_points: Estimate
    """Percentage points of depth more than the baseline's."""
    lost_transactions: Estimate


@dataclass(frozen=True)
class Association:
    """A sampled series that moves with throughput inside trials. Never a cause."""

    series: str
    with_: str
    """`tps`, or `latency_mean` where the load is an open loop."""
    lag_s: float
    """Above 0: the series moves first."""
    correlation: float
    ci95: Interval
    p_adjusted: float
    """Benjamini and Yekutieli, over all series and lags."""
    trials: int
    effective_samples: float


@dataclass(frozen=True)
class Associations:
    """What was found among how many."""

    found: tuple[Association, ...]
    series: int
    lags_s: tuple[float, ...]
    trials: int
    phase_removed: int
    """Trials whose checkpoint cycle was taken out first."""
    refused: str | None
