"""Simulated trials that differ from each other, or between arms: rows of `estimates.py`.

Enters: how many experiments. Leaves: coverage of intervals, and false positives.
Never: touches a server.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.tables import Aim, rate
from bench.validate.within_trials.courses import (
    BASE_TPS,
    CHECKPOINTS_S,
    course_of,
    dip,
    inert_noise,
)
from pgassay.analysis.curves import association
from pgassay.analysis.curves.checkpoints import effect as checkpoint_effect
from pgassay.analysis.curves.model import CheckpointContrast
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.statistics.values import Estimate
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

Row = tuple[str, str, str, str]
CORRELATION, APART, SAMPLES = 0.4, 0.15, 300.0
"""Of a series with throughput on average; how far trials are from it, in Fisher's z; in each."""
_LAG_S = (0.0,)


def disagreeing(runs: int, trials: int) -> Iterable[Row]:
    """Trials whose true correlations differ: the interval is of their mean."""
    source = np.random.default_rng(trials)
    weights: NDArray[np.float64] = np.full((trials, 1, 1), SAMPLES - 3.0)
    truth, covers = np.arctanh(CORRELATION), []
    for _ in range(runs):
        spread = np.hypot(APART, 1.0 / np.sqrt(SAMPLES - 3.0))
        z = truth + spread * source.standard_normal((trials, 1, 1))
        found = association._pooled(["s0"], z, weights, _LAG_S, "tps")
        # Not reported is not wrong.
        covers.append(not found or found[0].ci95[0] <= CORRELATION <= found[0].ci95[1])
    yield (
        "correlation of trials that disagree, interval holds",
        f"{trials} trials",
        "93 % or more",
        rate(sum(covers), runs, Aim(93.0, 100.0)),
    )


def checkpoints_of_two(runs: int, blocks: int) -> Iterable[Row]:
    """Two arms whose checkpoints cost the same, and two of which one's cost more."""
    plan = _plan(blocks)
    source = np.random.default_rng(blocks)
    truth = BASE_TPS * float((dip(120, [20.0], 0.3, 8.0) - dip(120, [20.0], 0.4, 8.0)).sum())
    false, covers = 0, 0
    for _ in range(runs):
        (same,) = _contrasts(plan, source, 0.3)
        false += _excludes_zero(same.depth_points) or _excludes_zero(same.lost_transactions)
        (more,) = _contrasts(plan, source, 0.4)
        lost = more.lost_transactions
        covers += lost.low is not None and lost.high is not None and lost.low <= truth <= lost.high
    where = f"{blocks} blocks"
    yield (
        "checkpoints of identical arms called different",
        where,
        "5 % or less",
        rate(false, runs, Aim(0.0, 5.0)),
    )
    yield (
        "transactions lost more than the baseline, interval holds",
        where,
        "95 % or more",
        rate(covers, runs, Aim(95.0, 100.0)),
    )


def _contrasts(
    plan: Plan, source: np.random.Generator, depth: float
) -> tuple[CheckpointContrast, ...]:
    """Contrasts of a level with this depth against a baseline with 30 %."""
    courses: list[TrialCourse] = []
    for trial in plan.trials:
        noise = np.exp(0.05 * inert_noise(source, 1, 120, 0.8)[0])
        own = 0.3 if trial.arm == plan.arms[0].id else depth
        tps = BASE_TPS * noise * dip(120, CHECKPOINTS_S, own, 8.0)
        course = course_of(tps, number=trial.block, arm=trial.arm, checkpoints_s=CHECKPOINTS_S)
        courses.append(course)
    return checkpoint_effect.checkpoint_effects(plan, courses)[1]


def _excludes_zero(estimate: Estimate) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and not low <= 0.0 <= high


def _plan(blocks: int) -> Plan:
    text = (
        "[factors.postgres]\nwal_compression = ['off', 'on']\n"
        "[load]\nclients = 8\nstep = '120s'\n"
        f"[design]\nmin_blocks = {blocks}\nmax_blocks = {blocks}\nseed = 1\n"
    )
    return make_plan(parse_spec(text, source="simulated", beside=Path()))
