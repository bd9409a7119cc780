"""What an A/A run says of its experiment: what it can detect, and how long trials should be.

Enters: the noise of an A/A run, the plan of its experiment. Leaves: outlook, trend, advice. Never:
judges the host (findings/noise/fitness.py does).

Advice: a trial costs its reset and warm-up besides its seconds. Kalibera and Jones' optimum for two
levels, `T = √(overhead · second_sd² ÷ start_sd²)`, is where a further second and a further start
are worth the same. As blocks are whole and have a least number, the lengths in trial_length.toml
are tried one by one under the rule that the run will be judged by, and the quickest is advised.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.noise.model import Advice, Noise, Outlook, RunTrend
from pgassay.analysis.noise.power import blocks_for, blocks_spreading, outlook
from pgassay.plan.model import Plan

_LENGTHS_S: list[float] = tomllib.loads(
    (files(__package__) / "trial_length.toml").read_text("utf-8")
)["lengths_s"]
FEWEST_BLOCKS = 6
"""With fewer blocks their spread is too uncertain."""
_FEWEST_IN_A_TREND = 5
"""Trials: the most extreme order of four occurs by chance in more than 5 %."""
_MOST_BLOCKS = 200
"""A length of trial that needs more is not advised."""


def advised_within(plan: Plan) -> int:
    """Most blocks that may be advised: up to the last look of a group-sequential run."""
    return plan.looks[-1] if plan.stops == "group-sequential" else _MOST_BLOCKS


def advise(noise: Noise, plan: Plan, overhead_s: float) -> Advice | None:
    """The length of trial that decides soonest; the plan's where it is within a tenth of that.

    Never fewer than the plan's least blocks, except that a fixed number may be replaced.
    """
    rule, now_s = rule_of(plan), plan.measured_s
    least = FEWEST_BLOCKS if plan.stops == "fixed" else max(plan.min_blocks, FEWEST_BLOCKS)
    most = max(advised_within(plan), least)
    if noise.second_sd is None or noise.start_sd is None:
        lengths = [now_s]
    else:
        lengths = lengths_to_try(now_s)
    tried: list[Advice] = []
    for length in lengths:
        spread = blocks_spreading(plan, noise.trial_sd_at(length))
        blocks = blocks_for(rule, spread, least, most)
        if blocks is not None:
            total = len(plan.arms) * blocks * (length + overhead_s)
            optimum = optimum_s(noise.start_sd, noise.second_sd, overhead_s)
            tried.append(Advice(length, blocks, total, optimum))
    return quickest(tried, now_s)


def lengths_to_try(now_s: float, least_s: float = 0.0) -> list[float]:
    """Lengths of trial from `least_s` on, the present one included."""
    return sorted({*(length for length in _LENGTHS_S if length >= least_s), now_s})


def quickest(tried: Sequence[Advice], now_s: float) -> Advice | None:
    """The quickest of several lengths; the present one where it is within a tenth of that."""
    if not tried:
        return None
    best = min(tried, key=lambda one: one.total_s)
    return next((t for t in tried if t.trial_s == now_s and t.total_s <= 1.1 * best.total_s), best)


def optimum_s(start_sd: float | None, second_sd: float | None, overhead_s: float) -> float | None:
    """Kalibera and Jones' optimum in seconds."""
    if not start_sd or second_sd is None:
        return None
    return math.sqrt(overhead_s) * second_sd / start_sd


def trend_over(values: Sequence[float]) -> RunTrend | None:
    """The Theil-Sen line through all trials in their order, with Sen's interval.

    The interval inverts Kendall's test: without drift all orders of the trials are equally likely.
    """
    if len(values) < _FEWEST_IN_A_TREND:
        return None
    from scipy import stats  # a second to load, which most commands can do without

    logs = np.log(np.array(values))
    line = stats.theilslopes(logs, np.arange(len(logs)), alpha=0.95)
    ends = (line.slope, line.low_slope, line.high_slope)
    pct, low, high = (100.0 * math.expm1(float(end) * (len(logs) - 1)) for end in ends)
    return RunTrend(pct, (low, high))


def expected_of(noise: Noise, plan: Plan) -> Outlook:
    """Forecasts what this experiment can be expected to find with such noise."""
    spread = blocks_spreading(plan, noise.trial_sd_at(plan.measured_s))
    return outlook(rule_of(plan), spread, plan.min_blocks, plan.max_blocks)
