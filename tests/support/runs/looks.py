"""What each sample of a recorded run stands for, computed without pgassay.

Enters: the times of samples. Leaves: a weight for each. Never: knows of gaps; the runs have none.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np


def half_pauses(ticks_ns: Collection[int]) -> dict[int, float]:
    """By sample, half of the pauses beside it in ns; at an end, half of the usual pause."""
    ticks = np.array(sorted(ticks_ns))
    pauses = np.diff(ticks)
    half = np.median(pauses) / 2
    weights = np.r_[half, pauses / 2] + np.r_[pauses / 2, half]
    return dict(zip(ticks.tolist(), weights.tolist(), strict=True))
