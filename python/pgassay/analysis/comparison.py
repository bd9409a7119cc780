"""Two levels of one factor, compared over complete blocks.

Enters: trial measures. Leaves: `Comparison` values with interval, p, e-value and verdict.
Never: tests on seconds or requests; the trial is the unit, the block difference the observation.

Sources: docs/methods.md. The t interval and the exact sign-flip test are over within-block
differences (Fisher; scipy.stats.permutation_test), the sequential interval is Wang & Ramdas'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.metrics import Metric
from pgassay.analysis.model import Comparison, IntervalKind, TrialMeasures, Verdict
from pgassay.analysis.sequential import critical_t, e_value
from pgassay.plan.model import Factor, Plan

_EXACT_UP_TO = 16
"""Blocks up to which all 2^n sign patterns are tried; above, 100 000 drawn ones."""
_HORIZON = 1000
"""Blocks beyond which "how many more" is answered with "unknown"."""
FEW_BLOCKS = 4
"""Blocks below which spread is too little known to say how many more it takes."""
_USELESS_PCT = 10_000.0
"""A bound beyond this tells nothing; there is no interval then."""
_LARGEST_LOG = 300.0


@dataclass(frozen=True)
class Rule:
    """How verdicts are reached in one run, fixed before its first trial."""

    interval: IntervalKind
    smallest_effect: float
    simultaneous: int
    declared_blocks: int

    def critical(self, n: int, alpha: float) -> float:
        """Half-width of the interval in standard errors of the mean."""
        shared = alpha / self.simultaneous
        if n < 2:
            return math.inf
        if self.interval is IntervalKind.SEQUENCE:
            return critical_t(n, shared)
        return float(special.stdtrit(n - 1, 1 - shared / 2))


@dataclass(frozen=True)
class Question:
    """What one comparison is about."""

    metric: Metric
    factor: Factor
    level: str
    step: float | None


def compare(
    question: Question, trials: Sequence[TrialMeasures], plan: Plan, rule: Rule
) -> Comparison | None:
    """The comparison over all complete blocks; None where no block is complete."""
    pairs = _block_means(question, trials, plan)
    if not pairs:
        return None
    base, level = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    ratio = question.metric.scale == "ratio"
    differences = level - base
    baseline_mean, level_mean = float(base.mean()), float(level.mean())
    if ratio:
        baseline_mean, level_mean = math.exp(baseline_mean), math.exp(level_mean)
    n, mean = len(differences), float(differences.mean())
    error = _standard_error(differences)
    interval = _interval(mean, error, rule.critical(n, 0.05))
    verdict = _verdict(question.metric, mean, error, baseline_mean, n, rule)
    relative = _relative(ratio, baseline_mean)
    raw = _raw(ratio)
    return Comparison(
        metric=question.metric.name,
        factor=question.factor.name,
        baseline=question.factor.baseline,
        level=question.level,
        step=question.step,
        step_unit=plan.step_unit,
        blocks=n,
        baseline_mean=baseline_mean,
        level_mean=level_mean,
        effect_pct=relative(mean),
        # No metric can fall by more than all of it.
        ci95_pct=_bounded(_both(interval, relative), least=-100.0),
        difference=raw(mean),
        ci95=_bounded(_both(interval, raw), least=-100.0) if ratio else _both(interval, raw),
        p_t=None if error is None else float(2 * special.stdtr(n - 1, -abs(mean) / error)),
        p_sign_flip=sign_flip_p(differences[: rule.declared_blocks]),
        p_blocks=min(n, rule.declared_blocks),
        e_value=None if n > 1 and error is None else e_value(differences),
        verdict=verdict,
        blocks_to_decide=_blocks_to_decide(verdict, mean, error, baseline_mean, n, ratio, rule),
        block_effects_pct=tuple(e for d in differences if (e := relative(float(d))) is not None),
    )


def sign_flip_p(differences: NDArray[np.float64]) -> float | None:
    """The exact two-sided sign-flip p of a mean of zero; None below two blocks.

    Under no effect each block's difference is as likely with either sign, because the order of
    arms in it was drawn.
    """
    n = len(differences)
    if n < 2:
        return None
    if not np.any(differences):
        return 1.0
    from scipy import stats  # a second to load, which most commands can do without

    result = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=np.inf if n <= _EXACT_UP_TO else 100_000,
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    return float(result.pvalue)


def _block_means(
    question: Question, trials: Sequence[TrialMeasures], plan: Plan
) -> list[tuple[float, float]]:
    """(baseline, level) of each complete block, on the scale of comparison.

    With several factors a level's value is the mean over the arms that have it, so that a main
    effect is compared.
    """
    levels = {arm.id: arm.levels[question.factor.name] for arm in plan.arms}
    blocks: dict[int, dict[str, float]] = {}
    for trial in trials:
        step = trial.at(question.step)
        value = step.values.get(question.metric.name) if step else None
        if value is None or not math.isfinite(value):
            continue
        if question.metric.scale == "ratio":
            if value <= 0.0:
                continue
            value = math.log(value)
        blocks.setdefault(trial.block, {})[trial.arm] = value
    return [
        (
            _level_mean(arms, levels, question.factor.baseline),
            _level_mean(arms, levels, question.level),
        )
        for _, arms in sorted(blocks.items())
        if len(arms) == len(plan.arms)
    ]


def _level_mean(arms: Mapping[str, float], levels: Mapping[str, str], level: str) -> float:
    return float(np.mean([value for arm, value in arms.items() if levels[arm] == level]))


def _standard_error(differences: NDArray[np.float64]) -> float | None:
    """None where it cannot be known: one block, or differences that do not vary."""
    n = len(differences)
    if n < 2:
        return None
    spread = float(np.std(differences, ddof=1))
    scale = float(np.max(np.abs(differences)))
    return spread / math.sqrt(n) if spread > 1e-12 * scale and spread > 0.0 else None


def _interval(mean: float, error: float | None, critical: float) -> tuple[float, float] | None:
    if error is None or not math.isfinite(critical):
        return None
    return mean - critical * error, mean + critical * error


def _margins(rule: Rule, baseline_mean: float, ratio: bool) -> tuple[float, float]:
    """± the smallest effect on the scale of comparison."""
    if ratio:
        return math.log1p(-rule.smallest_effect), math.log1p(rule.smallest_effect)
    margin = rule.smallest_effect * abs(baseline_mean)
    return -margin, margin


def _verdict(
    metric: Metric, mean: float, error: float | None, baseline_mean: float, n: int, rule: Rule
) -> Verdict:
    ninety_five = _interval(mean, error, rule.critical(n, 0.05))
    # TOST at 5 %: the two one-sided tests reject where the 90 % interval lies inside the margins.
    ninety = _interval(mean, error, rule.critical(n, 0.10))
    lower, upper = _margins(rule, baseline_mean, metric.scale == "ratio")
    inside = ninety is not None and lower < ninety[0] and ninety[1] < upper
    differs = ninety_five is not None and (ninety_five[0] > 0.0 or ninety_five[1] < 0.0)
    if differs and inside:
        return Verdict.NEGLIGIBLE
    if inside:
        return Verdict.EQUIVALENT
    if differs and metric.good != "neither":
        return Verdict.BETTER if (mean > 0.0) == (metric.good == "higher") else Verdict.WORSE
    return Verdict.UNDECIDED


def _blocks_to_decide(
    verdict: Verdict,
    mean: float,
    error: float | None,
    baseline_mean: float,
    n: int,
    ratio: bool,
    rule: Rule,
) -> int | None:
    """More blocks after which, were mean and spread to stay, a verdict would be reached."""
    if verdict is not Verdict.UNDECIDED:
        return 0
    if error is None or n < FEW_BLOCKS:
        return None
    spread = error * math.sqrt(n)
    lower, upper = _margins(rule, baseline_mean, ratio)
    room = min(upper - mean, mean - lower)
    for more in range(1, _HORIZON - n):
        width = spread / math.sqrt(n + more)
        if rule.critical(n + more, 0.05) * width < abs(mean):
            return more
        if rule.critical(n + more, 0.10) * width < room:
            return more
    return None


def _relative(ratio: bool, baseline_mean: float) -> Callable[[float], float | None]:
    """From a difference on the scale of comparison to per cent of the baseline."""
    if ratio:
        return _ratio_pct
    if baseline_mean == 0.0:
        return lambda _: None
    return lambda difference: 100.0 * difference / abs(baseline_mean)


def _raw(ratio: bool) -> Callable[[float], float]:
    """From a difference on the scale of comparison to the metric's unit, or to per cent."""
    return _ratio_pct if ratio else float


def _ratio_pct(log_ratio: float) -> float:
    return 100.0 * math.expm1(min(log_ratio, _LARGEST_LOG))


def _bounded(interval: tuple[float, float] | None, *, least: float) -> tuple[float, float] | None:
    """An interval in per cent, kept to what is possible; None where it tells nothing."""
    if interval is None or interval[1] > _USELESS_PCT:
        return None
    return max(interval[0], least), max(interval[1], least)


def _both(
    interval: tuple[float, float] | None, convert: Callable[[float], float | None]
) -> tuple[float, float] | None:
    if interval is None:
        return None
    low, high = convert(interval[0]), convert(interval[1])
    return None if low is None or high is None else (low, high)
