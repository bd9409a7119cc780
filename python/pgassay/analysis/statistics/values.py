"""A value with its interval.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; a bound that the data do not give is None."""

    value: float
    low: float | None
    high: float | None
