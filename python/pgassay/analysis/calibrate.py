"""The noise of a run, and the calibration of an A/A run.

Enters: its plan, its analysis, the trials that count and their courses. Leaves: the analysis with
its noise, and its `Calibration` where it is an A/A run. Never: changes a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pgassay.analysis.calibration import advise, advised_within, expected_of, trend_over
from pgassay.analysis.calibration_model import (
    Advice,
    Calibration,
    HostSteadiness,
    Noise,
    NoiseFloor,
    Outlook,
    TurnNoise,
)
from pgassay.analysis.contrasts import block_table
from pgassay.analysis.course import TrialCourse
from pgassay.analysis.host_steadiness import host_steadiness
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import Analysis, Doubt
from pgassay.analysis.noise import noise_of
from pgassay.analysis.turn_noise import (
    advise_turns,
    expected_of_turns,
    overhead_with,
    turn_floor,
    turn_noise,
    whole_trials,
)
from pgassay.plan.model import Plan
from pgassay.plan.modes import BLOCKS

PRIMARY = ("tps", "latency_mean", "latency_p50", "latency_p95", "latency_p99")
"""Metrics that an experiment may be about."""


def with_noise(
    analysis: Analysis,
    plan: Plan,
    courses: Sequence[TrialCourse],
    summaries: Sequence[Mapping[str, Any]],
) -> Analysis:
    """The same analysis; with a doubt where an A/A run is too small to say anything.

    Where arms take turns inside trials, the noise is that of their differences, and an A/A run of
    such an experiment is calibrated by its rounds.
    """
    if plan.alternates:
        turns = turn_floor(plan, analysis.trials)
        floor = None if turns is None else NoiseFloor((), overhead_of(plan, summaries), turns)
        analysis = replace(analysis, noise=floor)
        return _calibrated_turns(analysis, plan, summaries) if plan.calibrates else analysis
    noises = []
    for metric in PRIMARY:
        table = block_table(METRICS[metric], analysis.trials, plan, None).complete()
        noise = noise_of(metric, table, courses, plan.measured_s, alike=plan.calibrates)
        if noise is not None:
            noises.append(noise)
    floor = NoiseFloor(tuple(noises), overhead_of(plan, summaries)) if noises else None
    analysis = replace(analysis, noise=floor)
    return _calibrated(analysis, floor, plan, summaries) if plan.calibrates else analysis


def _calibrated(
    analysis: Analysis,
    floor: NoiseFloor | None,
    plan: Plan,
    summaries: Sequence[Mapping[str, Any]],
) -> Analysis:
    noises = floor.metrics if floor else ()
    noise = next((noise for noise in noises if noise.metric == plan.metric), None)
    if floor is None or noise is None:
        return _too_small(analysis)
    experiment = plan.experiment()
    return _with_calibration(
        analysis,
        plan,
        host_steadiness(summaries),
        noise=noise,
        outlook=expected_of(noise, experiment),
        advice=advise(noise, experiment, floor.overhead_s),
        overhead_s=floor.overhead_s,
    )


def _calibrated_turns(
    analysis: Analysis, plan: Plan, summaries: Sequence[Mapping[str, Any]]
) -> Analysis:
    table = whole_trials(plan, analysis.trials)
    noise = noise_of(plan.metric, table, (), plan.measured_s, alike=True)
    turns = turn_noise(plan, analysis.trials)
    if noise is None or turns is None:
        return _too_small(analysis)
    experiment, overhead_s = plan.experiment(), overhead_of(plan, summaries)
    if plan.side_by_side:
        overhead_s = overhead_with(len(experiment.arms), overhead_s, experiment)
        in_blocks = None
    else:
        in_blocks = advise(noise, replace(experiment, mode=BLOCKS), overhead_s)
    return _with_calibration(
        analysis,
        plan,
        host_steadiness(summaries),
        noise=noise,
        outlook=expected_of_turns(turns, experiment),
        advice=in_blocks,
        turns=turns,
        advice_in_turns=advise_turns(turns, experiment, overhead_s),
        overhead_s=overhead_s,
    )


def _too_small(analysis: Analysis) -> Analysis:
    doubt = Doubt("calibration", "too few complete blocks, or trials that do not differ at all")
    return replace(analysis, warnings=(*analysis.warnings, doubt))


def _with_calibration(
    analysis: Analysis,
    plan: Plan,
    host: HostSteadiness,
    *,
    noise: Noise,
    outlook: Outlook,
    advice: Advice | None,
    overhead_s: float,
    turns: TurnNoise | None = None,
    advice_in_turns: Advice | None = None,
) -> Analysis:
    verdict = next((v for v in analysis.verdicts() if v.step is None), None)
    if verdict is None or verdict.effect_pct is None:
        return _too_small(analysis)
    experiment = plan.experiment()
    in_order = sorted(analysis.trials, key=lambda trial: trial.whole.start_ns)
    values = [t.whole.values[plan.metric] for t in in_order if plan.metric in t.whole.values]
    trend = trend_over([v for v in values if v > 0.0])
    return replace(
        analysis,
        calibration=Calibration(
            noise=noise,
            effect_pct=verdict.effect_pct,
            ci95_pct=verdict.ci95_pct,
            p_sign_flip=verdict.p_sign_flip,
            outlook=outlook,
            arms=len(experiment.arms),
            least_blocks=plan.min_blocks,
            most_blocks=plan.max_blocks,
            in_blocks_instead=plan.mode != plan.held_mode,
            overhead_s=overhead_s,
            advice=advice,
            advised_within=advised_within(experiment),
            host=host,
            trend_pct=None if trend is None else trend.pct,
            trend=trend,
            turns=turns,
            advice_in_turns=advice_in_turns,
            side_by_side=plan.side_by_side,
        ),
    )


def overhead_of(plan: Plan, summaries: Sequence[Mapping[str, Any]]) -> float:
    """Seconds of a trial that are not measured, the median of those that were run."""
    lasted = [(s["ended_ns"] - s["started_ns"]) / 1e9 for s in summaries if _is_timed(s)]
    return max(0.0, float(np.median(lasted)) - plan.measured_s) if lasted else 0.0


def _is_timed(summary: Mapping[str, Any]) -> bool:
    return summary.get("started_ns") is not None and summary.get("ended_ns") is not None
