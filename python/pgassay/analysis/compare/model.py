"""Comparisons, carry-over tests and estimates of several factors, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pgassay.analysis.statistics.values import Interval
from pgassay.quantities import LoadUnit

FEW_BLOCKS = 4
"""Fewest blocks whose spread is known well enough for a verdict, and to say how many more one
needs. Three blocks that happen to agree would give any interval."""


class Verdict(StrEnum):
    """The verdict on one comparison."""

    BETTER = "better"
    WORSE = "worse"
    NEGLIGIBLE = "negligible"
    """Significantly different, but by less than the smallest effect that matters."""
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    CALIBRATION = "calibration"
    """Of an A/A run, whose arms are identical."""
    DESCRIBED = "described"
    """Of a factor whose levels are set side by side and not judged."""


SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
"""The verdicts by which levels are alike."""
Subject = tuple[str, str, float | None]
"""The factor, the level and the load of a verdict."""


class IntervalKind(StrEnum):
    """The kind of interval that `ci95` is."""

    T = "t"
    """Student's t on block differences: valid when the number of blocks was fixed beforehand."""
    BOUNDED = "confidence sequence up to the last block"
    """Valid at all looks from `min_blocks` to `max_blocks` together."""
    GROUP = "group-sequential"
    """Valid at all looks together, which were fixed beforehand."""


class Withdrawn(StrEnum):
    """Why a verdict is not given although its interval may allow one."""

    CARRY_OVER = "carry-over"
    IDLE_ROUNDS = "idle-rounds"
    STANDSTILL = "standstill"
    """An arm has trials in which nothing was committed."""
    SET_BY_LOAD_ITSELF = "not-in-force"
    """Scripts set the factor themselves, so that its levels are not in force."""
    LOST_TRIALS = "lost-trials"
    """One arm lost more trials than chance explains."""
    SET_BY_LOAD = "set-by-load"
    """The load's rate sets the throughput, so arms that reach it are alike in it."""
    SLOW_EFFECTS = "slow-effects"
    """It would be equivalent or negligible, but slices this short may hide part of an effect that
    takes seconds to build up."""
    UNFINISHED = "unfinished"
    """Not all blocks that were fixed beforehand have run."""


@dataclass(frozen=True)
class ByDuration:
    """A level's throughput by the mean duration of transactions, against its baseline's."""

    effect_pct: float | None
    standard_error: float | None
    """In logarithms."""


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
    step_unit: LoadUnit
    blocks: int
    baseline_mean: float
    level_mean: float
    effect_pct: float | None
    ci95_pct: tuple[float, float] | None
    difference: float
    ci95: tuple[float, float] | None
    p_t: float | None
    """Student's t on the same differences; used for secondary metrics, never for the verdict."""
    p_sign_flip: float | None
    """Of a fixed number of blocks: over all of them."""
    p_looks: float | None
    """Of a run that may end early: an upper bound (0.1, 1 or 5 %) of the p that holds at every
    look; None above 5 %, and for metrics beside the primary one."""
    verdict: Verdict
    blocks_to_decide: int | None
    """Further blocks to a verdict if mean and spread stay as they are, which holds in about 6 of 10
    runs; 0 when decided, None when hopeless or unknown."""
    block_effects_pct: tuple[float, ...]
    """Without what positions add, and with their spread enlarged by what that takes: their mean is
    the effect, their spread gives its standard error, and p flips the signs of their logarithms."""
    block_raw_pct: tuple[float, ...] = ()
    """The same as measured."""
    typical_pct: float | None = None
    """Of a verdict on the primary metric that is given, over five blocks or more: the 20 % trimmed
    mean, of a switchback over its trials."""
    aliases: tuple[str, ...] = ()
    """In a fraction: the interactions that are in this effect."""
    shared_by: int = 1
    """How many verdicts share the 5 % of its interval, by Holm's rule."""
    rounds: int | None = None
    """Of a switchback: the number of rounds it is estimated over."""
    effect_adjusted_pct: float | None = None
    """Of a verdict at which a run ended early: the effect, adjusted for the chance that enlarged it
    and so ended the run."""
    slow_ci90_pct: tuple[float, float] | None = None
    """Of a switchback whose 90 % interval lies inside the margin: the effects that its rounds allow
    if these take up to 4 s to build up."""
    withdrawn: Withdrawn | None = None
    """Why the verdict is withdrawn, where it is."""
    withdrawn_for_good: bool = False
    """Further trials of this run cannot bring the verdict back."""
    p_by: float | None = None
    """Of secondary metrics: `p_t` corrected for all of them (Benjamini-Yekutieli)."""
    clear: bool | None = None
    """Of secondary metrics: whether that p and the interval both show a difference."""
    standard_error: float | None = None
    """Of the mean over blocks, on the scale of comparison: of logarithms where it is "ratio"."""
    units: float = 0.0
    """How many independent values that rests on: degrees of freedom plus one."""
    resolution: float = 0.0
    """Of counts of a few transactions: by how much the effect may be off because one transaction
    more or less ends in a trial, on the scale of comparison. Intervals are wider by it."""
    by_duration: ByDuration | None = None
    """Of the same: the effect by durations. The interval covers both, and both decide."""


@dataclass(frozen=True)
class RoundEffects:
    """A level against its factor's baseline in every round, over time."""

    factor: str
    level: str
    blocks: tuple[int, ...]
    effects_pct: tuple[float, ...]


class CarryOverTest(StrEnum):
    """The tests for an effect that outlasts its slice."""

    BEFORE = "after a slice of the same arm against after another"
    WITHIN = "early against late part of slices"
    LENGTH = "longer against shorter slices"


@dataclass(frozen=True)
class CarryOver:
    """One carry-over test: the effect where carry-over weighs less, and where it weighs more."""

    factor: str
    level: str
    test: CarryOverTest
    first_pct: float
    """The effect after a slice of the same arm, early in slices, or in longer slices."""
    second_pct: float
    """The effect after a slice of another arm, late in slices, or in shorter slices."""
    difference_pct: float
    ci95_pct: tuple[float, float] | None
    p: float | None
    found: bool
    """p is below its share of 5 %, divided among all such tests and looks."""
    outweighs: bool
    """It is found and large enough to cause or hide the verdict, which is withdrawn then."""
    found_after: int | None = None
    """Blocks at the first look that found it; it stays found."""


@dataclass(frozen=True)
class Estimate:
    """One contrast of the primary metric over whole trials, in per cent."""

    blocks: int
    effect_pct: float | None
    ci95_pct: tuple[float, float] | None
    """Holds together with those of its kind (all interactions, all trends, …) at 95 %."""
    p_sign_flip: float | None
    p_looks: float | None
    blocks_to_decide: int | None
    block_effects_pct: tuple[float, ...]
    rounds: int | None = None


class Dependence(StrEnum):
    """Whether one factor's effect depends on another's level."""

    DEPENDS = "depends"
    NEGLIGIBLE = "negligible"
    """It does, but by less than the smallest effect that matters."""
    INDEPENDENT = "independent"
    """If it does at all, by less than that effect."""
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class SimpleEffect:
    """A level against its factor's baseline, where `other` is at level `at`."""

    factor: str
    level: str
    other: str
    at: str
    estimate: Estimate


@dataclass(frozen=True)
class Interaction:
    """The effect of `level` where `other` is `at`, against that where `other` is at its baseline.

    Effects multiply: 10 % means that the ratio `level` makes is 1.1 times as large.
    """

    metric: str
    factor: str
    level: str
    other: str
    at: str
    aliases: tuple[str, ...]
    """In a fraction: the interactions that are confounded with this one."""
    estimate: Estimate
    verdict: Dependence


@dataclass(frozen=True)
class ServerEffect:
    """A level against its baseline, on one server of a fleet."""

    server: str
    blocks: int
    effect_pct: float | None
    ci95_pct: tuple[float, float] | None
    """Holds together with those of all servers and verdicts at 95 %."""


@dataclass(frozen=True)
class HeterogeneityTest:
    """Whether effects differ between servers by more than blocks of one server do."""

    by: Literal["permutation", "F"]
    """How p was found: over all ways to deal the blocks to the servers, or by F's distribution."""
    f: float
    freedom: tuple[float, float]
    """Degrees of freedom between and within servers."""
    p: float


@dataclass(frozen=True)
class ByServer:
    """A verdict's effect on each server of a fleet: the interaction of server and arm."""

    metric: str
    factor: str
    baseline: str
    level: str
    step: float | None
    step_unit: LoadUnit
    servers: tuple[ServerEffect, ...]
    test: HeterogeneityTest | None
    """None where no server has two blocks."""
    verdict: Dependence


@dataclass(frozen=True)
class Trend:
    """A line through a factor's levels, from the lowest to the highest value."""

    metric: str
    factor: str
    lowest: str
    highest: str
    per_doubling_pct: float | None
    """The change per doubling of the value, where levels are spaced by ratios."""
    estimate: Estimate
    """From the lowest to the highest level, along the line."""
    verdict: Verdict


@dataclass(frozen=True)
class ArmEffect:
    """One arm against the arm that has every factor at its baseline."""

    arm: str
    estimate: Estimate


@dataclass(frozen=True)
class TimePart:
    """One part of a transaction's time, or the whole, as means over blocks."""

    name: str
    """A wait class, `to_begin`, `unaccounted` or `whole`."""
    title: str
    baseline_ms: float
    level_ms: float
    difference_ms: float
    ci95_ms: Interval | None
    share_pct: float | None
    """Of the difference between the arms; None where that is not clear."""
    share_ci95_pct: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference excludes zero."""
        return self.ci95_ms is not None and (self.ci95_ms[0] > 0.0 or self.ci95_ms[1] < 0.0)


@dataclass(frozen=True)
class Accounting:
    """The time of a transaction of a level and of its baseline, part by part."""

    factor: str
    baseline: str
    level: str
    blocks: int
    whole: TimePart
    parts: tuple[TimePart, ...]
    """In the order of a transaction; the last one is what is unaccounted."""
    unaccounted_ci95_ms: tuple[Interval | None, Interval | None]
    """Of the baseline and of the level: beyond zero, more than noise is missing or too much."""


Change = Literal["better", "worse", "different", "no clear change"]


@dataclass(frozen=True)
class ArmFigure:
    """A figure of one arm: the mean of its trials, and its change from the baseline arm."""

    arm: str
    mean: float | None
    """Of trials in blocks in which the other arm of a comparison has the figure, too."""
    trials: int
    """Those that the mean is of."""
    difference: float | None = None
    """Mean over blocks; None of the baseline arm, and where nothing is compared."""
    ci95: Interval | None = None
    """Of the difference, corrected for many comparisons; None of a quantity compared by ratios."""
    change_pct: float | None = None
    ci95_pct: Interval | None = None
    p_by: float | None = None
    """Corrected for all figures of all arms that are compared together (Benjamini-Yekutieli)."""
    clear: bool = False
    """Whether it differs from the baseline arm after that correction; of a metric that has a
    verdict of its own, whether that says so."""

    def change(self, good: Literal["higher", "lower", "neither"]) -> Change:
        """Returns what the change is, where `good` is the direction that users want."""
        if not self.clear or self.difference is None:
            return "no clear change"
        if good == "neither":
            return "different"
        return "better" if (self.difference > 0.0) == (good == "higher") else "worse"
