"""Throughput against clients: the Universal Scalability Law and its knee.

Enters: trial measures of a run whose steps differ in clients. Leaves: a `LoadCurve` per arm.
Never: names a knee that the data do not show; it gives the reason instead.

Source: Gunther, "Guerrilla Capacity Planning" (2007). N/X is linear in (1, N − 1, N(N − 1)), so
Gauss and Newton's step for least squares of log X is a non-negative linear problem.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.effect_curves import log_values
from pgassay.analysis.curves.model import LoadCurve, ScalingFit
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.statistics.intervals import jackknifed, mean_with_interval
from pgassay.analysis.statistics.values import Estimate, Interval
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.quantities import LoadUnit

FEWEST_LOADS = 4
"""Three points are fitted exactly by three parameters."""
FEWEST_BLOCKS = 3
_ALIKE = 1e-12
"""Differences of log throughput below this are rounding errors."""
_STEPS = 12
_POINTS = 60
_NO_KNEE = math.inf


def load_curves(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[LoadCurve, ...]:
    """Fits a curve per arm; none for a single step, or steps that differ in rates."""
    loads = sorted(set(plan.step_levels()))
    if len(loads) < 2 or plan.step_unit is not LoadUnit.CLIENTS:
        return ()
    values = log_values(trials, loads, "tps")
    found = []
    for arm in plan.arms:
        rows = [v for (_, of), v in sorted(values.items()) if of == arm.id]
        whole = np.array([row for row in rows if np.all(np.isfinite(row))])
        if len(whole):
            found.append(_curve(arm.id, np.array(loads), whole, plan.has_rate))
    return tuple(found)


def _curve(
    arm: str, clients: NDArray[np.float64], rows: NDArray[np.float64], open_loop: bool
) -> LoadCurve:
    refused = _refusal(clients, rows, open_loop)
    return LoadCurve(
        arm=arm,
        blocks=len(rows),
        clients=tuple(clients.tolist()),
        tps=tuple(np.exp(rows.mean(axis=0)).tolist()),
        interval95=tuple(_interval(column) for column in rows.T),
        fit=None if refused else _fit(clients, rows),
        refused=refused,
    )


def _refusal(
    clients: NDArray[np.float64], rows: NDArray[np.float64], open_loop: bool
) -> Note | None:
    if open_loop:
        return Note("analysis/curves/open-loop")
    if len(clients) < FEWEST_LOADS:
        counts = {"fewest": FEWEST_LOADS, "number": len(clients)}
        return Note("analysis/curves/few-loads", counts)
    if len(rows) < FEWEST_BLOCKS:
        counts = {"fewest": FEWEST_BLOCKS, "number": len(rows)}
        return Note("analysis/curves/few-blocks", counts)
    if not np.any(np.ptp(rows, axis=0) > _ALIKE):
        return Note("analysis/curves/constant-blocks")
    return None


def _interval(column: NDArray[np.float64]) -> Interval | None:
    found = mean_with_interval(column)
    if found.low is None or found.high is None:
        return None
    return math.exp(min(found.low, 300.0)), math.exp(min(found.high, 300.0))


def scaling_law(
    clients: NDArray[np.float64], rate: float, contention: float, coherence: float
) -> NDArray[np.float64]:
    """Returns throughput by number of clients, as the universal scalability law has it."""
    less = clients - 1.0
    return rate * clients / (1.0 + contention * less + coherence * clients * less)


def fit_scaling_law(
    clients: NDArray[np.float64], log_tps: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Fits (rate, σ, κ) by non-negative least squares on log X."""
    from scipy import optimize  # a third of a second to load, which most commands can do without

    design = np.column_stack([np.ones_like(clients), clients - 1.0, clients * (clients - 1.0)])
    measured = clients / np.exp(log_tps)
    predicted = measured
    parameters = np.zeros(3)
    for _ in range(_STEPS):
        # log(measured) − log(predicted), to first order in the parameters.
        goal = 1.0 + np.log(measured / predicted)
        before, (parameters, _norm) = parameters, optimize.nnls(design / predicted[:, None], goal)
        predicted = np.maximum(design @ parameters, 1e-12 * measured)
        if np.abs(parameters - before).max() <= 1e-9 * parameters.max():
            break
    alone = max(float(parameters[0]), 1e-12 * float(measured.min()))
    return 1.0 / alone, float(parameters[1]) / alone, float(parameters[2]) / alone


def _fit(clients: NDArray[np.float64], rows: NDArray[np.float64]) -> ScalingFit:
    means = rows.mean(axis=0)
    point = np.array(_with_knee(clients, means))
    left_out = np.array(
        [_with_knee(clients, np.delete(rows, at, 0).mean(axis=0)) for at in range(len(rows))]
    )
    # Rate and knee are positive and vary by factors; σ and κ may be zero.
    by_ratio = (True, False, False, True, True)
    estimates = [
        jackknifed(float(point[k]), left_out[:, k], ratio=ratio) for k, ratio in enumerate(by_ratio)
    ]
    rate, contention, coherence = (float(value) for value in point[:3])
    residuals = means - np.log(scaling_law(clients, rate, contention, coherence))
    refused = _knee_refusal(estimates[3], float(clients[-1]))
    along = np.geomspace(clients[0], clients[-1], _POINTS)
    return ScalingFit(
        rate=estimates[0],
        contention=estimates[1],
        coherence=estimates[2],
        knee_clients=None if refused else estimates[3],
        knee_tps=None if refused else estimates[4],
        knee_refused=refused,
        misfit_pct=100.0 * float(np.sqrt(np.mean(residuals**2))),
        curve=tuple(
            zip(
                along.tolist(),
                scaling_law(along, rate, contention, coherence).tolist(),
                strict=True,
            )
        ),
    )


def _with_knee(clients: NDArray[np.float64], log_tps: NDArray[np.float64]) -> tuple[float, ...]:
    rate, contention, coherence = fit_scaling_law(clients, log_tps)
    knee, top = _NO_KNEE, _NO_KNEE
    if coherence > 0.0:
        knee = math.sqrt(max(1.0 - contention, 0.0) / coherence)
        at = np.array([max(knee, 1.0)])
        top = float(scaling_law(at, rate, contention, coherence)[0])
    return rate, contention, coherence, max(knee, 1.0), top


def _knee_refusal(knee: Estimate, most: float) -> Note | None:
    """Why there is no knee: it lies beyond the measured loads, or its interval has no end."""
    if not math.isfinite(knee.value) or knee.value > most:
        return Note("analysis/curves/knee-beyond", {"most": most})
    if knee.high is None or knee.high > 2.0 * most:
        return Note("analysis/curves/no-certain-fall", {"most": most})
    return None
