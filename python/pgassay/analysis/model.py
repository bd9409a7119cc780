"""What an analysis says, as values; analysis.json is this, written out.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pgassay.analysis.calibration_model import Calibration, NoiseFloor
from pgassay.analysis.course_model import (
    Associations,
    CheckpointContrast,
    CheckpointEffect,
    StepCourse,
)
from pgassay.analysis.curves_model import EffectByLoad, LoadCurve, QuantileShift
from pgassay.analysis.factorial_model import ArmEffect, Interaction, SimpleEffect, Trend
from pgassay.analysis.turns_model import CarryOver, RoundEffects, Withdrawn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCHEMA = "pgassay.analysis/1"
Figures = Mapping[str, float | None]


class Verdict(StrEnum):
    """What can be said of one comparison."""

    BETTER = "better"
    WORSE = "worse"
    NEGLIGIBLE = "negligible"
    """Different for sure, and for sure less than the smallest effect that matters."""
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    CALIBRATION = "calibration"
    """Of an A/A run: there is nothing to decide."""


class IntervalKind(StrEnum):
    """What `ci95` is."""

    T = "t"
    """Student's t on block differences: valid when the number of blocks was fixed beforehand."""
    SEQUENCE = "confidence sequence"
    """Valid after every block, whenever one stops."""
    GROUP = "group-sequential"
    """Valid at all of the looks that were fixed beforehand, together."""


@dataclass(frozen=True)
class Doubt:
    """A doubt about the measurement, kept with the result."""

    kind: str
    text: str


@dataclass(frozen=True)
class LatencyCurve:
    """Quantiles at `histograms.CURVE_SHARES`."""

    of: Literal["latency", "response"]
    quantiles_ms: tuple[float, ...]


@dataclass(frozen=True)
class StepMeasures:
    """Estimates of one measured step of a trial, or of all of them (`level` is None)."""

    level: float | None
    """Clients, or the rate asked for where that is what tells the steps apart."""
    start_ns: int
    end_ns: int
    transactions: int
    values: Mapping[str, float]
    """Metric → value; a metric that could not be measured is absent."""
    latency_curve: LatencyCurve | None = None


@dataclass(frozen=True)
class VariantMeasures:
    """All slices of one variant in a trial."""

    variant: str
    slices: int
    seconds: float
    transactions: int
    """That began and ended in one slice; `tps` and `latency_mean_ms` are of these."""
    crossing: int
    """That ended in a slice and had begun before it, failed ones among them."""
    tps: float
    latency_mean_ms: float | None


@dataclass(frozen=True)
class VariantSummary:
    """One variant in one arm: sums over its trials, and means of the trials' values."""

    arm: str
    variant: str
    trials: int
    slices: int
    transactions: int
    crossing: int
    tps: float
    latency_mean_ms: float | None


@dataclass(frozen=True)
class HostWindow:
    """One window of a host, by the columns of `host_columns.COLUMNS`."""

    start_ns: int
    end_ns: int
    vmstat: Figures
    iostat: Mapping[str, Figures]
    """By device."""


@dataclass(frozen=True)
class Turn:
    """One slice of an alternating trial, its first part cut off."""

    round: int
    """From 0, among those of its trial."""
    arm: str
    start_ns: int
    values: Mapping[str, float]
    """Metric → value, of the kept part."""
    early: Mapping[str, float]
    late: Mapping[str, float]
    """The same of its first and of its last stored interval that is kept."""
    transactions: int = 0
    failed: int = 0
    """Both of the whole slice, of transactions that began in it."""


@dataclass(frozen=True)
class TrialMeasures:
    """One trial, reduced to what is compared."""

    number: int
    block: int
    position: int
    arm: str
    whole: StepMeasures
    steps: tuple[StepMeasures, ...]
    warnings: tuple[Doubt, ...]
    variants: tuple[VariantMeasures, ...] = ()
    invalid: tuple[str, ...] = ()
    """Why it does not count; nothing where it does."""
    repeats: int | None = None
    """The number of the invalid trial that this one was run for."""
    is_repeated: bool = False
    """Whether the run repeats it at the end of its block: what its guards found invalid."""
    host: HostWindow | None = None
    """The measured part in the words of vmstat and iostat; None where the host was not read."""
    turns: tuple[Turn, ...] = ()
    """Of a trial in which all arms take turns: whole rounds of them."""

    @cached_property
    def rounds_kept(self) -> dict[object, tuple[list[int], NDArray[np.float64]]]:
        """What `contrasts.py` has read off the turns; it is asked for many times."""
        return {}

    def at(self, level: float | None) -> StepMeasures | None:
        """The step at this level; None for the whole trial."""
        if level is None:
            return self.whole
        return next((step for step in self.steps if step.level == level), None)


@dataclass(frozen=True)
class Comparison:
    """One metric, one level against its factor's baseline, over complete blocks.

    `effect`, `ci95` are in per cent where scale is "ratio"; for "difference" they are in the
    metric's unit, and `effect_pct`, `ci95_pct` relate them to the baseline's mean (None where
    that is zero).
    """

    metric: str
    factor: str
    baseline: str
    level: str
    step: float | None
    step_unit: str
    blocks: int
    baseline_mean: float
    level_mean: float
    effect_pct: float | None
    ci95_pct: tuple[float, float] | None
    difference: float
    ci95: tuple[float, float] | None
    p_t: float | None
    """Student's t on the same differences; screens what else moved, decides no primary verdict."""
    p_sign_flip: float | None
    p_blocks: int
    """How many blocks, fixed beforehand, the sign-flip p is over."""
    e_value: float | None
    verdict: Verdict
    blocks_to_decide: int | None
    """More blocks that decide if mean and spread stay, which about 6 of 10 such runs do by then; 0
    when decided, None when hopeless or unknown."""
    block_effects_pct: tuple[float, ...]
    p_max_t: float | None = None
    """Of the primary metric: corrected for all verdicts together by flipping their signs as one."""
    rounds: int | None = None
    """Where arms take turns inside trials: the rounds of all blocks, over which it is estimated."""
    withdrawn: Withdrawn | None = None
    """Where the verdict is undecided for this and not for its interval."""
    withdrawn_for_good: bool = False
    """No more trials of this run can bring the verdict back."""
    p_by: float | None = None
    """Of any metric but the primary one: `p_t` corrected for all of them (Benjamini-Yekutieli)."""
    clear: bool | None = None
    """The same: whether it differs by that p and by its interval, as its verdict then says."""

    @property
    def load(self) -> str:
        """Such as `8 clients` or `whole trial`."""
        return "whole trial" if self.step is None else f"{self.step:g} {self.step_unit}"


@dataclass(frozen=True)
class ArmSummary:
    """Mean of each metric over an arm's trials."""

    id: str
    label: str
    levels: Mapping[str, str]
    trials: int
    means: Mapping[str, float]


@dataclass(frozen=True)
class Standstill:
    """An arm of which whole trials, or all of one of their steps, committed nothing."""

    arm: str
    label: str
    step: float | None
    """None of whole trials."""
    trials: int
    of: int
    """All that count of this arm."""
    takes: tuple[tuple[str, str], ...]
    """(factor, level) of the verdicts that are not given for it."""


@dataclass(frozen=True)
class Analysis:
    """Everything estimated from one run."""

    question: str
    metric: str
    smallest_effect: float
    interval: IntervalKind
    simultaneous: int
    """How many verdicts the 95 % of each interval is shared between (Bonferroni)."""
    blocks: int
    arms: tuple[ArmSummary, ...]
    trials: tuple[TrialMeasures, ...]
    """Those that count."""
    invalid_trials: tuple[TrialMeasures, ...]
    comparisons: tuple[Comparison, ...]
    warnings: tuple[Doubt, ...]
    standstills: tuple[Standstill, ...] = ()
    variants: tuple[VariantSummary, ...] = ()
    """Described, not compared: nothing is said of how sure a difference is."""
    interactions: tuple[Interaction, ...] = ()
    simple_effects: tuple[SimpleEffect, ...] = ()
    trends: tuple[Trend, ...] = ()
    arm_effects: tuple[ArmEffect, ...] = ()
    carry_over: tuple[CarryOver, ...] = ()
    carry_over_suspected: bool = False
    """It is not found, and yet so likely that a run which can go on does."""
    round_effects: tuple[RoundEffects, ...] = ()
    quantile_shifts: tuple[QuantileShift, ...] = ()
    by_load: tuple[EffectByLoad, ...] = ()
    load_curves: tuple[LoadCurve, ...] = ()
    courses: tuple[StepCourse, ...] = ()
    checkpoint_effects: tuple[CheckpointEffect, ...] = ()
    checkpoint_contrasts: tuple[CheckpointContrast, ...] = ()
    associations: Associations | None = None
    """None where the courses of the trials were not read."""
    noise: NoiseFloor | None = None
    """How much trials of one arm differ in a block; None where that cannot be seen."""
    calibration: Calibration | None = None
    """Of an A/A run."""

    def verdicts(self) -> tuple[Comparison, ...]:
        """The comparisons of the primary metric."""
        return tuple(c for c in self.comparisons if c.metric == self.metric)

    def decided(self) -> bool:
        """Whether every verdict over whole trials has been reached."""
        whole = [c for c in self.verdicts() if c.step is None]
        return bool(whole) and all(c.verdict is not Verdict.UNDECIDED for c in whole)

    def may_end(self) -> bool:
        """Whether more blocks would be of no use: every such verdict is reached, or cannot be."""
        settled = {
            (c.factor, c.level)
            for c in self.verdicts()
            if c.step is None and (c.verdict is not Verdict.UNDECIDED or c.withdrawn_for_good)
        }
        never = {level for one in self.standstills if one.step is None for level in one.takes}
        open_ = self._asked() - settled - never
        return bool(settled | never) and not open_ and not self.carry_over_suspected

    def _asked(self) -> set[tuple[str, str]]:
        """(factor, level) of each that is held against its factor's baseline."""
        levels = [set(arm.levels.items()) for arm in self.arms]
        return set[tuple[str, str]]().union(*levels) - levels[0] if levels else set()
