"""Trials of two or five levels, some of which commit nothing, and the caveats about them.

Enters: levels, effects, which trials commit nothing. Leaves: plans and measures.
Never: measures anything.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from pgassay.analysis.model import Analysis, StepMeasures, TrialMeasures
from pgassay.notes import Note
from pgassay.plan.model import Plan
from support.synthetic.designs import plan_of_levels

FIVE = ("1GB", "2GB", "3GB", "4GB", "5GB")


def plan_of(levels: Collection[str] = FIVE[:2], more: str = "", blocks: int = 9) -> Plan:
    return plan_of_levels(levels, most=blocks, more=more)


def trials_of(
    plan: Plan, effects: dict[str, float], failed: Collection[tuple[str, int]], noise: float = 0.002
) -> list[TrialMeasures]:
    """Trials of 1000 tps; in the failed ones, named by arm and block, every transaction failed."""
    source = np.random.default_rng(1)
    found = []
    for t in plan.trials:
        tps = 1000.0 * float(np.exp(effects.get(t.arm, 0.0) + noise * source.standard_normal()))
        values = {"tps": tps, "latency_mean": 8000.0 / tps, "failed_share": 0.0}
        whole = StepMeasures(None, 0, 1, 10_000, values)
        if (t.arm, t.block) in failed:
            whole = StepMeasures(None, 0, 1, 0, {"failed_share": 100.0})
        found.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
    return found


def warnings_of(analysis: Analysis, kind: str) -> list[Note]:
    return [doubt.note for doubt in analysis.warnings if doubt.kind == kind]
