"""The modes of each scenario's latency in each arm, what goes with them, and how levels differ.

Enters: the latencies of trials. Leaves: `LatencyModes` and `ModeContrast`s. Never: calls what goes
with a mode its cause; only the contrasts of levels, which were assigned at random, are tests.

`statistics/modes.py` decides how many modes there are. Shares, peaks and boundaries are taken in
each trial, so their intervals are over trials.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import pair_blocks
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.secondary import critical_for_many
from pgassay.analysis.curves.modes.model import LatencyMode, LatencyModes, ModeContrast, ModeWait
from pgassay.analysis.measures.courses.latencies import (
    ALL,
    GRID_STEP,
    Ages,
    ScenarioLatencies,
    TrialLatencies,
    middles_ms,
    place_ms,
)
from pgassay.analysis.statistics.intervals import mean_estimate, mean_with_interval
from pgassay.analysis.statistics.modes import LIMITS, Modes, find_modes
from pgassay.analysis.statistics.values import Estimate
from pgassay.notes import Note
from pgassay.plan.model import Plan

Array = NDArray[np.float64]
RULES = tomllib.loads((files(__package__) / "latency_modes.toml").read_text("utf-8"))
_PER_TENTH = 100.0 * float(np.log(1.1))


def latency_modes(
    plan: Plan, trials: Sequence[TrialLatencies]
) -> tuple[tuple[LatencyModes, ...], tuple[ModeContrast, ...]]:
    """Finds the modes of every scenario in every arm, all together last, and compares levels by
    scenario."""
    names = sorted({name for trial in trials for name in trial.scenarios}, key=_all_last)
    found = []
    for name in names:
        for arm in plan.arms:
            own = [t for t in trials if t.arm == arm.id and name in t.scenarios]
            if own:
                found.append(_modes(arm.id, name, own))
    return tuple(found), _contrasts(plan, trials, found)


def _all_last(name: str) -> tuple[bool, str]:
    return name == ALL, name


def _modes(arm: str, name: str, trials: Sequence[TrialLatencies]) -> LatencyModes:
    own = [trial.scenarios[name] for trial in trials]
    counts = np.array([one.counts for one in own])
    found = find_modes(counts, GRID_STEP, _coarseness(own))
    # Where the kernel sees a few transactions, and not the shape of a single one.
    fewest = RULES["fewest_shown"]
    shown = found.density > fewest / (counts.sum() * 2.0 * np.sqrt(np.pi) * found.bandwidth)
    places = np.flatnonzero(shown)[:: RULES["thinning"]]
    return LatencyModes(
        arm=arm,
        scenario=name,
        step=trials[0].step,
        trials=len(own),
        transactions=round(float(counts.sum())),
        mean_ms=mean_with_interval(np.array([one.mean_ms for one in own])),
        near_mean_pct=per_cent(np.array([_near_mean(one) for one in own])),
        modes=_described(found, trials, name),
        bandwidth=found.bandwidth,
        density=tuple(
            zip(
                middles_ms()[places].tolist(),
                (_PER_TENTH * found.density[places]).tolist(),
                strict=True,
            )
        ),
        refused=_refusal(counts),
    )


def _refusal(counts: Array) -> Note | None:
    """Why no second mode can be found."""
    trials, fewest = len(counts), LIMITS["fewest_trials"]
    if trials < fewest:
        return Note("analysis/curves/few-trials", {"trials": trials, "fewest": fewest})
    each, least = float(counts.sum(axis=1).mean()), 2 * LIMITS["least_values"]
    if each < least:
        return Note("analysis/curves/few-transactions", {"each": each, "least": least})
    return None


def _coarseness(trials: Sequence[ScenarioLatencies]) -> float:
    """The clock's step, relative to the latency that one in twenty is below."""
    resolution = max(one.resolution_ns for one in trials) / 1e6
    shares = np.cumsum(sum(one.counts for one in trials))
    low = int(np.searchsorted(shares, 0.05 * shares[-1]))
    return resolution / float(middles_ms()[low])


def _near_mean(one: ScenarioLatencies) -> float:
    near = RULES["near_mean"]
    middles = middles_ms()
    close = (middles >= (1.0 - near) * one.mean_ms) & (middles <= (1.0 + near) * one.mean_ms)
    return float(one.counts[close].sum() / one.counts.sum())


def _described(
    found: Modes, trials: Sequence[TrialLatencies], name: str
) -> tuple[LatencyMode, ...]:
    own = [trial.scenarios[name] for trial in trials]
    counts = np.array([one.counts for one in own])
    times = counts * middles_ms()
    described = []
    for at, (low, high) in enumerate(found.ranges):
        above = None
        if at:
            between = slice(found.peaks[at - 1], found.peaks[at] + 1)
            above = _latency(between.start + np.argmin(found.by_trial[:, between], axis=1))
        described.append(
            LatencyMode(
                peak_ms=_latency(low + np.argmax(found.by_trial[:, low:high], axis=1)),
                above_ms=above,
                share_pct=_share(counts, low, high),
                time_pct=_share(times, low, high),
                at_checkpoints_points=at_checkpoints(own, low) if at else None,
                waits=waits_of([one.ages for one in own], low) if at else (),
                scenarios=_scenarios(trials, low, high) if name == ALL else (),
            )
        )
    return tuple(described)


def _latency(places: NDArray[np.int64]) -> Estimate:
    """The geometric mean of the trials' places, in milliseconds."""
    mean = mean_with_interval(places.astype(np.float64))
    ends = (None if end is None else place_ms(end + 0.5) for end in (mean.low, mean.high))
    return Estimate(place_ms(mean.value + 0.5), *ends)


def _share(values: Array, low: int, high: int) -> Estimate:
    """Of a range, in per cent."""
    return per_cent(values[:, low:high].sum(axis=1) / values.sum(axis=1))


def _scenarios(
    trials: Sequence[TrialLatencies], low: int, high: int
) -> tuple[tuple[str, float], ...]:
    """Largest first."""
    names = sorted({name for trial in trials for name in trial.scenarios} - {ALL})
    counts = np.array(
        [
            [t.scenarios[n].counts[low:high].sum() if n in t.scenarios else 0.0 for n in names]
            for t in trials
        ]
    )
    shares = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)).mean(axis=0)
    ranked = sorted(zip(names, (100.0 * shares).tolist(), strict=True), key=lambda one: -one[1])
    return tuple(ranked)


def _contrasts(
    plan: Plan, trials: Sequence[TrialLatencies], found: Sequence[LatencyModes]
) -> tuple[ModeContrast, ...]:
    """Every level at every boundary of each scenario, but for all scenarios together.

    The intervals hold together (Bonferroni) and, in a run that may end early, at every look.
    """
    paired = []
    for name in dict.fromkeys(one.scenario for one in found if one.scenario != ALL):
        # One set of boundaries, so that shares of all arms are of the same thing.
        own = max((one for one in found if one.scenario == name), key=lambda one: len(one.modes))
        bounds = [mode.above_ms.value for mode in own.modes if mode.above_ms is not None]
        if not bounds:
            continue
        slower = {
            (trial.block, trial.arm): _slower(trial.scenarios[name], bounds)
            for trial in trials
            if name in trial.scenarios
        }
        for factor in plan.factors:
            for level in factor.levels[1:]:
                pairs = pair_blocks(slower, plan, factor, level)
                if pairs is not None and len(pairs.level) >= LIMITS["fewest_trials"]:
                    paired += [(own, at, b, factor, level, pairs) for at, b in enumerate(bounds)]
    return tuple(
        ModeContrast(
            factor=factor.name,
            baseline=factor.baseline,
            level=level,
            scenario=own.scenario,
            boundary_arm=own.arm,
            slower_than_ms=bound,
            blocks=len(pairs.level),
            baseline_pct=float(pairs.baseline[:, at].mean()),
            level_pct=float(pairs.level[:, at].mean()),
            points=mean_estimate(
                pairs.differences[:, at],
                critical_for_many(rule_of(plan), len(pairs.level), 0.05 / len(paired)),
            ),
        )
        for own, at, bound, factor, level, pairs in paired
    )


def _slower(one: ScenarioLatencies, bounds: Sequence[float]) -> Array:
    """The per cent of transactions beyond each boundary."""
    places = [int(np.searchsorted(middles_ms(), bound)) for bound in bounds]
    return np.array([100.0 * one.counts[at:].sum() / one.counts.sum() for at in places])


def at_checkpoints(trials: Sequence[ScenarioLatencies], low: int) -> Estimate | None:
    """Returns the per cent beyond the place while a checkpoint ran, less that of the rest of the
    time."""
    least, differences = RULES["least_transactions"], []
    for one in trials:
        during, outside = one.at_checkpoints, one.counts - one.at_checkpoints
        if min(during.sum(), outside.sum()) >= least:
            shares = [100.0 * part[low:].sum() / part.sum() for part in (during, outside)]
            differences.append(shares[0] - shares[1])
    if len(differences) < RULES["least_trials"]:
        return None
    return mean_with_interval(np.array(differences))


def waits_of(trials: Sequence[Ages], low: int) -> tuple[ModeWait, ...]:
    """Compares the waits of transactions that had certainly lasted to the place with those of
    others."""
    events = sorted({event for ages in trials for event in ages})
    if not events:
        return ()
    old, young = (
        np.array([[ages[e][part].sum() if e in ages else 0.0 for e in events] for ages in trials])
        for part in (slice(low, None), slice(0, low))
    )
    sampled = old[old.sum(axis=1) > 0.0]
    if old.sum() < RULES["least_samples"] or len(sampled) < RULES["least_trials"]:
        return ()
    shares = sampled / sampled.sum(axis=1, keepdims=True)
    found = []
    for at in np.argsort(-old.sum(axis=0), kind="stable"):
        if old[:, at].sum() < RULES["least_wait"] * old.sum():
            break
        otherwise = 100.0 * float(young[:, at].sum() / young.sum()) if young.sum() else None
        found.append(ModeWait(events[at], per_cent(shares[:, at]), otherwise))
    return tuple(found)


def per_cent(shares: Array) -> Estimate:
    """The mean of shares, in per cent, its interval cut at what a share can be."""
    mean = mean_with_interval(100.0 * shares)
    if mean.low is None or mean.high is None:
        return mean
    return Estimate(mean.value, max(mean.low, 0.0), min(mean.high, 100.0))
