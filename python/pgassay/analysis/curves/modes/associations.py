"""What goes with the slow modes of latency: checkpoints, and what the sessions waited for.

Enters: the latencies of trials, a boundary. Leaves: differences and shares with intervals over
trials. Never: tests a cause: neither checkpoints nor waits were varied.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.modes.model import ModeWait
from pgassay.analysis.measures.courses.latencies import Ages, ScenarioLatencies
from pgassay.analysis.statistics.intervals import mean_with_interval
from pgassay.analysis.statistics.values import Estimate

Array = NDArray[np.float64]
_RULES = tomllib.loads((files(__package__) / "latency_modes.toml").read_text("utf-8"))


def at_checkpoints(trials: Sequence[ScenarioLatencies], low: int) -> Estimate | None:
    """Per cent beyond the place while a checkpoint ran, less that of the rest of the time."""
    least, differences = _RULES["least_transactions"], []
    for one in trials:
        during, outside = one.at_checkpoints, one.counts - one.at_checkpoints
        if min(during.sum(), outside.sum()) >= least:
            shares = [100.0 * part[low:].sum() / part.sum() for part in (during, outside)]
            differences.append(shares[0] - shares[1])
    if len(differences) < _RULES["least_trials"]:
        return None
    return mean_with_interval(np.array(differences))


def waits_of(trials: Sequence[Ages], low: int) -> tuple[ModeWait, ...]:
    """Of transactions that had certainly lasted to the place, against those that may not have."""
    events = sorted({event for ages in trials for event in ages})
    if not events:
        return ()
    old, young = (
        np.array([[ages[e][part].sum() if e in ages else 0.0 for e in events] for ages in trials])
        for part in (slice(low, None), slice(0, low))
    )
    sampled = old[old.sum(axis=1) > 0.0]
    if old.sum() < _RULES["least_samples"] or len(sampled) < _RULES["least_trials"]:
        return ()
    shares = sampled / sampled.sum(axis=1, keepdims=True)
    found = []
    for at in np.argsort(-old.sum(axis=0), kind="stable"):
        if old[:, at].sum() < _RULES["least_wait"] * old.sum():
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
