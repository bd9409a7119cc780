"""What the trials that a better arm lost could do to its verdict.

Enters: verdicts, the tables that they rest on, the lost trials. Leaves: a `Losses` for each verdict
whose better arm lost some. Never: changes a verdict, or guesses why a trial was lost.

A lost trial is run again, and the verdict rests on the repeat. If an arm loses its slow trials,
that favours it. How slow they would have to have been is a tipping point (Yan, Lee and Li, Journal
of Biopharmaceutical Statistics 19, 2009): each lost trial takes the place of its repeat, or of its
arm's mean where it has none, worse than that by the same share, and the verdict is reached again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import Vector, main_effect
from pgassay.analysis.compare.blocks.positions import without_positions
from pgassay.analysis.compare.estimate import estimate
from pgassay.analysis.compare.levels import Tables, margins_of, verdict_of
from pgassay.analysis.compare.model import SAME, Comparison, Subject, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.analysis.verdicts.left_out_trials import LostTrials
from pgassay.analysis.verdicts.model import Losses
from pgassay.plan.model import Plan

_DECIDED = (Verdict.BETTER, Verdict.WORSE, *SAME)
_WORST = math.log(100.0)
"""A trial that is 99 % slower."""
_HALVINGS = 12
"""Of that range: the tipping point is known to about a tenth of a per cent."""


def losses_of(
    plan: Plan,
    verdicts: Sequence[Comparison],
    trials: Sequence[TrialMeasures],
    tables: Tables,
    rules: Mapping[Subject, Rule],
    lost: LostTrials,
) -> tuple[Losses, ...]:
    """Computes the losses of every given verdict over whole trials; none where all arms share
    trials.

    `rules` has the rule under which each was reached.
    """
    if plan.alternates or not lost.planned:
        return ()
    found = []
    for verdict in verdicts:
        if verdict.step is not None or verdict.verdict not in _DECIDED:
            continue
        rule = rules[verdict.factor, verdict.level, None]
        factor = next(one for one in plan.factors if one.name == verdict.factor)
        contrast = main_effect(plan, factor, verdict.level)
        better = _better_arms(plan, verdict, contrast, lost)
        own = {number for number, arm in lost.planned if arm in better}
        if not own:
            continue
        ran = {trial.repeats or trial.number for trial in trials if trial.arm in better}
        is_level = max(better.values()) > 0.0
        found.append(
            Losses(
                factor=verdict.factor,
                level=verdict.level,
                of_level=verdict.level if is_level else verdict.baseline,
                lost=len(own),
                planned=len(ran | own),
                tips_at_pct=_tips_at(_Reached(verdict, contrast, tables, rule), better, lost),
            )
        )
    return tuple(found)


def _better_arms(
    plan: Plan, verdict: Comparison, contrast: Vector, lost: LostTrials
) -> dict[str, float]:
    """The arms of the better level, with their weights in the contrast.

    Of two levels that are alike those of the one that lost more: it may be worse in truth.
    """
    weights = {arm.id: float(w) for arm, w in zip(plan.arms, contrast, strict=True)}
    level = {arm: weight for arm, weight in weights.items() if weight > 0.0}
    baseline = {arm: weight for arm, weight in weights.items() if weight < 0.0}
    if verdict.verdict in SAME:
        own, others = (sum(lost.of[arm] for arm in side) for side in (level, baseline))
        return level if own >= others else baseline
    return level if verdict.verdict is Verdict.BETTER else baseline


@dataclass(frozen=True)
class _Reached:
    """A verdict with what it rests on."""

    verdict: Comparison
    contrast: Vector
    tables: Tables
    rule: Rule

    @property
    def metric(self) -> Metric:
        return METRICS[self.verdict.metric]


def _tips_at(reached: _Reached, better: Mapping[str, float], lost: LostTrials) -> float | None:
    """The change of the lost trials at which the verdict falls."""
    table = reached.tables[None].known_for(reached.contrast)
    adjusted = without_positions(table)
    differences = adjusted.differences(reached.contrast)
    worse = -1.0 if reached.metric.good == "higher" else 1.0
    moved: dict[int, float] = {}
    for (_, arm), block in lost.planned.items():
        if arm in better:
            moved[block] = moved.get(block, 0.0) + worse * better[arm]
    # A block whose trial was not run again would have had the mean difference.
    more = [block for block in moved if block not in table.blocks]
    every = np.append(differences, np.full(len(more), differences.mean()))
    shift = np.array([moved.get(block, 0.0) for block in (*table.blocks, *more)])
    margins = margins_of(reached.rule, reached.metric, 1.0)
    units = adjusted.units(len(table.blocks)) + len(more)

    def stands(logarithm: float) -> bool:
        found = estimate(
            every + logarithm * shift, margins, reached.rule, units=units, judged=False
        )
        return _is_like(verdict_of(found, reached.metric), reached.verdict.verdict)

    low, high = 0.0, _WORST
    if stands(high):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if stands(middle) else (low, middle)
    return ratio_pct(worse * high)


def _is_like(found: Verdict, given: Verdict) -> bool:
    return found in SAME if given in SAME else found is given
