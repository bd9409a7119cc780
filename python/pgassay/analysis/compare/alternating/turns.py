"""The order of arms in the slices of a switchback, and what each round shows of a slow effect.

Enters: the plan, the trials. Leaves: `Turns`. Never: sees a measured value.

With a time constant t, what is felt moves from the arm before to the arm of the slice by
1 − exp(−s/t) within s seconds, so a round shows only a share of the effect, which follows from the
order of its arms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.model import CUT, TrialMeasures
from pgassay.plan.model import Plan

Array = NDArray[np.float64]

TIMES_S = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0)
"""Time constants that are taken into account; effects that take longer need blocks."""


def arms_of(plan: Plan, trial: TrialMeasures) -> NDArray[np.int64]:
    """Returns the number of the arm, from 0, in each slice of a trial."""
    ids = tuple(arm.id for arm in plan.arms)
    if ids not in trial.worked_out:
        number = {arm: at for at, arm in enumerate(ids)}
        trial.worked_out[ids] = np.array([number[turn.arm] for turn in trial.turns], dtype=np.int64)
    found: NDArray[np.int64] = trial.worked_out[ids]
    return found


@dataclass(frozen=True)
class Turns:
    """The order of arms in the trials of a switchback."""

    arms: tuple[NDArray[np.int64], ...]
    """Of each trial: the number of the arm, from 0, in each slice."""
    slice_s: tuple[float, ...]
    """Of each trial."""
    count: int
    """Of arms."""

    @classmethod
    def of(cls, plan: Plan, trials: Sequence[TrialMeasures]) -> Turns:
        length = {planned.block: planned.slice_s or 0.0 for planned in plan.trials}
        return cls(
            tuple(arms_of(plan, trial) for trial in trials),
            tuple(length[trial.block] for trial in trials),
            len(plan.arms),
        )

    def lengths(self) -> Array:
        """Returns the length of slices in every round of all trials, in seconds."""
        return np.repeat(self.slice_s, [self._rounds(arms) for arms in self.arms])

    def shares(self, weights: Array) -> Array:
        """Returns the share of a contrast that every round shows: a row per time constant.

        Where the first slice of a trial begins, all arms are felt alike.
        """
        found = [
            self._of_trial(weights[arms], slice_s)
            for arms, slice_s in zip(self.arms, self.slice_s, strict=True)
        ]
        shares: Array = np.concatenate(found, axis=1) / float(weights @ weights)
        return shares

    def _of_trial(self, aims: Array, slice_s: float) -> Array:
        return _shares_of_trial(aims.astype(np.float64).tobytes(), slice_s, self.count)

    def _rounds(self, slices: NDArray[np.int64] | Array) -> int:
        return -(-len(slices) // self.count)


@lru_cache(maxsize=4096)
def _shares_of_trial(aims: bytes, slice_s: float, count: int) -> Array:
    """Of every round, a row per time constant; remembered, because a run is analysed after every
    block and its trials stay."""
    values = np.frombuffer(aims, dtype=np.float64)
    rounds = -(-len(values) // count)
    rows = np.empty((len(TIMES_S), rounds))
    for row, time_s in enumerate(TIMES_S):
        seen = _seen(values, slice_s, time_s) * values
        rows[row] = np.add.reduceat(seen, np.arange(rounds) * count) if rounds else 0.0
    rows.flags.writeable = False
    return rows


def _seen(aims: Array, slice_s: float, time_s: float) -> Array:
    """The mean over the kept part of every slice of what moves towards the slices' own values."""
    if time_s == 0.0 or not len(aims):
        return aims
    from scipy.signal import lfilter  # half a second to load; most analyses of blocks need none

    left = math.exp(-slice_s / time_s)
    at_end = lfilter([1.0 - left], [1.0, -left], aims)
    before = np.concatenate([[0.0], at_end[:-1]])
    kept = time_s / ((1.0 - CUT) * slice_s) * (math.exp(-CUT * slice_s / time_s) - left)
    seen: Array = aims + (before - aims) * kept
    return seen
