"""The verdict of every query of a set, with intervals that hold together.

Enters: the plan, the queries of each trial, weights, levels without a verdict. Leaves: a
`QuerySet`. Never: compares executions (the unit is the block), or lets a plan decide.

A query that failed in some trial has no interval: what is left of it is a selection, as of a time
limit that ends the slow ones. Its failures alone decide (`failures.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import Pairs, pair_blocks
from pgassay.analysis.compare.estimate import BlockEstimate, both, bounded, estimate
from pgassay.analysis.compare.levels import verdict_of
from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.plans.change import plan_change
from pgassay.analysis.queries.answers import answers_differ
from pgassay.analysis.queries.costs import cost_changes, most_usual_plan
from pgassay.analysis.queries.failures import failures_of, judged_by_failures
from pgassay.analysis.queries.model import QueryCosts, QueryEffect, QuerySet, TrialQueries
from pgassay.analysis.queries.summary import summarise
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.reading.plan_shape import top_of
from pgassay.analysis.statistics.moderation import moderated
from pgassay.analysis.statistics.values import Interval, ratio_pct
from pgassay.plan.model import Factor, Plan
from pgassay.spec.factors.kinds import QUERIES, SCRIPT

Level = tuple[str, str]
"""A factor and one of its levels."""
_OF_TEXTS = (QUERIES.name, SCRIPT.name)
"""Kinds of factors whose levels are other texts of a query."""
_TIME = METRICS["latency_mean"]
"""Less of it is better, and ratios are compared."""


def query_set(
    plan: Plan,
    trials: Sequence[TrialQueries],
    weights: Mapping[str, float] | None = None,
    withdrawn: Collection[Level] = (),
    verdicts: Sequence[Comparison] = (),
) -> QuerySet | None:
    """Returns what the trials say of each query; None without trials or levels to compare.

    `weights` are calls of each query, 0 of one that is not in them; without any each counts once.
    `withdrawn` are levels of which the
    run gives no verdict. `verdicts` are those of the primary metric over whole trials, where it is
    the geometric mean.
    """
    queries = sorted({name for one in trials for name in (*one.ms, *one.failed)})
    levels = [
        (factor, level)
        for factor in plan.factors
        if not factor.describes
        for level in factor.levels[1:]
    ]
    if not queries or not levels:
        return None
    failed = tuple(name for name in queries if any(name in one.failed for one in trials))
    succeeded = [name for name in queries if name not in failed]
    # Trials of later blocks may have executed the open queries alone.
    of_all = [one for one in trials if plan.executes_all(one.block)]
    run_rule = rule_of(plan)
    rule = replace(run_rule, simultaneous=len(queries) * len(levels))
    effects, summaries = [], []
    for factor, level in levels:
        pairs = _pairs(plan, trials, queries, factor, level)
        found = _of_level(plan, trials, factor, level, pairs, queries, failed, rule)
        if plan.calibrates or (factor.name, level) in withdrawn:
            verdict = Verdict.CALIBRATION if plan.calibrates else Verdict.UNDECIDED
            found = [replace(one, verdict=verdict, blocks_to_decide=None) for one in found]
        found.sort(key=lambda one: (-abs(one.gained_ms), one.query))
        if weights:
            found = [replace(one, weight=weights.get(one.query, 0.0)) for one in found]
            found.sort(key=lambda one: -abs(one.gained_ms))
        effects += found
        summed = _pairs(plan, of_all, succeeded, factor, level)
        summary = summarise(found, summed, replace(run_rule, simultaneous=len(levels)))
        for one in verdicts:
            if (one.factor, one.level) == (factor.name, level):
                # Adjusted for positions, and for verdicts that were reached.
                summary = replace(summary, mean_pct=one.effect_pct, mean_ci95_pct=one.ci95_pct)
        summaries.append(summary)
    return QuerySet(
        margin=rule.smallest_effect,
        simultaneous=rule.simultaneous,
        weighted=bool(weights),
        summaries=tuple(summaries),
        effects=tuple(effects),
        failed=failed,
    )


def _pairs(
    plan: Plan,
    trials: Sequence[TrialQueries],
    queries: Sequence[str],
    factor: Factor,
    level: str,
) -> dict[str, Pairs]:
    """The pairs of each query, in logarithms of ms, of the blocks in which it has a time."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for name in queries:
        timed = (at for at, one in enumerate(trials) if one.ms.get(name, 0.0) > 0.0)
        alike.setdefault(tuple(timed), []).append(name)
    pairs: dict[str, Pairs] = {}
    for places, names in alike.items():
        vectors = {
            (trials[at].block, trials[at].arm): np.log([trials[at].ms[name] for name in names])
            for at in places
        }
        found = pair_blocks(vectors, plan, factor, level) if vectors else None
        if found is not None:
            columns = zip(found.baseline.T, found.level.T, strict=True)
            pairs |= {name: Pairs(*one) for name, one in zip(names, columns, strict=True)}
    return pairs


def _of_level(
    plan: Plan,
    trials: Sequence[TrialQueries],
    factor: Factor,
    level: str,
    pairs: Mapping[str, Pairs],
    queries: Sequence[str],
    failed: Collection[str],
    rule: Rule,
) -> list[QueryEffect]:
    sides = tuple(
        [one for one in trials if plan.arm(one.arm).levels[factor.name] == wanted]
        for wanted in (factor.baseline, level)
    )
    estimates = _estimates({name: one for name, one in pairs.items() if name not in failed}, rule)
    found = []
    for name in queries:
        own = pairs.get(name)
        made = QueryEffect(
            query=name,
            factor=factor.name,
            baseline=factor.baseline,
            level=level,
            blocks=0 if own is None else len(own.level),
            baseline_ms=None if own is None else math.exp(float(own.baseline.mean())),
            ms=None if own is None else math.exp(float(own.level.mean())),
            change_pct=None if own is None else ratio_pct(float(own.differences.mean())),
            ci95_pct=None,
            ci90_pct=None,
            verdict=Verdict.UNDECIDED,
            margin=rule.smallest_effect,
            baseline_failures=failures_of(sides[0], name),
            failures=failures_of(sides[1], name),
            baseline_costs=_mean_costs(one.costs[name] for one in sides[0] if name in one.costs),
            costs=_mean_costs(one.costs[name] for one in sides[1] if name in one.costs),
            cost_changes=cost_changes(plan, trials, name, factor, level, rule),
            answers_differ=answers_differ(plan, [*sides[0], *sides[1]], name),
        )
        made = _with_plans(made, sides, rewritten=factor.kind in _OF_TEXTS)
        found.append(
            _judged(made, *estimates[name])
            if name in estimates
            else judged_by_failures(made, plan, trials, factor, rule)
        )
    return found


def _estimates(
    pairs: Mapping[str, Pairs], rule: Rule
) -> dict[str, tuple[BlockEstimate, Interval | None]]:
    """Query → its estimate and its 90 % interval; queries lend each other what is known of their
    scatter. To one that has its verdict, and no further blocks, all lend what was known at it, so
    that the verdict stays."""
    found: dict[str, tuple[BlockEstimate, Interval | None]] = {}
    for blocks in {len(one.level) for one in pairs.values()}:
        known = {name: one for name, one in pairs.items() if len(one.level) >= blocks}
        shared = np.array([one.differences[:blocks] for one in known.values()])
        rows, units = with_shared_scatter(shared)
        for name, row in zip(known, rows, strict=True):
            if len(pairs[name].level) > blocks:
                continue
            margins = rule.margins(1.0, ratio=True)
            one = estimate(row, margins, rule, units=units, judged=False)
            ninety = None
            if one.error is not None:
                reach = rule.critical_inside(blocks, one.units) * one.error
                ninety = (one.mean - reach, one.mean + reach) if math.isfinite(reach) else None
            found[name] = one, ninety
    return found


def with_shared_scatter(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Returns block differences, a row for each query, with the scatter that all of them together
    show, and how many independent values each mean is then worth."""
    blocks = rows.shape[1]
    variances = rows.var(axis=1, ddof=1) if blocks > 1 else np.zeros(len(rows))
    larger, gained = moderated(variances, blocks - 1.0)
    ratio = np.divide(larger, variances, out=np.ones_like(larger), where=variances > 0.0)
    means = rows.mean(axis=1, keepdims=True)
    return means + (rows - means) * np.sqrt(ratio)[:, None], blocks + gained


def _judged(effect: QueryEffect, found: BlockEstimate, ninety: Interval | None) -> QueryEffect:
    verdict = verdict_of(found, _TIME)
    return replace(
        effect,
        ci95_pct=bounded(both(found.interval, ratio_pct), least=-100.0),
        ci90_pct=bounded(both(ninety, ratio_pct), least=-100.0),
        verdict=verdict,
        blocks_to_decide=0 if verdict is not Verdict.UNDECIDED else found.blocks_to_decide or None,
    )


def _mean_costs(found: Iterable[QueryCosts]) -> QueryCosts:
    every = list(found)
    means: dict[str, float] = {}
    for one in fields(QueryCosts):
        known = [value for each in every if (value := getattr(each, one.name)) is not None]
        if known:
            means[one.name] = math.fsum(known) / len(known)
    return QueryCosts(**means)


def _with_plans(
    effect: QueryEffect, sides: Sequence[Sequence[TrialQueries]], *, rewritten: bool
) -> QueryEffect:
    usual = [most_usual_plan([one.plans.get(effect.query) for one in side]) for side in sides]
    before, after = usual
    if before is None or after is None:
        return effect
    return replace(
        effect,
        plan_differs=before.fingerprint != after.fingerprint,
        plan_varies=before.varies or after.varies,
        plan_change=plan_change(top_of(before.plan), top_of(after.plan), rewritten=rewritten),
    )
