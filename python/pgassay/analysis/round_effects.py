"""Every round's effect, in the order of time: what a chart of them shows.

Enters: the plan, trials in which arms took turns. Leaves: a `RoundEffects` per level.
Never: infers anything; `estimate.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.contrasts import main_effect, round_table
from pgassay.analysis.estimate import ratio_pct
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.turns_model import RoundEffects
from pgassay.plan.model import Plan


def round_effects(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[RoundEffects, ...]:
    """One per level that is compared; none where arms do not take turns."""
    if not plan.alternates:
        return ()
    table = round_table(METRICS[plan.metric], trials, plan)
    if table.trials is None or not table.blocks:
        return ()
    return tuple(
        RoundEffects(
            factor=factor.name,
            level=level,
            blocks=tuple(int(block) for block in table.trials),
            effects_pct=tuple(
                ratio_pct(float(d)) for d in table.of(main_effect(plan, factor, level))
            ),
        )
        for factor in plan.factors
        for level in factor.levels[1:]
    )
