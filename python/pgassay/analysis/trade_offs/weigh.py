"""Which levels of a factor no other beats, and which is best by which criterion.

Enters: the plan, trials, comparisons. Leaves: a `TradeOff` per factor.
Never: adds criteria up: what they are worth to each other is the reader's choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.trade_offs.model import Beaten, Criterion, LevelFigure, Standing, TradeOff
from pgassay.analysis.trade_offs.pairs import RULES, Pair, compared_pairs
from pgassay.plan.model import Factor, Plan

_STANDINGS: Mapping[int, Standing] = {1: "better", -1: "worse", 0: "no clear difference"}


def trade_offs(
    plan: Plan, trials: Sequence[TrialMeasures], comparisons: Sequence[Comparison]
) -> tuple[TradeOff, ...]:
    """Weighs each factor; none of an A/A run, or where arms alternate within trials."""
    if plan.calibrates or plan.alternates:
        return ()
    found = (
        _of_factor(plan, factor, trials, comparisons)
        for factor in plan.factors
        if not factor.describes
    )
    return tuple(one for one in found if one.criteria)


def _of_factor(
    plan: Plan, factor: Factor, trials: Sequence[TrialMeasures], comparisons: Sequence[Comparison]
) -> TradeOff:
    pairs = compared_pairs(plan, factor, trials, comparisons)
    by_criterion = {
        name: [pair for pair in pairs if pair.criterion == name]
        for name in dict.fromkeys(pair.criterion for pair in pairs)
    }
    beaten = [
        one
        for level, other in itertools.permutations(factor.levels, 2)
        if (one := _beaten(level, other, pairs)) is not None
    ]
    certain = {one.level for one in beaten if not one.open_in}
    return TradeOff(
        factor.name,
        factor.levels,
        tuple(_criterion(name, factor, own) for name, own in by_criterion.items()),
        tuple(beaten),
        tuple(level for level in factor.levels if level not in certain),
        any(
            {1, -1} <= {pair.way for pair in pairs if (pair.first, pair.second) == both}
            for both in itertools.combinations(factor.levels, 2)
        ),
    )


def _way(pair: Pair, level: str) -> int:
    """1 where the level is clearly better than the other one."""
    return pair.way if level == pair.second else -pair.way


def _beaten(level: str, other: str, pairs: Sequence[Pair]) -> Beaten | None:
    own = [pair for pair in pairs if {pair.first, pair.second} == {level, other}]
    worse = tuple(pair.criterion for pair in own if _way(pair, level) < 0)
    if not worse or any(_way(pair, level) > 0 for pair in own):
        return None
    open_in = tuple(
        pair.criterion for pair in own if pair.criterion not in worse and pair.may_gain(level)
    )
    return Beaten(level, other, worse, open_in)


def _criterion(name: str, factor: Factor, pairs: Sequence[Pair]) -> Criterion:
    defined = next(one for one in RULES["criterion"] if one["name"] == name)
    metric = METRICS[pairs[0].comparison.metric]
    against = {pair.second: pair for pair in pairs if pair.first == factor.baseline}
    figures = [
        LevelFigure(factor.baseline, one.comparison.baseline_mean, None, None, "baseline")
        for one in list(against.values())[:1]
    ]
    figures += [
        LevelFigure(
            level,
            pair.comparison.level_mean,
            pair.comparison.effect_pct,
            pair.comparison.ci95_pct,
            _STANDINGS[pair.way],
        )
        for level, pair in against.items()
    ]
    worse = {
        level for pair in pairs for level in (pair.first, pair.second) if _way(pair, level) < 0
    }
    best = tuple(level for level in factor.levels if level not in worse)
    return Criterion(
        name,
        metric.title,
        defined.get("aim", metric.title.lower()),
        defined.get("noun", metric.title.lower()),
        metric.name,
        tuple(figures),
        best,
        _in_order(figures, best, higher=metric.good == "higher"),
    )


def _in_order(figures: Sequence[LevelFigure], best: Sequence[str], *, higher: bool) -> bool:
    sign = 1.0 if higher else -1.0
    others = [sign * one.mean for one in figures if one.level not in best]
    return not others or max(others) <= min(sign * one.mean for one in figures if one.level in best)
