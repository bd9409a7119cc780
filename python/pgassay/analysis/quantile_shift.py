"""The shift function: how much each quantile of latency differs.

Enters: trial measures with their latency curves. Leaves: `QuantileShift` per level and step.
Never: tests requests; a quantile is one number per trial, a difference one per block.

Source: Doksum 1974 and Rousselet, Pernet and Wilcox 2017 (the shift function); the band is that of
simultaneous.py over the logarithms. Levels share its 5 %; the steps of a load, which are further
looks at the same trials, have a curve of their own each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves_model import QuantileShift
from pgassay.analysis.histograms import CURVE_SHARES
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.paired import pair_blocks
from pgassay.analysis.simultaneous import ratio_curve
from pgassay.plan.model import Factor, Plan


def quantile_shifts(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[QuantileShift, ...]:
    """Every level, over whole trials and by step; none where no latency was measured."""
    levels = dict.fromkeys(plan.step_levels())
    steps: list[float | None] = [None, *levels] if len(levels) > 1 else [None]
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
        values = np.array(measured.latency_curve.quantiles_ms, dtype=np.float64)
        if np.all(values > 0.0):
            curves[trial.block, trial.arm] = np.log(values)
    pairs = pair_blocks(curves, plan, factor, level)
    if pairs is None:
        return None
    rows = pairs.differences
    curve = ratio_curve(rows, shared_by=plan.compared_levels)
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
