"""The modes of a positive quantity that many trials sampled: how many, and where they meet.

Enters: counts on a logarithmic grid, a row per trial. Leaves: `Modes`: peaks and boundaries.
Never: takes a peak of one trial, or of all trials together, for a mode that trials agree on.

The density of the logarithm is estimated with a Gaussian kernel (Silverman 1986; his rule of thumb
with the values of the smallest trial, which smooths too much rather than too little where there are
several modes). A peak of the mean density is a candidate by its prominence over the valley towards
a higher peak. It stays only if trials agree. For each trial, peak and valley are located in the
*other* trials and compared in this one, as is done for the depth of a checkpoint's dip: a maximum
and a minimum that are searched and measured in the same noise always differ. Over trials, the mean
of the logarithm of peak to valley must reach a smallest dip, must be above zero by Student's test,
and must be above zero in nearly all of them.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special

Array = NDArray[np.float64]
LIMITS = tomllib.loads((files(__package__) / "modes.toml").read_text("utf-8"))
_PSEUDO = 0.5
"""Values added to each place, so that an empty valley has a logarithm."""
_QUARTILES_OF_NORMAL = 1.349


@dataclass(frozen=True)
class Modes:
    """Places on the grid, ascending."""

    peaks: tuple[int, ...]
    valleys: tuple[int, ...]
    """The lowest place between each pair of neighbouring peaks: the first place of the upper."""
    bandwidth: float
    """Standard deviation of the kernel, in logarithms."""
    density: Array
    """Mean over trials, per unit of the logarithm."""
    by_trial: Array
    """The same of each trial."""

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First place of each mode, and the place after its last."""
        edges = [0, *self.valleys, len(self.density)]
        return list(pairwise(edges))


def find_modes(counts: Array, step: float, coarseness: float = 0.0) -> Modes:
    """The modes of trials × places; `step` is the grid's in logarithms.

    `coarseness` is the distance of values that a clock can tell apart, in logarithms where most
    values are small: a smaller bandwidth would show its ticks.
    """
    bandwidth = max(_bandwidth(counts, step), LIMITS["least_bandwidth"], coarseness)
    totals = counts.sum(axis=1, keepdims=True)
    smooth = _smoothed(counts, bandwidth / step)
    # How many values the kernel sees at each place, were they evenly spread.
    seen = smooth * (2.0 * math.sqrt(math.pi) * bandwidth / step)
    by_trial = smooth / totals / step
    least_share = max(LIMITS["least_share"], LIMITS["least_values"] / float(totals.mean()))
    found = _agreed(by_trial, seen, least_share / step)
    density = by_trial.mean(axis=0)
    return Modes(tuple(found), tuple(_valleys(density, found)), bandwidth, density, by_trial)


def _smoothed(counts: Array, width: float) -> Array:
    """Each row under a normal kernel of so many places, with nothing beyond its ends."""
    # scipy.ndimage does the same, after a tenth of a second of imports.
    reach = round(4.0 * width)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    return np.array([np.convolve(row, kernel / kernel.sum())[reach:-reach] for row in counts])


def _bandwidth(counts: Array, step: float) -> float:
    """Silverman's rule for the mean of the trials, with the values of the smallest of them."""
    shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    places = (np.arange(len(shares)) + 0.5) * step
    mean = float(shares @ places)
    deviation = math.sqrt(float(shares @ (places - mean) ** 2))
    low, high = np.interp([0.25, 0.75], np.cumsum(shares), places)
    spread = min(deviation, float(high - low) / _QUARTILES_OF_NORMAL) or deviation
    return float(LIMITS["silverman"] * spread * counts.sum(axis=1).min() ** -0.2)


def _agreed(by_trial: Array, seen: Array, least_area: float) -> list[int]:
    """The peaks of the mean density that trials agree on; the highest always is one."""
    density = by_trial.mean(axis=0)
    mean = np.log(density + _floor(by_trial, seen))
    highest = int(np.argmax(mean))
    if len(by_trial) < LIMITS["fewest_trials"]:
        return [highest]
    least = -math.log(1.0 - LIMITS["least_dip"])
    rising = np.diff(mean) > 0.0
    tops = (np.flatnonzero(rising[:-1] & ~rising[1:]) + 1).tolist()
    found = [_Peak.of(mean, at) for at in tops if mean[at] < mean[highest]]
    candidates = [
        one
        for one in found
        if mean[one.at] - mean[one.valley] >= least and density[one.around].sum() >= least_area
    ]
    # Each has its chance to look like a mode in all trials.
    alpha = LIMITS["alpha"] / max(len(candidates), 1)
    agreed = (one.at for one in candidates if _is_a_dip(_dips(by_trial, seen, one), least, alpha))
    return sorted([highest, *agreed])


@dataclass(frozen=True)
class _Peak:
    """A peak that is not the highest, on the mean density."""

    at: int
    valley: int
    """The lowest place on the way to a higher peak, on the side where it is less low."""
    higher: int
    """Where on that side the density is as high again."""
    around: slice
    """The places of the peak, from the valley on one side to that on the other."""

    @classmethod
    def of(cls, mean: Array, at: int) -> _Peak:
        higher = np.flatnonzero(mean > mean[at])
        below, above = higher[higher < at], higher[higher > at]
        sides = [int(side) for side in (*below[-1:], *above[:1])]
        valleys = {side: _lowest(mean, at, side) for side in sides}
        key = max(sides, key=lambda side: mean[valleys[side]])
        around = slice(
            valleys[int(below[-1])] if len(below) else 0,
            valleys[int(above[0])] + 1 if len(above) else len(mean),
        )
        return cls(at, valleys[key], key, around)


def _floor(by_trial: Array, seen: Array) -> float:
    """The density of `_PSEUDO` values in all trials together."""
    most = int(np.argmax(by_trial.mean(axis=0)))
    return _PSEUDO * float(by_trial[:, most].mean() / max(seen[:, most].sum(), 1.0))


def _dips(by_trial: Array, seen: Array, peak: _Peak) -> Array:
    """ln(peak ÷ valley) of each trial, both where the other trials have them."""
    between = slice(min(peak.at, peak.higher), max(peak.at, peak.higher) + 1)
    found = []
    for at, own in enumerate(seen):
        others = np.delete(by_trial, at, axis=0).mean(axis=0)
        top = peak.around.start + int(np.argmax(others[peak.around]))
        valley = between.start + int(np.argmin(others[between]))
        found.append(math.log((own[top] + _PSEUDO) / (own[valley] + _PSEUDO)))
    return np.array(found)


def _lowest(mean: Array, peak: int, side: int) -> int:
    first, last = min(peak, side), max(peak, side)
    return first + int(np.argmin(mean[first : last + 1]))


def _is_a_dip(dips: Array, least: float, alpha: float) -> bool:
    n = len(dips)
    if dips.mean() < least or np.sum(dips > 0.0) < math.ceil(LIMITS["trials"] * n):
        return False
    error = float(dips.std(ddof=1)) / math.sqrt(n)
    return float(dips.mean()) > float(special.stdtrit(n - 1, 1.0 - alpha)) * error


def _valleys(density: Array, peaks: list[int]) -> list[int]:
    return [low + int(np.argmin(density[low:high])) for low, high in pairwise(peaks)]
