"""The rule by which the verdicts of one run are reached.

Enters: a plan. Leaves: a `Rule`: the kind of interval, the margin, the looks.
Never: sees a result; the rule is fixed before the first trial.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.values import Interval
from pgassay.plan.model import Endpoint, Plan

_INTERVALS = {
    "fixed": IntervalKind.T,
    "sequential": IntervalKind.BOUNDED,
    "group-sequential": IntervalKind.GROUP,
}
_LEVELS = (0.001, 0.01, 0.05)
_HORIZON = 1000
"""The largest number of blocks that is considered when asking how many more a verdict needs."""
CRITICAL_VALUES: dict[str, float] = {}
"""Half-widths of intervals computed so far, by what they are for. Those of an earlier process may
be put here (cli/terminal/critical_values.py): bounds of many looks take a second to compute."""


@dataclass(frozen=True)
class Rule:
    """The rule by which verdicts are reached in one run."""

    interval: IntervalKind
    smallest_effect: float
    simultaneous: int
    """How many verdicts share the error; of several, those without a difference (step_down.py)."""
    looks: tuple[int, ...] = ()
    """Blocks after which a run is analysed, if these are fixed beforehand."""
    simultaneous_inside: int = 0
    """How many share the error of equivalence; 0 where it is the same number."""

    def critical(self, blocks: int, units: float, alpha: float) -> float:
        """Half-width of the interval after so many blocks, in standard errors of the mean.

        `units` is the number of independent values that the error is worth: the blocks, or the
        rounds of slices, less one for each covariate.
        """
        return self._critical(blocks, units, alpha / self.simultaneous)

    def _critical(self, blocks: int, units: float, shared: float) -> float:
        return _critical_value(self.interval, blocks, units, shared, self.looks)

    def critical_inside(self, blocks: int, units: float) -> float:
        """Returns the half-width of the 90 % interval in standard errors, which finds
        equivalence."""
        shared = 0.10 / (self.simultaneous_inside or self.simultaneous)
        return self._critical(blocks, units, shared)

    def bounding_p(self, t: float, blocks: int, units: float) -> float | None:
        """The smallest of 0.1, 1 and 5 % whose bound this |t| reaches; None if it reaches none.

        An upper limit of the p value that is valid at every look. The exact value would take the
        simulation of many more bounds.
        """
        return next((p for p in _LEVELS if abs(t) >= self.critical(blocks, units, p)), None)

    def may_decide(self, n: int) -> bool:
        """Whether a verdict may be reached after n blocks; after the last look, at any block."""
        return not self.looks or n in self.looks or n > self.looks[-1]

    def stops_after(self, n: int) -> Sequence[int]:
        """The numbers of blocks above n after which a verdict may be reached."""
        return _stops_after(n, self.looks)

    def of_endpoint(self, endpoint: Endpoint, of: int) -> Rule:
        """The rule for one of several endpoints beside the primary metric: they share 5 %."""
        return replace(
            self, smallest_effect=endpoint.margin, simultaneous=self.simultaneous * max(1, of)
        )

    def margins(self, baseline_mean: float, *, ratio: bool) -> Interval:
        """Returns ± the smallest effect, on the scale of comparison."""
        if ratio:
            return math.log1p(-self.smallest_effect), math.log1p(self.smallest_effect)
        margin = self.smallest_effect * abs(baseline_mean)
        return -margin, margin


def rule_of(plan: Plan) -> Rule:
    """Returns the rule by which the verdicts of a plan are decided."""
    kind = IntervalKind.T if plan.calibrates else _INTERVALS[plan.stops]
    return Rule(
        interval=kind,
        smallest_effect=plan.smallest_effect,
        simultaneous=max(1, plan.compared_levels * len(loads_compared(plan.step_levels()))),
        looks=() if kind is IntervalKind.T else plan.all_looks,
    )


def loads_compared(step_levels: Sequence[float]) -> list[float | None]:
    """Returns None, which stands for the whole trial, and every load where there are several."""
    levels = dict.fromkeys(step_levels)
    return [None, *levels] if len(levels) > 1 else [None]


@lru_cache(maxsize=4096)
def _critical_value(
    interval: IntervalKind, blocks: int, units: float, shared: float, looks: tuple[int, ...]
) -> float:
    if units < 2:
        return math.inf
    key = f"{interval.value} {blocks} {float(units)!r} {shared!r} {looks}"
    if key not in CRITICAL_VALUES:
        CRITICAL_VALUES[key] = _computed(interval, blocks, units, shared, looks)
    return CRITICAL_VALUES[key]


def _computed(
    interval: IntervalKind, blocks: int, units: float, shared: float, looks: tuple[int, ...]
) -> float:
    match interval:
        case IntervalKind.T:
            return float(special.stdtrit(units - 1, 1 - shared / 2))
        case IntervalKind.GROUP | IntervalKind.BOUNDED:
            from pgassay.analysis.statistics.sequential import critical_t_at  # takes numpy

            return critical_t_at(blocks, shared, looks, units)


@lru_cache(maxsize=1024)
def _stops_after(n: int, looks: tuple[int, ...]) -> Sequence[int]:
    if not looks:
        return range(n + 1, _HORIZON)
    return [*(look for look in looks if look > n), *range(max(n, looks[-1]) + 1, _HORIZON)]
