"""The rule by which the verdicts of one run are reached.

Enters: a plan. Leaves: a `Rule`: the kind of interval, the margin, the looks.
Never: sees a result; the rule is fixed before the first trial.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from scipy import special

from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.statistics.sequential import critical_t, critical_t_at
from pgassay.analysis.statistics.values import Interval
from pgassay.plan.model import Plan
from pgassay.plan.switchback import round_count

_INTERVALS = {
    "fixed": IntervalKind.T,
    "sequential": IntervalKind.SEQUENCE,
    "group-sequential": IntervalKind.GROUP,
}
_HORIZON = 1000
"""The largest number of blocks that is considered when asking how many more a verdict needs."""


@dataclass(frozen=True)
class Rule:
    """How verdicts are reached in one run."""

    interval: IntervalKind
    smallest_effect: float
    simultaneous: int
    """How many verdicts share the error (Bonferroni)."""
    declared_blocks: int
    """How many block differences the sign-flip p is computed over."""
    looks: tuple[int, ...] = ()
    """Blocks after which a group-sequential run is analysed."""

    def critical(self, n: float, alpha: float) -> float:
        """Half-width of the interval in standard errors of the mean of n independent values."""
        shared = alpha / self.simultaneous
        if n < 2:
            return math.inf
        if self.interval is IntervalKind.SEQUENCE:
            return critical_t(n, shared)
        if self.interval is IntervalKind.GROUP:
            return critical_t_at(int(n), shared, self.looks)  # n counts blocks here: a whole number
        return _student(n - 1, 1 - shared / 2)

    def may_decide(self, n: int) -> bool:
        """Whether a verdict may be reached after n blocks; after the last look, at any block."""
        return not self.looks or n in self.looks or n > self.looks[-1]

    def stops_after(self, n: int) -> Sequence[int]:
        """The numbers of blocks above n after which a verdict may be reached."""
        if not self.looks:
            return range(n + 1, _HORIZON)
        beyond = max(n, self.looks[-1]) + 1
        return [*(look for look in self.looks if look > n), *range(beyond, _HORIZON)]

    def margins(self, baseline_mean: float, *, ratio: bool) -> Interval:
        """± the smallest effect, on the scale of comparison."""
        if ratio:
            return math.log1p(-self.smallest_effect), math.log1p(self.smallest_effect)
        margin = self.smallest_effect * abs(baseline_mean)
        return -margin, margin


def rule_of(plan: Plan) -> Rule:
    """The rule of this plan."""
    return Rule(
        interval=IntervalKind.T if plan.calibrates else _INTERVALS[plan.stops],
        smallest_effect=plan.smallest_effect,
        simultaneous=max(1, plan.compared_levels * len(loads_compared(plan.step_levels()))),
        declared_blocks=_declared(plan),
        looks=() if plan.calibrates else plan.looks,
    )


def loads_compared(step_levels: Sequence[float]) -> list[float | None]:
    """None, which stands for the whole trial; and every load, where there are several."""
    levels = dict.fromkeys(step_levels)
    return [None, *levels] if len(levels) > 1 else [None]


def _declared(plan: Plan) -> int:
    """How many differences the sign-flip p is over: blocks, or the rounds of a switchback."""
    if not plan.alternates or plan.side_by_side:
        return plan.min_blocks
    return sum(round_count(plan, t) for t in plan.trials if t.block <= plan.min_blocks)


@lru_cache(maxsize=4096)
def _student(freedom: float, share: float) -> float:
    """A quantile of Student's t; kept, because the same ones are asked for many times."""
    return float(special.stdtrit(freedom, share))
