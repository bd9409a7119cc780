"""What tracing costs: windows with the probes against windows without.

Enters: pairs of windows, one of each, in random order. Leaves: ratios of throughput and of the
server's processor time per transaction, with Student's intervals on their logarithms; the unit is
the pair. Never: uses seconds as units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.statistics.intervals import mean_with_interval
from pgassay.analysis.trace.model import TraceCost, WithAgainstWithout


@dataclass(frozen=True)
class Window:
    """The counts of one window."""

    tps: float
    cpu_s: float
    """Of the server's processes, per second."""


def cost_of(pairs: Sequence[tuple[Window, Window]], window_s: float) -> TraceCost | None:
    """Compares (without, with) per pair; None where a window had no transaction."""
    if not pairs or any(one.tps <= 0.0 or one.cpu_s <= 0.0 for pair in pairs for one in pair):
        return None
    return TraceCost(
        pairs=len(pairs),
        window_s=window_s,
        tps=_compared([(without.tps, probed.tps) for without, probed in pairs]),
        cpu_per_tx_us=_compared(
            [(1e6 * one.cpu_s / one.tps, 1e6 * two.cpu_s / two.tps) for one, two in pairs]
        ),
    )


def _compared(pairs: Sequence[tuple[float, float]]) -> WithAgainstWithout:
    values = np.array(pairs)
    found = mean_with_interval(np.log(values[:, 1] / values[:, 0]))
    return WithAgainstWithout(
        without=float(values[:, 0].mean()),
        probed=float(values[:, 1].mean()),
        ratio=math.exp(found.value),
        low=None if found.low is None else math.exp(found.low),
        high=None if found.high is None else math.exp(found.high),
    )
