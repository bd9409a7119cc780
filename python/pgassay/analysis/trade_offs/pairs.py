"""Every pair of levels of a factor compared on every criterion.

Enters: the plan, trials, the comparisons with baselines. Leaves: `Pair`s.
Never: gives a pair with the baseline another result than its own comparison has.

Pairs without the baseline have no verdict of their own: they are clear where Student's p passes
Benjamini and Yekutieli's rule over all of them, and the interval excludes zero.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import BlockTable, block_table
from pgassay.analysis.compare.levels import compare, is_endpoint, is_primary_again
from pgassay.analysis.compare.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.compare.secondary import (
    SECONDARY,
    critical_for_many,
    scaled_interval,
    secondary_alpha,
    with_interval,
)
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.multiple_testing import yekutieli
from pgassay.notes import terms_of
from pgassay.plan.model import Factor, Plan

RULES: dict[str, Any] = terms_of(
    tomllib.loads((files(__package__) / "criteria.toml").read_text("utf-8")), ("aim", "noun")
)


@dataclass(frozen=True)
class Pair:
    """One criterion, one level against another."""

    criterion: str
    first: str
    second: str
    comparison: Comparison
    """Of the second with the first."""
    plain: Comparison
    """The same with its own 95 % interval, which is not corrected for other criteria."""
    way: int
    """1 where the second is clearly better, -1 where it is clearly worse, else 0."""
    floor: float
    """The smallest difference, in the metric's unit, that is a reason to choose a level."""
    margin_pct: float
    """The same as a share of the baseline."""

    def may_gain(self, level: str) -> bool:
        """Whether a level may be better than the other one by more than that, as far as is known.

        By the 95 % interval of this criterion alone: every criterion has to exclude it.
        """
        own = self.plain
        is_ratio = METRICS[own.metric].scale == "ratio"
        ends = own.ci95_pct if is_ratio else own.ci95
        if own.withdrawn is not None:
            return own.withdrawn is not Withdrawn.SET_BY_LOAD
        if ends is None:
            return own.difference != 0.0 or own.blocks < 2
        more_is_better = METRICS[own.metric].good == "higher"
        gain = ends[1] if more_is_better == (level == self.second) else -ends[0]
        if is_ratio:
            return gain > self.margin_pct
        return gain > max(self.floor, self.margin_pct / 100.0 * abs(own.baseline_mean))


def metric_of(criterion: dict[str, Any], plan: Plan, measured: set[str]) -> Metric | None:
    """The metric that stands for a criterion in this run."""
    names = [plan.metric if name == "primary" else name for name in criterion["metric"]]
    return next((METRICS[name] for name in names if name in measured), None)


def compared_pairs(
    plan: Plan, factor: Factor, trials: Sequence[TrialMeasures], comparisons: Sequence[Comparison]
) -> list[Pair]:
    """Compares all pairs of levels, criterion by criterion."""
    measured = {name for trial in trials for name in trial.whole.values}
    rule, alpha = rule_of(plan), secondary_alpha(comparisons)
    found: list[Pair] = []
    others: list[int] = []
    tables: dict[str, BlockTable] = {}
    for criterion in RULES["criterion"]:
        metric = metric_of(criterion, plan, measured)
        if metric is None or metric.name in tables:
            continue
        table = tables[metric.name] = block_table(metric, trials, plan, None)
        for pair in _of_criterion(plan, factor, metric, table, comparisons, rule):
            if pair.baseline != factor.baseline:
                others.append(len(found))
            found.append(_pair(criterion, pair, plan, rule))
    _correct(found, others)
    for at in others:
        own = found[at].comparison
        if not _is_judged(own, plan):
            critical = critical_for_many(rule, own.blocks, alpha, own.units)
            corrected = with_interval(own, scaled_interval(own, critical))
            found[at] = replace(found[at], comparison=corrected)
    return [replace(pair, way=_way(pair)) for pair in found]


def _is_judged(comparison: Comparison, plan: Plan) -> bool:
    """Whether its metric has an error of its own, and so an interval that is never corrected."""
    own = is_endpoint(comparison.metric, plan) or is_primary_again(comparison.metric, plan)
    return comparison.metric == plan.metric or own


def _of_criterion(
    plan: Plan,
    factor: Factor,
    metric: Metric,
    table: BlockTable,
    comparisons: Sequence[Comparison],
    rule: Rule,
) -> Iterator[Comparison]:
    known = {
        c.level: c
        for c in comparisons
        if (c.metric, c.factor, c.step) == (metric.name, factor.name, None)
    }
    for first, second in itertools.combinations(factor.levels, 2):
        if first == factor.baseline:
            if second in known:
                yield known[second]
            continue
        own = compare(
            metric, replace(factor, levels=(first, second)), second, None, table, plan, rule
        )
        if own is not None:
            lost = next(
                (
                    c.withdrawn
                    for level in (first, second)
                    if (c := known.get(level)) and c.withdrawn
                ),
                None,
            )
            yield replace(own, withdrawn=lost or own.withdrawn)


def _pair(criterion: dict[str, Any], comparison: Comparison, plan: Plan, rule: Rule) -> Pair:
    plain = comparison
    if not _is_judged(comparison, plan):
        critical = rule.critical(comparison.blocks, comparison.units, 0.05)
        plain = with_interval(comparison, scaled_interval(comparison, critical))
    margin = RULES["margin_pct"]
    if comparison.metric == plan.metric:
        margin = 100.0 * plan.smallest_effect
    for endpoint in plan.endpoints:
        if endpoint.metric == comparison.metric:
            margin = 100.0 * endpoint.margin
    return Pair(
        criterion["name"],
        comparison.baseline,
        comparison.level,
        comparison,
        plain,
        0,
        criterion.get("floor", 0.0),
        margin,
    )


def _correct(pairs: list[Pair], others: Sequence[int]) -> None:
    """Sets whether pairs without the baseline are clear, over all of them."""
    tested = [at for at in others if pairs[at].comparison.p_t is not None]
    p = np.array([pairs[at].comparison.p_t for at in tested], dtype=np.float64)
    adjusted = dict(zip(tested, yekutieli(p).tolist(), strict=True))
    for at in others:
        own = pairs[at].comparison
        ends = own.ci95
        outside = ends is not None and (ends[0] > 0.0 or ends[1] < 0.0)
        clear = outside and adjusted.get(at, 1.0) <= SECONDARY["discovery_rate"]
        pairs[at] = replace(pairs[at], comparison=replace(own, p_by=adjusted.get(at), clear=clear))


def _way(pair: Pair) -> int:
    """Which level is better, where that is clear and a reason to choose it."""
    own = pair.comparison
    metric = METRICS[own.metric]
    if own.withdrawn is not None and own.withdrawn is not Withdrawn.SET_BY_LOAD:
        return 0
    if own.p_by is None and own.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return 0  # of a metric with a verdict of its own
    if own.clear is False or metric.good == "neither" or not _is_large(pair):
        return 0
    return 1 if (own.difference > 0.0) == (metric.good == "higher") else -1


def _is_large(pair: Pair) -> bool:
    own = pair.comparison
    if abs(own.level_mean - own.baseline_mean) < pair.floor:
        return False
    return own.effect_pct is None or abs(own.effect_pct) >= RULES["least_share_pct"]
