"""The effect along a curve: at each quantile of latency, at each load, in each round.

Enters: trial measures. Leaves: a `QuantileShift` per level and step, an `EffectByLoad` per level;
of a switchback or duet a `RoundEffects` per level, for a chart. Never: tests requests (a quantile
is one number per trial), or reports a crossing from noise: on both sides the band over all steps
must exclude zero.

Sources: Doksum (Annals of Statistics 2, 1974) and Rousselet, Pernet and Wilcox (European Journal of
Neuroscience 46, 2017) for the shift function; simultaneous.py for the band over the logarithms.
Levels share its 5 %; steps, which look at the same trials again, are not corrected further.

Between two steps the difference is interpolated linearly over the logarithm of the load. A band
that holds at the steps then holds between them, and the loads at which it contains zero are an
interval of the crossing (an inversion like Fieller's, JRSS B 16, 1954).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import main_effect, pair_blocks, round_table
from pgassay.analysis.compare.model import RoundEffects
from pgassay.analysis.compare.rule import loads_compared
from pgassay.analysis.curves.model import Crossing, EffectByLoad, QuantileShift
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.histograms import CURVE_SHARES
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.simultaneous import Band, ratio_curve
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Factor, Plan


def quantile_shifts(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[QuantileShift, ...]:
    """Estimates each level's shift over whole trials and by step; none without latencies."""
    found = [
        _shift(plan, trials, factor, level, step)
        for factor in plan.factors
        for level in factor.levels[1:]
        for step in loads_compared(plan.step_levels())
    ]
    return tuple(shift for shift in found if shift is not None)


def _shift(
    plan: Plan, trials: Sequence[TrialMeasures], factor: Factor, level: str, step: float | None
) -> QuantileShift | None:
    curves: dict[tuple[int, str], NDArray[np.float64]] = {}
    open_loop = False
    for trial in trials:
        measured = trial.at(step)
        if measured is None or measured.latency_curve is None:
            continue
        open_loop |= measured.latency_curve.of == "response"
        values = np.array(measured.latency_curve.quantiles_ms, dtype=np.float64)
        if np.all(values > 0.0):
            curves[trial.block, trial.arm] = np.log(values)
    pairs = pair_blocks(curves, plan, factor, level)
    if pairs is None:
        return None
    rows = pairs.differences
    curve = ratio_curve(rows, shared_by=max(1, plan.compared_levels))
    return QuantileShift(
        factor=factor.name,
        baseline=factor.baseline,
        level=level,
        step=step,
        step_unit=plan.step_unit,
        of="response" if open_loop else "latency",
        blocks=len(rows),
        shares=CURVE_SHARES,
        baseline_ms=tuple(np.exp(pairs.baseline.mean(axis=0)).tolist()),
        level_ms=tuple(np.exp(pairs.level.mean(axis=0)).tolist()),
        shift_pct=curve.shift_pct,
        band95_pct=curve.band95_pct,
        refused=curve.refused,
    )


Side = Literal["better", "worse"]


def effects_by_load(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[EffectByLoad, ...]:
    """The effects on the primary metric and, unless a rate sets it, on throughput.

    None for a single step.
    """
    loads = sorted(set(plan.step_levels()))
    if len(loads) < 2:
        return ()
    names = [plan.metric] if plan.has_rate else dict.fromkeys((plan.metric, "tps"))
    named = [METRICS[name] for name in names]
    metrics = [metric for metric in named if metric.scale == "ratio"]
    shared_by = len(metrics) * max(1, plan.compared_levels)
    found = [
        _effect(plan, trials, loads, metric, factor, level, shared_by)
        for metric in metrics
        for factor in plan.factors
        for level in factor.levels[1:]
    ]
    return tuple(effect for effect in found if effect is not None)


def _effect(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    loads: Sequence[float],
    metric: Metric,
    factor: Factor,
    level: str,
    shared_by: int,
) -> EffectByLoad | None:
    pairs = pair_blocks(log_values(trials, loads, metric.name), plan, factor, level)
    if pairs is None:
        return None
    rows = pairs.differences
    curve = ratio_curve(rows, shared_by=shared_by)
    return EffectByLoad(
        metric=metric.name,
        factor=factor.name,
        baseline=factor.baseline,
        level=level,
        step_unit=plan.step_unit,
        blocks=len(rows),
        loads=tuple(loads),
        effect_pct=curve.shift_pct,
        band95_pct=curve.band95_pct,
        crossings=() if curve.band is None else _crossings(loads, curve.band, metric),
        refused=curve.refused,
    )


def log_values(
    trials: Sequence[TrialMeasures], loads: Sequence[float], metric: str
) -> dict[tuple[int, str], NDArray[np.float64]]:
    """Returns (block, arm) → the metric's logarithm at each load; NaN where a step is missing."""
    found = {}
    for trial in trials:
        values = [step.values.get(metric) if (step := trial.at(load)) else None for load in loads]
        found[trial.block, trial.arm] = np.array(
            [math.log(value) if value is not None and value > 0.0 else math.nan for value in values]
        )
    return found


def _crossings(loads: Sequence[float], band: Band, metric: Metric) -> tuple[Crossing, ...]:
    """One for each pair of neighbouring clear steps with opposite signs."""
    if metric.good == "neither":
        return ()
    x = _axis(loads)
    sign = np.where(band.low > 0.0, 1, np.where(band.high < 0.0, -1, 0))
    clear = np.flatnonzero(sign)
    return tuple(
        _crossing(x, band, left, right, loads, metric)
        for left, right in pairwise(clear.tolist())
        if sign[left] != sign[right]
    )


def _crossing(
    x: NDArray[np.float64],
    band: Band,
    left: int,
    right: int,
    loads: Sequence[float],
    metric: Metric,
) -> Crossing:
    falls = band.low[left] > 0.0
    # With rising load the bound nearer to zero crosses it first, the other one last.
    first, last = (band.low, band.high) if falls else (band.high, band.low)
    # A step that never varies has no bounds.
    between = left + np.flatnonzero(np.isfinite(band.low[left : right + 1]))
    roots = (
        _first_zero(x[between], first[between]),
        _first_zero(x[between], band.mean[between]),
        _last_zero(x[between], last[between]),
    )
    logarithmic = min(loads) > 0.0
    low, at, high = (math.exp(root) if logarithmic else root for root in roots)
    below: Side = "better" if falls == (metric.good == "higher") else "worse"
    return Crossing(at=at, low=low, high=high, below=below)


def _axis(loads: Sequence[float]) -> NDArray[np.float64]:
    values = np.array(loads, dtype=np.float64)
    return np.log(values) if values.min() > 0.0 else values


def _first_zero(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    at = int(np.flatnonzero(np.sign(y[1:]) != np.sign(y[0]))[0])
    return _zero_between(x, y, at)


def _last_zero(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    at = int(np.flatnonzero(np.sign(y[:-1]) != np.sign(y[-1]))[-1])
    return _zero_between(x, y, at)


def _zero_between(x: NDArray[np.float64], y: NDArray[np.float64], at: int) -> float:
    return float(x[at] - y[at] * (x[at + 1] - x[at]) / (y[at + 1] - y[at]))


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
