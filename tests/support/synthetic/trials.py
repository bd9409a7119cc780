"""Measures of trials with known answers, without a run directory.

Enters: a plan, an effect, noise. Leaves: `TrialMeasures`. Never: measures anything.
"""

from __future__ import annotations

import math

import numpy as np

from pgassay.analysis.model import StepMeasures, TrialMeasures
from pgassay.plan.model import Plan


def trials_of(
    plan: Plan, *, effect: float = 0.0, noise: float = 0.01, seed: int = 1
) -> list[TrialMeasures]:
    """Every planned trial; all arms but the first differ by `effect`, in logarithms."""
    source = np.random.default_rng(seed)
    found = []
    for trial in plan.trials:
        moved = 0.0 if trial.arm == plan.arms[0].id else effect
        tps = math.exp(9.0 + moved + noise * source.standard_normal())
        step = StepMeasures(None, 0, 10 * 10**9, round(10 * tps), {"tps": tps})
        found.append(
            TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())
        )
    return found
