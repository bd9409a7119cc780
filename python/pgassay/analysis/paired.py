"""Vectors of a trial → their differences within blocks.

Enters: the plan, a vector per trial. Leaves: one row per complete block, level less baseline.
Never: uses a block in which an arm's vector is missing or not finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.contrasts import mean_over
from pgassay.plan.model import Factor, Plan

Vectors = Mapping[tuple[int, str], NDArray[np.float64]]
"""(block, arm) → vector, all of one length."""


@dataclass(frozen=True)
class Pairs:
    """Rows of the same blocks, in their order."""

    baseline: NDArray[np.float64]
    level: NDArray[np.float64]

    @property
    def differences(self) -> NDArray[np.float64]:
        return self.level - self.baseline


def pair_blocks(
    vectors: Vectors, plan: Plan, factor: Factor, level: str, *, only_needed: bool = False
) -> Pairs | None:
    """Both levels' rows; with several factors each is the mean over the arms of `mean_over`.

    A block counts where every arm has a vector, or with `only_needed` every arm of these means.
    """
    weights = {
        wanted: mean_over(plan, {factor.name: wanted}) for wanted in (factor.baseline, level)
    }
    needed = [
        place
        for place in range(len(plan.arms))
        if not only_needed or any(weight[place] for weight in weights.values())
    ]
    rows: dict[str, list[NDArray[np.float64]]] = {factor.baseline: [], level: []}
    for block in sorted({block for block, _ in vectors}):
        found = [vectors.get((block, plan.arms[place].id)) for place in needed]
        if any(vector is None or not np.all(np.isfinite(vector)) for vector in found):
            continue
        arms = np.array(found)
        for wanted, weight in weights.items():
            rows[wanted].append(weight[needed] @ arms)
    if not rows[level]:
        return None
    return Pairs(np.array(rows[factor.baseline]), np.array(rows[level]))
