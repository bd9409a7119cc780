"""Simulated trials: fluctuating seconds, checkpoints, server starts, a drifting host.

Enters: a world, a generator. Leaves: logarithms of the throughput of whole trials.
Never: depends on the rule that judges them.

A trial is ten minutes of autocorrelated seconds (AR(1)) with dips at checkpoints, a random effect
of its server start, and a host whose speed drifts over the run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import signal

Array = NDArray[np.float64]
SECONDS = 600
SPREAD = 0.03
"""Standard deviation of a second."""
DIP, DIP_S = 0.2, 60
"""How far a checkpoint takes throughput down, and how long it takes to come back."""
STALLS, STALL_S = 2.0, 3.0
"""Of a trial, on average; how long one lasts on average."""


@dataclass(frozen=True)
class World:
    """The parameters of one run."""

    name: str
    memory: float = 0.95
    """Of a second, from the one before."""
    start: float = 0.01
    """Standard deviation of a start's luck."""
    drift_per_h: float = 0.01
    cycle_s: int = 300
    """From checkpoint to checkpoint; each trial begins anywhere in the cycle."""
    stalls: bool = False
    lost: float = 0.0
    """Share of trials without a result."""
    levels: int = 2


BASE = World("as the reference")
WORLDS = (
    World("seconds without memory", memory=0.0),
    World("seconds with a memory of 0.99", memory=0.99),
    *(World(f"starts differ by {100 * start:g} %", start=start) for start in (0.0, 0.03)),
    World("checkpoints cut by the trial's edges", cycle_s=420),
    World("stalls", stalls=True),
    World("one trial of twenty is lost", lost=0.05),
    World("4 levels", levels=4),
)


def log_throughput(world: World, trials: int, source: np.random.Generator) -> Array:
    """Of so many trials of one run, in their order; NaN where a trial is lost."""
    seconds = SPREAD * _remembering(world, trials, source)
    phases = source.integers(0, world.cycle_s, trials)
    places = (phases[:, None] + np.arange(SECONDS)) % world.cycle_s
    shape = 1.0 - DIP * np.clip(1.0 - np.arange(world.cycle_s) / DIP_S, 0.0, 1.0)
    means = (np.exp(seconds) * shape[places]).mean(axis=1)
    if world.stalls:
        count = source.poisson(STALLS, trials)
        means *= 1.0 - STALL_S * source.standard_gamma(np.maximum(count, 1e-9)) / SECONDS
    found: Array = np.log(means) + world.start * source.standard_normal(trials)
    found[source.random(trials) < world.lost] = np.nan
    return found


def drift_of(world: World, number: int) -> float:
    """What the host has drifted by at a trial of this number, a minute between trials."""
    return world.drift_per_h * number * (SECONDS + 60) / 3600


def _remembering(world: World, rows: int, source: np.random.Generator) -> Array:
    """Series of standard deviation 1, stationary from their first second on."""
    draws = source.standard_normal((rows, SECONDS))
    own = math.sqrt(1.0 - world.memory**2)
    draws[:, 0] /= own
    found: Array = signal.lfilter([own], [1.0, -world.memory], draws, axis=1)
    return found
