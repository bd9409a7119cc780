"""Whether an effect outlasts its slice, so that slices of one arm hold some of another's.

Enters: the trials of alternating arms, their verdicts. Leaves: two tests per verdict, the doubts
they raise, the verdicts without those that carry-over could have made. Never: corrects an effect.

Within slices: the effect early against late. By design: half of the trials have slices of half the
length, and what outlasts a slice weighs twice as much in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from pgassay.analysis.contrasts import Vector, main_effect, round_table
from pgassay.analysis.estimate import ratio_pct
from pgassay.analysis.metrics import METRICS, Metric
from pgassay.analysis.model import (
    CarryOver,
    CarryOverTest,
    Comparison,
    Doubt,
    TrialMeasures,
    Verdict,
)
from pgassay.analysis.rounds import Spread, spread_of_rounds
from pgassay.plan.model import Plan

_LEVEL = 0.05
_OUTWEIGHS = 0.5
"""Share of an effect, or of the margin, from which carry-over may have made the verdict."""


def carry_over(
    plan: Plan, trials: Sequence[TrialMeasures], comparisons: Sequence[Comparison]
) -> tuple[CarryOver, ...]:
    """Both tests for every verdict; none where arms do not take turns."""
    if not plan.alternates:
        return ()
    verdicts = [c for c in comparisons if c.metric == plan.metric]
    level = _LEVEL / max(1, len(CarryOverTest) * len(verdicts))
    return tuple(test for verdict in verdicts for test in _tests_of(verdict, plan, trials, level))


def withdrawn(
    comparisons: Sequence[Comparison], tests: Sequence[CarryOver]
) -> tuple[Comparison, ...]:
    """The same, undecided where carry-over could have made the verdict."""
    doubtful = {(test.factor, test.level) for test in tests if test.outweighs}
    return tuple(
        replace(c, verdict=Verdict.UNDECIDED, blocks_to_decide=None)
        if (c.factor, c.level) in doubtful
        else c
        for c in comparisons
    )


def carry_over_doubts(tests: Sequence[CarryOver]) -> Iterator[Doubt]:
    """What is found, in words."""
    for test in tests:
        if not test.found:
            continue
        then = (
            "that is enough to have made or hidden a verdict, so none is given; use longer slices,"
            ' or mode = "blocks"'
            if test.outweighs
            else "that is too little to change the verdict, but its size may be off by as much"
        )
        yield Doubt(
            "carry-over",
            f"{test.factor} = {test.level} acts beyond its slice ({test.test.value}:"
            f" {test.first_pct:+.1f} % against {test.second_pct:+.1f} %); {then}",
        )


def _tests_of(
    verdict: Comparison, plan: Plan, trials: Sequence[TrialMeasures], level: float
) -> Iterator[CarryOver]:
    factor = next(f for f in plan.factors if f.name == verdict.factor)
    weights = main_effect(plan, factor, verdict.level)
    metric = METRICS[plan.metric]
    for test, pair in (
        (CarryOverTest.WITHIN, _within(_steady(metric), plan, trials, weights)),
        (CarryOverTest.LENGTH, _by_length(metric, plan, trials, weights)),
    ):
        if pair is not None:
            yield _told(test, verdict, plan, *pair, level)


def _steady(metric: Metric) -> Metric:
    """What a quarter of a slice can tell: a rate or a mean, no quantile."""
    kind = metric.name.partition("_")[0]
    return metric if metric.name == "tps" else METRICS[f"{kind}_mean"]


def _within(
    metric: Metric, plan: Plan, trials: Sequence[TrialMeasures], weights: Vector
) -> tuple[float, float, Spread] | None:
    whole = [
        round_table(metric, trials, plan, "early"),
        round_table(metric, trials, plan, "late"),
    ]
    both = sorted(set(whole[0].blocks) & set(whole[1].blocks))
    tables = [table.only(both) for table in whole]
    if not both or tables[0].trials is None:
        return None
    early, late = (table.of(weights) for table in tables)
    spread = spread_of_rounds(early - late, tables[0].trials)
    return float(early.mean()), float(late.mean()), spread


def _by_length(
    metric: Metric, plan: Plan, trials: Sequence[TrialMeasures], weights: Vector
) -> tuple[float, float, Spread] | None:
    length = {t.block: t.slice_s or 0.0 for t in plan.trials}
    longest = max(length.values())
    table = round_table(metric, trials, plan)
    if table.trials is None or not table.blocks:
        return None
    is_long = np.array([length[int(block)] == longest for block in table.trials])
    if is_long.all() or not is_long.any():
        return None
    values = table.of(weights)
    first = spread_of_rounds(values[is_long], table.trials[is_long])
    second = spread_of_rounds(values[~is_long], table.trials[~is_long])
    difference = first.mean - second.mean
    if first.error is None or second.error is None:
        return first.mean, second.mean, Spread(difference, None, 1.0)
    parts = [(s.error or 0.0) ** 2 for s in (first, second)]
    freedom = sum(parts) ** 2 / sum(
        p**2 / (s.units - 1) for p, s in zip(parts, (first, second), strict=True)
    )
    return first.mean, second.mean, Spread(difference, math.sqrt(sum(parts)), freedom + 1.0)


def _told(
    test: CarryOverTest,
    verdict: Comparison,
    plan: Plan,
    first: float,
    second: float,
    spread: Spread,
    level: float,
) -> CarryOver:
    p, interval = None, None
    if spread.error is not None:
        freedom = spread.units - 1.0
        p = float(2 * special.stdtr(freedom, -abs(spread.mean) / spread.error))
        reach = float(special.stdtrit(freedom, 0.975)) * spread.error
        interval = ratio_pct(spread.mean - reach), ratio_pct(spread.mean + reach)
    found = p is not None and p < level
    weighed = max(plan.smallest_effect, abs(math.log1p((verdict.effect_pct or 0.0) / 100.0)))
    return CarryOver(
        factor=verdict.factor,
        level=verdict.level,
        test=test,
        first_pct=ratio_pct(first),
        second_pct=ratio_pct(second),
        difference_pct=ratio_pct(spread.mean),
        ci95_pct=interval,
        p=p,
        found=found,
        outweighs=found and abs(spread.mean) >= _OUTWEIGHS * weighed,
    )
