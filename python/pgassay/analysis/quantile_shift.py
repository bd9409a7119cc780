"""The shift function: how much each quantile of latency differs.

Enters: trial measures with their latency curves. Leaves: `QuantileShift` per level and step.
Never: tests requests; a quantile is one number per trial, a difference one per block.

Source: Doksum 1974 and Rousselet, Pernet and Wilcox 2017 (the shift function); the band is that of
simultaneous.py over the logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves_model import QuantileShift
from pgassay.analysis.histograms import CURVE_SHARES
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.paired import pair_blocks
from pgassay.analysis.simultaneous import FEWEST_BLOCKS, max_t_band
from pgassay.plan.model import Factor, Plan

_USELESS_PCT = 10_000.0


def quantile_shifts(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[QuantileShift, ...]:
    """Every level, over whole trials and by step; none where no latency was measured."""
    levels = plan.step_levels()
    steps: list[float | None] = [None, *dict.fromkeys(levels)] if len(levels) > 1 else [None]
    found = [
        _shift(plan, trials, factor, level, step)
        for factor in plan.factors
        for level in factor.levels[1:]
        for step in steps
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
        curve = np.array(measured.latency_curve.quantiles_ms, dtype=np.float64)
        if np.all(curve > 0.0):
            curves[trial.block, trial.arm] = np.log(curve)
    pairs = pair_blocks(curves, plan, factor, level)
    if pairs is None:
        return None
    rows = pairs.differences
    band = max_t_band(rows)
    refused = None
    if len(rows) < FEWEST_BLOCKS:
        refused = f"a band takes {FEWEST_BLOCKS} complete blocks, there are {len(rows)}"
    elif band is None:
        refused = "the block differences do not vary"
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
        shift_pct=tuple(percent(value) for value in rows.mean(axis=0)),
        band95_pct=(None,) * rows.shape[1]
        if band is None
        else tuple(percent_bounds(*pair) for pair in zip(band.low, band.high, strict=True)),
        refused=refused,
    )


def percent(log_ratio: float) -> float:
    """A difference of logarithms as a change in per cent."""
    return 100.0 * math.expm1(min(float(log_ratio), 300.0))


def percent_bounds(low: float, high: float) -> tuple[float, float] | None:
    """Bounds on logarithms in per cent; None where there are none or they tell nothing."""
    if not (math.isfinite(low) and math.isfinite(high)) or percent(high) > _USELESS_PCT:
        return None
    return percent(low), percent(high)
