"""A value with its interval; ratios as changes in per cent.

Enters: logarithms of ratios. Leaves: frozen dataclasses, per cent. Never: infers anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Interval = tuple[float, float]
USELESS_PCT = 10_000.0
"""An interval that reaches beyond this is not shown."""
_LARGEST_LOG = 300.0


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; a bound that the data do not give is None."""

    value: float
    low: float | None
    high: float | None


def hull(one: Interval | None, other: Interval | None) -> Interval | None:
    """The smallest interval that covers both."""
    if one is None or other is None:
        return None
    return min(one[0], other[0]), max(one[1], other[1])


def ratio_pct(log_ratio: float) -> float:
    """The logarithm of a ratio as a change in per cent."""
    return 100.0 * math.expm1(min(log_ratio, _LARGEST_LOG))
