"""Does the difference between arms, or the throughput of an arm, change within trials?

Enters: the plan, the trials that count with their courses, the verdicts. Leaves: an `EffectByHalf`
per level, caveats. Never: changes a verdict, tests seconds, or removes data from any figure.

Each measured step of a trial has two halves. The logarithm of the second half's mean over the
first's is one figure per trial; arms are compared in it as they are in the primary metric: within
blocks, without what positions add. An effect that is as large in both halves adds nothing to it.
It hardly depends on the trials' means, by which a run may end early, so Student's t holds for it
then too (docs/measured/validation-halves.md). The effect in each half does depend on them: its
interval is that of the run's rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import BlockTable, block_table, main_effect
from pgassay.analysis.compare.blocks.positions import without_positions
from pgassay.analysis.compare.estimate import BlockEstimate, both, bounded, estimate
from pgassay.analysis.compare.levels import margins_of, verdict_of
from pgassay.analysis.compare.model import Comparison, Dependence, IntervalKind, Verdict
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.compare.secondary import critical_for_many
from pgassay.analysis.curves.model import EffectByHalf, HalfEffect
from pgassay.analysis.measures.courses.trial_course import Array, TrialCourse
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.intervals import mean_estimate
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.notes import Importance, Note, Value
from pgassay.plan.model import Plan

_FEWEST = 4
"""Intervals of a step that has two halves."""
_BY_INTERVAL = ("tps", "latency_mean", "response_mean")
"""Metrics of which a course has a value for each interval."""
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


def effects_by_half(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    courses: Sequence[TrialCourse],
    verdicts: Sequence[Comparison],
) -> tuple[EffectByHalf, ...]:
    """Estimates by half every verdict over whole trials; none for a percentile of latency."""
    if plan.calibrates or plan.alternates or plan.metric not in _BY_INTERVAL:
        return ()
    metric = METRICS[plan.metric]
    halves = {course.number: _halves(course, metric.name) for course in courses}
    first, second = (_table(plan, trials, halves, metric, half) for half in (0, 1))
    change = replace(second, values=second.values - first.values)
    found = []
    for verdict in verdicts:
        is_given = verdict.withdrawn is None and verdict.verdict is not Verdict.DESCRIBED
        if verdict.step is None and is_given:
            one = _of_level(plan, verdict, metric, (first, second, change))
            if one is not None:
                found.append(one)
    return tuple(found)


def half_caveats(
    plan: Plan, courses: Sequence[TrialCourse], found: Sequence[EffectByHalf]
) -> Iterator[Caveat]:
    """Arms whose throughput changes within trials, and differences that do."""
    yield from _of_arms(plan, courses)
    for one in found:
        if one.verdict is Dependence.DEPENDS:
            values: dict[str, Value] = {
                "factor": one.factor,
                "level": one.level,
                "baseline": one.baseline,
                "first": one.first.effect_pct,
                "second": one.second.effect_pct,
            }
            importance = Importance.SIZE if one.holds_in_both else Importance.VERDICT
            note = Note("analysis/curves/difference-changes", values)
            yield Caveat.of("difference-changes", note, importance)


def _of_level(
    plan: Plan, verdict: Comparison, metric: Metric, tables: tuple[BlockTable, ...]
) -> EffectByHalf | None:
    factor = next(one for one in plan.factors if one.name == verdict.factor)
    contrast = main_effect(plan, factor, verdict.level)
    rule = rule_of(plan)
    alone = Rule(IntervalKind.T, plan.smallest_effect, max(1, plan.compared_levels))
    found = [
        _estimate(table, contrast, metric, one)
        for table, one in zip(tables, (rule, rule, alone), strict=True)
    ]
    first, second, change = found
    if first is None or second is None or change is None:
        return None
    return EffectByHalf(
        metric=metric.name,
        factor=verdict.factor,
        baseline=verdict.baseline,
        level=verdict.level,
        blocks=change.blocks,
        first=HalfEffect(ratio_pct(first.mean), _interval(first)),
        second=HalfEffect(ratio_pct(second.mean), _interval(second)),
        change_pct=ratio_pct(change.mean),
        change_ci95_pct=_interval(change),
        p_t=change.p_t,
        verdict=_dependence(change),
        holds_in_both=all(_supports(half, verdict, metric) for half in (first, second)),
    )


def _estimate(
    table: BlockTable, contrast: Array, metric: Metric, rule: Rule
) -> BlockEstimate | None:
    known = table.known_for(contrast)
    if not known.blocks:
        return None
    adjusted = without_positions(known)
    return estimate(
        adjusted.differences(contrast),
        margins_of(rule, metric, 1.0),
        rule,
        units=adjusted.units(len(known.blocks)),
        judged=False,
    )


def _dependence(change: BlockEstimate) -> Dependence:
    if change.differs:
        return Dependence.NEGLIGIBLE if change.inside else Dependence.DEPENDS
    return Dependence.INDEPENDENT if change.inside else Dependence.UNDECIDED


def _supports(half: BlockEstimate, verdict: Comparison, metric: Metric) -> bool:
    """Whether a half alone says what the verdict says; an undecided one says nothing."""
    if verdict.verdict in _SAME:
        return half.inside
    return verdict.verdict is Verdict.UNDECIDED or verdict_of(half, metric) is verdict.verdict


def _interval(found: BlockEstimate) -> tuple[float, float] | None:
    return bounded(both(found.interval, ratio_pct), least=-100.0)


def _table(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    halves: Mapping[int, tuple[float, float] | None],
    metric: Metric,
    half: int,
) -> BlockTable:
    """The table of the metric, with the value of one half in place of the whole trial's."""
    found = []
    for trial in trials:
        own = halves.get(trial.number)
        values = {} if own is None else {metric.name: own[half]}
        found.append(replace(trial, whole=replace(trial.whole, values=values)))
    return block_table(metric, found, plan, None)


def _halves(course: TrialCourse, metric: str) -> tuple[float, float] | None:
    """The metric in both halves, the geometric mean over steps; None where one has no value."""
    logs = []
    for span in course.steps:
        places = course.whole(span)
        middle = len(places) // 2
        if len(places) < _FEWEST:
            continue
        pair = [_mean(course, part, metric) for part in (places[:middle], places[-middle:])]
        if min(pair) > 0.0:
            logs.append([math.log(value) for value in pair])
    if not logs:
        return None
    first, second = np.exp(np.mean(logs, axis=0)).tolist()
    return first, second


def _mean(course: TrialCourse, places: NDArray[np.int64], metric: str) -> float:
    """Over these intervals; of latencies by transactions, as in the whole trial. 0 for none."""
    if metric == "tps":
        return float(course.tps[places].mean())
    series = course.latency_ms if metric == "latency_mean" else course.response_ms
    values, weights = series[places], course.transactions[places]
    known = np.isfinite(values) & (weights > 0.0)
    return float(np.average(values[known], weights=weights[known])) if known.any() else 0.0


def _of_arms(plan: Plan, courses: Sequence[TrialCourse]) -> Iterator[Caveat]:
    changes = [
        (course.arm, math.log(own[1] / own[0]))
        for course in courses
        if (own := _halves(course, "tps")) is not None
    ]
    moved = []
    for arm in plan.arms:
        values = np.array([change for of, change in changes if of == arm.id])
        if len(values) < 2:
            continue
        critical = critical_for_many(rule_of(plan), len(values), 0.05 / len(plan.arms))
        found = mean_estimate(values, critical)
        if _is_clear(found.low, found.high, found.value, plan.smallest_effect):
            label = arm.label or Note("analysis/curves/all-trials")
            change = ratio_pct(found.value)
            moved.append(Note("analysis/curves/change-in-arm", {"change": change, "arm": label}))
    if moved:
        note = Note("analysis/curves/not-settled", {"items": tuple(moved)})
        yield Caveat.of("not-settled", note)


def _is_clear(low: float | None, high: float | None, value: float, least: float) -> bool:
    return (
        low is not None
        and high is not None
        and (low > 0.0 or high < 0.0)
        and abs(value) >= math.log1p(least)
    )
