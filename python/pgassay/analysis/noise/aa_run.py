"""The noise of a run, and the calibration that an A/A run gives.

Enters: the plan, the trials that count, their courses and summaries. Leaves: a `NoiseFloor`; of an
A/A run a `Calibration`. Never: changes a verdict, or judges the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import block_table
from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.noise.model import (
    Advice,
    Calibration,
    HostSteadiness,
    Noise,
    NoiseFloor,
    Outlook,
    SwitchbackNoise,
)
from pgassay.analysis.noise.switchback_noise import (
    advise_switchback,
    expected_of_switchback,
    overhead_with,
    switchback_floor,
    switchback_noise,
    whole_trials,
)
from pgassay.analysis.noise.trial_length import advise, advised_within, expected_of, trend_over
from pgassay.analysis.noise.trial_noise import noise_of
from pgassay.analysis.reading.metrics import METRICS
from pgassay.plan.model import Plan
from pgassay.plan.modes import BLOCKS
from pgassay.samples.forms.trial import TrialFile
from pgassay.spec.endpoints import PRIMARY_METRICS

Trials = Sequence[TrialMeasures]
Summaries = Sequence[TrialFile]
"""The contents of trial.json, one per trial."""


def noise_floor(
    plan: Plan, trials: Trials, courses: Sequence[TrialCourse], summaries: Summaries
) -> NoiseFloor | None:
    """The noise of each primary metric, and of the endpoints whose ratios are compared; of a
    switchback or duet that of the arms' differences."""
    if plan.alternates:
        floor = switchback_floor(plan, trials)
        return None if floor is None else NoiseFloor((), overhead_of(plan, summaries), floor)
    noises = []
    endpoints = [one.metric for one in plan.endpoints if METRICS[one.metric].scale == "ratio"]
    for metric in dict.fromkeys((*PRIMARY_METRICS, *endpoints)):
        table = block_table(METRICS[metric], trials, plan, None).complete()
        noise = noise_of(metric, table, courses, plan.measured_s, alike=plan.calibrates)
        if noise is not None:
            noises.append(noise)
    return NoiseFloor(tuple(noises), overhead_of(plan, summaries)) if noises else None


def calibrate(
    plan: Plan,
    trials: Trials,
    verdict: Comparison | None,
    floor: NoiseFloor | None,
    summaries: Summaries,
) -> Calibration | None:
    """Returns what an A/A run says of its experiment; None where it has too few blocks, or no
    scatter.

    `verdict` is the comparison of the two identical arms over whole trials.
    """
    if plan.alternates:
        found = _from_rounds(plan, trials, overhead_of(plan, summaries))
    else:
        found = _from_blocks(plan, floor)
    if found is None or verdict is None or verdict.effect_pct is None:
        return None
    experiment = plan.experiment()
    in_order = sorted(trials, key=lambda trial: trial.whole.start_ns)
    values = [t.whole.values[plan.metric] for t in in_order if plan.metric in t.whole.values]
    trend = trend_over([v for v in values if v > 0.0])
    return Calibration(
        noise=found.noise,
        effect_pct=verdict.effect_pct,
        ci95_pct=verdict.ci95_pct,
        p_sign_flip=verdict.p_sign_flip,
        outlook=found.outlook,
        arms=len(experiment.arms),
        least_blocks=plan.min_blocks,
        most_blocks=plan.max_blocks,
        in_blocks_instead=plan.mode != plan.held_mode,
        overhead_s=found.overhead_s,
        advice=found.advice,
        advised_within=advised_within(experiment),
        host=host_steadiness(summaries),
        trend_pct=None if trend is None else trend.pct,
        trend=trend,
        turns=found.switchback,
        advice_in_turns=found.switchback_advice,
        side_by_side=plan.side_by_side,
    )


@dataclass(frozen=True)
class _Found:
    """What depends on the design of the A/A run."""

    noise: Noise
    outlook: Outlook
    advice: Advice | None
    overhead_s: float
    switchback: SwitchbackNoise | None = None
    switchback_advice: Advice | None = None


def _from_blocks(plan: Plan, floor: NoiseFloor | None) -> _Found | None:
    noises = floor.metrics if floor else ()
    noise = next((noise for noise in noises if noise.metric == plan.metric), None)
    if floor is None or noise is None:
        return None
    experiment, overhead_s = plan.experiment(), floor.overhead_s
    advice = advise(noise, experiment, overhead_s)
    return _Found(noise, expected_of(noise, experiment), advice, overhead_s)


def _from_rounds(plan: Plan, trials: Trials, overhead_s: float) -> _Found | None:
    """Of a switchback also what blocks would take; the trials of a duet do not say that."""
    noise = noise_of(plan.metric, whole_trials(plan, trials), (), plan.measured_s, alike=True)
    rounds = switchback_noise(plan, trials)
    if noise is None or rounds is None:
        return None
    experiment = plan.experiment()
    if plan.side_by_side:
        overhead_s = overhead_with(len(experiment.arms), overhead_s, experiment)
        in_blocks = None
    else:
        in_blocks = advise(noise, replace(experiment, mode=BLOCKS), overhead_s)
    return _Found(
        noise=noise,
        outlook=expected_of_switchback(rounds, experiment),
        advice=in_blocks,
        overhead_s=overhead_s,
        switchback=rounds,
        switchback_advice=advise_switchback(rounds, experiment, overhead_s),
    )


def overhead_of(plan: Plan, summaries: Summaries) -> float:
    """Seconds of a trial that are not measured (reset, warm-up); the median over trials."""
    lasted = [
        (s.ended_ns - s.started_ns) / 1e9
        for s in summaries
        if s.started_ns is not None and s.ended_ns is not None
    ]
    return max(0.0, float(np.median(lasted)) - plan.measured_s) if lasted else 0.0


def host_steadiness(summaries: Summaries) -> HostSteadiness:
    """Compares the fingerprints around each trial (`fingerprint` in trial.json)."""
    prints = [summary.fingerprint for summary in summaries]
    splits = [one.processors for one in prints if one.processors is not None]
    steal = _shares((split.steal_s, split.all_s) for split in splits)
    others = _shares((split.foreign_user_s, split.all_s) for split in splits)
    looks = [look for one in prints for look in (one.before, one.after) if look is not None]
    hosts = [look.host for look in looks if look.host is not None]
    speeds = [host.frequency_mhz for host in hosts if host.frequency_mhz]
    heat = [host.throttled for host in hosts if host.throttled is not None]
    return HostSteadiness(
        steal_pct=float(np.mean(steal)) if steal else None,
        worst_steal_pct=max(steal, default=None),
        others_pct=float(np.mean(others)) if others else None,
        frequency_spread_pct=100.0 * float(np.std(speeds) / np.mean(speeds))
        if len(speeds) > 2
        else None,
        throttled=max(heat) - min(heat) if heat else None,
    )


def _shares(times: Iterable[tuple[float | None, float | None]]) -> list[float]:
    """(part, all) → shares of all processors' time in per cent, where both are known."""
    return [100.0 * part / whole for part, whole in times if whole and part is not None]
