"""Quantiles of durations that were counted in buckets of powers of two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.analysis.trace.model import longest_us, quantile_us


def bucket_of(us: int) -> int:
    """As bpftrace names it."""
    return 1 << (us.bit_length() - 1) if us else 0


@given(st.lists(st.integers(0, 1_000_000), min_size=1), st.sampled_from([0.5, 0.9, 0.99]))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(durations: list[int], share: float) -> None:
    buckets: dict[int, int] = {}
    for us in durations:
        buckets[bucket_of(us)] = buckets.get(bucket_of(us), 0) + 1
    rank = max(1, -(-round(share * 1000) * len(durations) // 1000))
    true = bucket_of(sorted(durations)[rank - 1])
    found = quantile_us(buckets, share)
    assert found is not None
    assert true <= found <= max(2 * true, 1)
    longest = longest_us(buckets)
    assert longest is not None
    assert max(durations) < longest <= 2 * max(max(durations), 1)


def test_durations_are_taken_as_spread_evenly_within_a_bucket() -> None:
    assert quantile_us({64: 50, 128: 50}, 0.75) == pytest.approx(192.0)
    assert quantile_us({0: 4}, 0.5) == pytest.approx(0.5)


def test_nothing_counted_has_no_quantile() -> None:
    assert quantile_us({}, 0.99) is None
    assert longest_us({}) is None
