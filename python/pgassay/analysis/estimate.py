"""One contrast over blocks: its mean, interval, p, e-value, and what they decide.

Enters: one number per complete block, the margin that matters. Leaves: a `BlockEstimate`.
Never: knows what the number is of; a level against its baseline, an interaction and a trend are
judged alike, because each is one number per block.

Sources: docs/methods.md. The t interval and the exact sign-flip test are over blocks (Fisher), the
sequential interval is Wang & Ramdas'.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.group_sequential import critical_t_at
from pgassay.analysis.max_t import max_t_p
from pgassay.analysis.model import IntervalKind
from pgassay.analysis.rounds import Spread, spread_of_rounds
from pgassay.analysis.sequential import critical_t, log_e_value

Interval = tuple[float, float]

FEW_BLOCKS = 4
"""Blocks below which spread is too little known to say how many more it takes."""
_HORIZON = 1000
"""Blocks beyond which "how many more" is answered with "unknown"."""
_USELESS_PCT = 10_000.0
"""A bound beyond this tells nothing; there is no interval then."""
_LARGEST_LOG = 300.0


@lru_cache(maxsize=4096)
def _student(freedom: float, share: float) -> float:
    """Student's t that is not exceeded with this probability; asked for over and over."""
    return float(special.stdtrit(freedom, share))


@dataclass(frozen=True)
class Rule:
    """How verdicts are reached in one run, fixed before its first trial."""

    interval: IntervalKind
    smallest_effect: float
    simultaneous: int
    declared_blocks: int
    looks: tuple[int, ...] = ()
    """Of a group-sequential run."""

    def critical(self, n: float, alpha: float) -> float:
        """Half-width of the interval in standard errors of the mean of n independent values."""
        shared = alpha / self.simultaneous
        if n < 2:
            return math.inf
        if self.interval is IntervalKind.SEQUENCE:
            return critical_t(n, shared)
        if self.interval is IntervalKind.GROUP:
            return critical_t_at(int(n), shared, self.looks)  # of blocks, which are whole
        return _student(n - 1, 1 - shared / 2)

    def may_decide(self, n: int) -> bool:
        """Whether a verdict may be reached after n blocks; beyond the last look, after any."""
        return not self.looks or n in self.looks or n > self.looks[-1]

    def stops_after(self, n: int) -> Sequence[int]:
        """Numbers of blocks above n after which a verdict may be reached, up to the horizon."""
        if not self.looks:
            return range(n + 1, _HORIZON)
        beyond = max(n, self.looks[-1]) + 1
        return [*(look for look in self.looks if look > n), *range(beyond, _HORIZON)]

    def margins(self, baseline_mean: float, *, ratio: bool) -> Interval:
        """± the smallest effect on the scale of comparison."""
        if ratio:
            return math.log1p(-self.smallest_effect), math.log1p(self.smallest_effect)
        margin = self.smallest_effect * abs(baseline_mean)
        return -margin, margin


@dataclass(frozen=True)
class BlockEstimate:
    """A contrast on the scale of comparison, logarithms where that is a ratio."""

    blocks: int
    mean: float
    interval: Interval | None
    p_t: float | None
    p_sign_flip: float | None
    p_blocks: int
    e_value: float | None
    differs: bool
    """The 95 % interval excludes zero."""
    inside: bool
    """The 90 % interval lies inside the margins."""
    blocks_to_decide: int | None
    rounds: int | None = None
    """Where it is over rounds of slices: how many, in all blocks."""


def estimate(
    differences: NDArray[np.float64],
    margins: Interval,
    rule: Rule,
    trials: NDArray[np.int64] | None = None,
    *,
    flipped: float | None = None,
) -> BlockEstimate:
    """What the blocks say of one contrast; with `trials`, what their rounds of slices do.

    `flipped` is the sign-flip p where it is known already.
    """
    spread = _of_blocks(differences) if trials is None else spread_of_rounds(differences, trials)
    mean, error, units = spread.mean, spread.error, spread.units
    n = len(differences) if trials is None else len(np.unique(trials))
    interval = _interval(mean, error, rule.critical(units, 0.05))
    # TOST at 5 %: the two one-sided tests reject where the 90 % interval lies inside the margins.
    ninety = _interval(mean, error, rule.critical(units, 0.10))
    inside = ninety is not None and margins[0] < ninety[0] and ninety[1] < margins[1]
    differs = interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)
    return BlockEstimate(
        blocks=n,
        mean=mean,
        interval=interval,
        p_t=None if error is None else float(2 * special.stdtr(units - 1, -abs(mean) / error)),
        p_sign_flip=sign_flip_p(differences[: rule.declared_blocks])
        if flipped is None
        else flipped,
        p_blocks=min(len(differences), rule.declared_blocks),
        e_value=_evidence(spread, len(differences)),
        differs=differs,
        inside=inside,
        blocks_to_decide=0 if differs or inside else _blocks_to_decide(spread, margins, n, rule),
        rounds=None if trials is None else len(differences),
    )


def _of_blocks(differences: NDArray[np.float64]) -> Spread:
    """Blocks are independent of each other."""
    n = len(differences)
    return Spread(float(differences.mean()), _standard_error(differences), float(n))


def _evidence(spread: Spread, differences: int) -> float | None:
    if spread.error is None:
        return None if differences > 1 else 1.0  # one alone speaks neither for nor against
    return math.exp(min(log_e_value(spread.mean / spread.error, spread.units), 700.0))


def sign_flip_p(differences: NDArray[np.float64]) -> float | None:
    """The exact two-sided sign-flip p of a mean of zero; None below two blocks.

    Under no effect each block's difference is as likely with either sign, because the order of
    arms in it was drawn.
    """
    together = max_t_p(differences[:, None])
    return None if together is None else together[0]


def relative(ratio: bool, baseline_mean: float) -> Callable[[float], float | None]:
    """From a difference on the scale of comparison to per cent of the baseline."""
    if ratio:
        return ratio_pct
    if baseline_mean == 0.0:
        return lambda _: None
    return lambda difference: 100.0 * difference / abs(baseline_mean)


def ratio_pct(log_ratio: float) -> float:
    """A logarithm of a ratio as a change in per cent."""
    return 100.0 * math.expm1(min(log_ratio, _LARGEST_LOG))


def bounded(interval: Interval | None, *, least: float) -> Interval | None:
    """An interval in per cent, kept to what is possible; None where it tells nothing."""
    if interval is None or interval[1] > _USELESS_PCT:
        return None
    return max(interval[0], least), max(interval[1], least)


def both(interval: Interval | None, convert: Callable[[float], float | None]) -> Interval | None:
    """Both ends converted; None where one cannot be."""
    if interval is None:
        return None
    low, high = convert(interval[0]), convert(interval[1])
    return None if low is None or high is None else (low, high)


def _standard_error(differences: NDArray[np.float64]) -> float | None:
    """None where it cannot be known: one block, or differences that do not vary."""
    n = len(differences)
    if n < 2:
        return None
    centred = differences - differences.mean()
    spread = math.sqrt(float(centred @ centred) / (n - 1))
    scale = float(np.max(np.abs(differences)))
    return spread / math.sqrt(n) if spread > 1e-12 * scale and spread > 0.0 else None


def _interval(mean: float, error: float | None, critical: float) -> Interval | None:
    if error is None or not math.isfinite(critical):
        return None
    return mean - critical * error, mean + critical * error


def _blocks_to_decide(found: Spread, margins: Interval, n: int, rule: Rule) -> int | None:
    """More blocks after which, were mean and spread to stay, a verdict would be reached."""
    if found.error is None or n < FEW_BLOCKS:
        return None
    mean, spread, per_block = found.mean, found.error * math.sqrt(n), found.units / n
    room = min(margins[1] - mean, mean - margins[0])

    def decides(more: int) -> bool:
        width = spread / math.sqrt(n + more)
        units = per_block * (n + more)
        if rule.critical(units, 0.05) * width < abs(mean):
            return True
        return rule.critical(units, 0.10) * width < room

    # An interval only narrows with more blocks, so what decides once decides from there on.
    stops = rule.stops_after(n)
    at = bisect_left(stops, True, key=lambda block: decides(block - n))
    return stops[at] - n if at < len(stops) else None
