"""Every level of every factor against its baseline, on every metric and at every load.

Enters: the plan, tables of complete blocks, the rule. Leaves: a `Comparison` each.
Never: tests seconds or requests (the trial is the unit), or withdraws a verdict.

The primary metric has 5 % error over all levels, the endpoints beside it have 5 % together. All
other metrics, dozens at every level, but not the primary one in another form, are better, worse or
negligible only where their Student's p passes Benjamini and Yekutieli's rule over all of them, and
their interval, which in a sequential run holds at every look, excludes zero.

The typical trial is the 20 % trimmed mean: a fifth of the blocks at each end is left out (Tukey and
McLaughlin, Sankhyā A 25, 1963; Wilcox, Introduction to Robust Estimation and Hypothesis Testing,
2012). Blocks are trimmed as measured, because one that differs much shifts what positions seem to
add, and so all the others; the effect moves by what that changes. No verdict rests on it: slow
trials are part of what a level does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pgassay.analysis.compare.alternating.rounds import by_block
from pgassay.analysis.compare.alternating.slow_effects import unless_slow
from pgassay.analysis.compare.blocks.contrast_estimate import contrast_estimate
from pgassay.analysis.compare.blocks.contrasts import BlockTable, Vector, block_table, mean_over
from pgassay.analysis.compare.blocks.positions import without_positions
from pgassay.analysis.compare.estimate import BlockEstimate, both, bounded, relative
from pgassay.analysis.compare.model import ByDuration, Comparison, Subject, Verdict, Withdrawn
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import SECONDARY
from pgassay.analysis.compare.step_down import Reached, step_down
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.values import Interval, ratio_pct
from pgassay.plan.factorial.aliases import aliases_of_factor
from pgassay.plan.model import Factor, Plan


def compare(
    metric: Metric,
    factor: Factor,
    level: str,
    step: float | None,
    table: BlockTable,
    plan: Plan,
    rule: Rule,
) -> Comparison | None:
    """Compares a level with its baseline, over the blocks in which all arms concerned have a
    value."""
    weights = [mean_over(plan, {factor.name: level}) for level in (factor.baseline, level)]
    contrast = weights[1] - weights[0]
    table = table.known_for(contrast)
    if not table.blocks:
        return None
    ratio = metric.scale == "ratio"
    adjusted = without_positions(table)
    means = [float(adjusted.table.of(one).mean()) for one in weights]
    baseline_mean, level_mean = (math.exp(mean) for mean in means) if ratio else means
    margins = margins_of(rule, metric, baseline_mean)
    judged = metric.name == plan.metric or is_endpoint(metric.name, plan)
    found = contrast_estimate(adjusted, contrast, margins, rule, judged=judged)
    if not plan.calibrates:
        found = unless_slow(found, table, contrast, margins, rule)
    verdict = verdict_of(found, metric)
    if is_endpoint(metric.name, plan) and _is_always_zero(table.of(contrast)):
        verdict = Verdict.EQUIVALENT
    to_pct = relative(ratio, baseline_mean)
    raw = ratio_pct if ratio else float
    return Comparison(
        metric=metric.name,
        factor=factor.name,
        baseline=factor.baseline,
        level=level,
        step=step,
        step_unit=plan.step_unit,
        blocks=found.blocks,
        baseline_mean=baseline_mean,
        level_mean=level_mean,
        effect_pct=to_pct(found.mean),
        # No metric can fall by more than 100 %.
        ci95_pct=bounded(both(found.interval, to_pct), least=-100.0),
        difference=raw(found.mean),
        ci95=bounded(both(found.interval, raw), least=-100.0)
        if ratio
        else both(found.interval, raw),
        p_t=found.p_t,
        p_sign_flip=found.p_sign_flip,
        p_looks=found.p_looks,
        verdict=verdict,
        blocks_to_decide=0 if verdict is not Verdict.UNDECIDED else found.blocks_to_decide or None,
        block_effects_pct=_by_block(adjusted.differences(contrast), table, to_pct),
        block_raw_pct=_by_block(table.of(contrast), table, to_pct),
        aliases=aliases_of_factor(plan, factor) if judged else (),
        rounds=found.rounds,
        slow_ci90_pct=bounded(both(found.slow, to_pct), least=-100.0),
        withdrawn=Withdrawn.SLOW_EFFECTS if found.withheld else None,
        shared_by=rule.simultaneous,
        standard_error=found.error,
        units=found.units,
        resolution=found.resolution,
        by_duration=None
        if found.by_duration is None
        else ByDuration(to_pct(found.by_duration.value), found.by_duration.error),
    )


def _by_block(
    differences: Vector, table: BlockTable, to_pct: Callable[[float], float | None]
) -> tuple[float, ...]:
    """In per cent; of a switchback the means of trials."""
    every = (to_pct(float(one)) for one in by_block(differences, table.trials))
    return tuple(one for one in every if one is not None)


def is_endpoint(metric: str, plan: Plan) -> bool:
    """Whether the metric has its own verdict beside the primary one."""
    return any(endpoint.metric == metric for endpoint in plan.endpoints)


_INVERSE = {"tps": "latency_mean", "latency_mean": "tps"}


def is_primary_again(metric: str, plan: Plan) -> bool:
    """Whether the metric is the primary one in another form: without a rate, clients keep busy and
    the mean latency is their number divided by the throughput."""
    same = _INVERSE.get(plan.metric) == metric and not plan.has_rate
    return same and not is_endpoint(metric, plan)


def margins_of(rule: Rule, metric: Metric, baseline_mean: float) -> Interval:
    """Returns ± the smallest effect; of a metric in per cent a difference in points."""
    if metric.unit == "%":
        return -100.0 * rule.smallest_effect, 100.0 * rule.smallest_effect
    return rule.margins(baseline_mean, ratio=metric.scale == "ratio")


def _is_always_zero(differences: Vector) -> bool:
    """Such as failures where nothing failed: no spread, and so no test."""
    return len(differences) >= SECONDARY["constant_blocks"] and not differences.any()


def verdict_of(found: BlockEstimate, metric: Metric) -> Verdict:
    """Returns the verdict that an estimate gives, by the metric's good direction."""
    if found.inside:
        return Verdict.NEGLIGIBLE if found.differs else Verdict.EQUIVALENT
    return way(found.mean, metric) if found.differs else Verdict.UNDECIDED


Tables = Mapping[float | None, BlockTable]
"""The primary metric's complete blocks, over whole trials (None) and at each load."""


def judge_levels(
    plan: Plan, rule: Rule, tables: Tables, looks: Iterable[int], before: Reached[Subject]
) -> tuple[list[Comparison], Reached[Subject]]:
    """Compares levels on the primary metric, whose verdicts share their error step by step.

    `looks` are the blocks at which the run was judged, or could have been, since `before`; the
    last one is that of now.
    """
    factors = {factor.name: factor for factor in plan.factors}
    subjects = [
        (f.name, level, at) for f in plan.factors for level in f.levels[1:] for at in tables
    ]
    found, reached = dict[Subject, Comparison | None](), before
    for block in looks:
        then = {step: table.up_to(block) for step, table in tables.items()}

        def estimated(subject: Subject, rule: Rule, then: Tables = then) -> Comparison | None:
            name, level, step = subject
            metric = METRICS[plan.metric]
            return compare(metric, factors[name], level, step, then[step], plan, rule)

        found, reached = step_down(subjects, estimated, _says, rule, reached)
    return [one for one in found.values() if one is not None], reached


def _says(found: Comparison | None) -> tuple[bool, bool]:
    """Whether a verdict finds a difference, and whether one inside the margin."""
    if found is None:
        return False, False
    inside = found.verdict in (Verdict.NEGLIGIBLE, Verdict.EQUIVALENT)
    return found.verdict not in (Verdict.UNDECIDED, Verdict.EQUIVALENT), inside


def compare_levels(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    rule: Rule,
    loads: Sequence[float | None],
    metrics: Container[str] = METRICS,
) -> list[Comparison]:
    """Compares levels on these metrics but the primary one, metric by metric."""
    found = []
    rules = {one.metric: rule.of_endpoint(one, of=len(plan.endpoints)) for one in plan.endpoints}
    of_scenarios = (METRICS[name] for name in rules if name not in METRICS)
    for metric in (*METRICS.values(), *of_scenarios):
        wanted = metric.name in metrics or metric.name in rules
        if not wanted or metric.name == plan.metric or not _is_measured(metric.name, trials):
            continue
        tables = {step: block_table(metric, trials, plan, step) for step in loads}
        for factor in plan.factors:
            for level in factor.levels[1:]:
                for step in loads:
                    comparison = compare(
                        metric,
                        factor,
                        level,
                        step,
                        tables[step],
                        plan,
                        rules.get(metric.name, rule),
                    )
                    if comparison is not None:
                        found.append(comparison)
    return found


def _is_measured(name: str, trials: Sequence[TrialMeasures]) -> bool:
    """Whether some trial, step or slice has a value of the metric."""
    return any(
        any(name in part.values for part in (trial.whole, *trial.steps))
        or any(name in one.values for one in trial.turns)
        for trial in trials
    )


def way(difference: float, metric: Metric) -> Verdict:
    """Returns better or worse by the metric's good direction; undecided where it has none."""
    if metric.good == "neither":
        return Verdict.UNDECIDED
    return Verdict.BETTER if (difference > 0.0) == (metric.good == "higher") else Verdict.WORSE


_PARTS = 5
"""One of so many blocks is left out at each end; with fewer blocks there is none to leave out."""

_NOTHING_LEFT = -100.0
"""In per cent, where a ratio is too small for its per cent to tell it from zero."""


def with_typical_trial(comparisons: Sequence[Comparison], primary: str) -> tuple[Comparison, ...]:
    """Adds the typical trial to the verdicts of the primary metric that are given."""
    return tuple(replace(one, typical_pct=_typical(one, primary)) for one in comparisons)


def _typical(one: Comparison, primary: str) -> float | None:
    """In per cent, where ratios are compared."""
    is_given = one.withdrawn is None and one.verdict is not Verdict.CALIBRATION
    is_asked = one.metric == primary and METRICS[primary].scale == "ratio" and is_given
    if not is_asked or one.effect_pct is None or len(one.block_raw_pct) < _PARTS:
        return None
    if min(one.effect_pct, *one.block_raw_pct) <= _NOTHING_LEFT:
        return None
    logs = np.sort(np.log1p(np.array(one.block_raw_pct) / 100.0))
    out = len(logs) // _PARTS
    moved = float(logs[out : len(logs) - out].mean() - logs.mean())
    return ratio_pct(math.log1p(one.effect_pct / 100.0) + moved)
