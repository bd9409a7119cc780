"""Two levels of one factor, compared over complete blocks.

Enters: a table of complete blocks. Leaves: `Comparison` values with interval, p, e-value and
verdict. Never: tests on seconds or requests; the trial is the unit, the block difference the
observation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgassay.analysis.contrasts import BlockTable, mean_over
from pgassay.analysis.estimate import (
    BlockEstimate,
    Rule,
    both,
    bounded,
    estimate,
    ratio_pct,
    relative,
)
from pgassay.analysis.metrics import Metric
from pgassay.analysis.model import Comparison, Verdict
from pgassay.analysis.rounds import by_block
from pgassay.plan.model import Factor, Plan


@dataclass(frozen=True)
class Question:
    """What one comparison is about."""

    metric: Metric
    factor: Factor
    level: str
    step: float | None


def compare(question: Question, table: BlockTable, plan: Plan, rule: Rule) -> Comparison | None:
    """Over the blocks in which every arm of it has a value; None where there is none."""
    factor, metric = question.factor, question.metric
    weights = [mean_over(plan, {factor.name: level}) for level in (factor.baseline, question.level)]
    contrast = weights[1] - weights[0]
    table = table.known_for(contrast)
    if not table.blocks:
        return None
    ratio = metric.scale == "ratio"
    means = [float(table.of(one).mean()) for one in weights]
    baseline_mean, level_mean = (math.exp(mean) for mean in means) if ratio else means
    differences = table.of(contrast)
    found = estimate(differences, rule.margins(baseline_mean, ratio=ratio), rule, table.trials)
    verdict = verdict_of(found, metric)
    to_pct = relative(ratio, baseline_mean)
    raw = ratio_pct if ratio else float
    return Comparison(
        metric=metric.name,
        factor=factor.name,
        baseline=factor.baseline,
        level=question.level,
        step=question.step,
        step_unit=plan.step_unit,
        blocks=found.blocks,
        baseline_mean=baseline_mean,
        level_mean=level_mean,
        effect_pct=to_pct(found.mean),
        # No metric can fall by more than all of it.
        ci95_pct=bounded(both(found.interval, to_pct), least=-100.0),
        difference=raw(found.mean),
        ci95=bounded(both(found.interval, raw), least=-100.0)
        if ratio
        else both(found.interval, raw),
        p_t=found.p_t,
        p_sign_flip=found.p_sign_flip,
        p_blocks=found.p_blocks,
        e_value=found.e_value,
        verdict=verdict,
        blocks_to_decide=0 if verdict is not Verdict.UNDECIDED else found.blocks_to_decide or None,
        block_effects_pct=tuple(
            e for d in by_block(differences, table.trials) if (e := to_pct(float(d))) is not None
        ),
        rounds=found.rounds,
    )


def verdict_of(found: BlockEstimate, metric: Metric) -> Verdict:
    """What an estimate says, judged by the metric's good direction."""
    if found.inside:
        return Verdict.NEGLIGIBLE if found.differs else Verdict.EQUIVALENT
    if found.differs and metric.good != "neither":
        return Verdict.BETTER if (found.mean > 0.0) == (metric.good == "higher") else Verdict.WORSE
    return Verdict.UNDECIDED
