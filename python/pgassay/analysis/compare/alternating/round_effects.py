"""The effect in every round of a switchback or duet, over time, for a chart.

Enters: the plan, its trials. Leaves: a `RoundEffects` per level.
Never: infers anything; `estimate.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.compare.blocks.contrasts import main_effect, round_table
from pgassay.analysis.compare.model import RoundEffects
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Plan


def round_effects(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[RoundEffects, ...]:
    """Returns the effect in every round for each level; none in designs that do not alternate."""
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
