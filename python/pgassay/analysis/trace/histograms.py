"""Figures of durations that were counted in buckets of powers of two.

Enters: buckets named by their lower bound in microseconds. Leaves: quantiles and bounds.
Never: claims more than the bucket knows: a quantile is exact to a factor of two.
"""

from __future__ import annotations

from collections.abc import Mapping

Buckets = Mapping[int, int]


def upper_us(low: int) -> int:
    """Where a bucket ends: bpftrace's first is [0, 1), its others [n, 2n)."""
    return 2 * low if low else 1


def quantile_us(buckets: Buckets, share: float) -> float | None:
    """The duration that this share of the counted ones stays below; within the bucket that holds
    it durations are taken as spread evenly. None where nothing was counted."""
    whole = sum(buckets.values())
    if not whole:
        return None
    wanted, passed = share * whole, 0
    for low in sorted(buckets):
        inside = buckets[low]
        if inside and passed + inside >= wanted:
            width = upper_us(low) - low
            return low + width * max(wanted - passed, 0.0) / inside
        passed += inside
    return None


def longest_us(buckets: Buckets) -> float | None:
    """No counted duration was longer."""
    return max((upper_us(low) for low, inside in buckets.items() if inside), default=None)
