"""How much equal periods usually differ in a figure.

Enters: the changes of other pairs of periods, or the course of the figure inside both periods.
Leaves: a `Usual` difference, and the p of a change. Never: takes neighbouring stretches for
independent, or a change that one burst makes for a new level.

From other pairs: the 95 % prediction interval of one more pair (Student's t), around their mean.

From within: both periods are divided into stretches. The variance of a mean is that of the
stretches, times the factor by which autocorrelation raises it: a quantile of what the likelihood
allows (`statistics/inertia.py`), because a short series cannot tell slow waves from a new level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.observation.periods.figures import LIMITS
from pgassay.analysis.observation.periods.model import Usual
from pgassay.analysis.reading.binned import Floats
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.inertia import likely_inertia


@dataclass(frozen=True)
class Held:
    """A change held against what is usual."""

    usual: Usual
    times: float
    """The change less the usual one, in multiples of the usual reach."""
    p: float


def by_pairs(change: float, others: Floats) -> Held | None:
    """Returns a change against those of other pairs; None where these are too few."""
    known = others[np.isfinite(others)]
    number = len(known)
    if number < LIMITS["pairs"]:
        return None
    centre = float(known.mean())
    error = float(known.std(ddof=1)) * math.sqrt(1.0 + 1.0 / number)
    return _held(change - centre, error, number - 1.0, centre, number)


def within(change: float, first: Floats, second: Floats, floor: float) -> Held | None:
    """Returns a change against what the course inside both periods lets a mean vary; None where
    too few stretches of one were read. `first` and `second` are means of stretches."""
    series = [values[np.isfinite(values)] for values in (first, second)]
    if min(map(len, series)) < LIMITS["fewest_stretches"]:
        return None
    widening = _widening(series, floor)
    errors = [float(one.std(ddof=1)) * math.sqrt(widening / len(one)) for one in series]
    degrees = max(LIMITS["least_degrees"], sum(map(len, series)) / widening - 2.0)
    means = [float(one.mean()) for one in series]
    # On the scale of logarithms, and on that of the figure: one burst in a period is a large ratio
    # there and less than its own error here.
    ratio = math.hypot(*(error / (mean + floor) for error, mean in zip(errors, means, strict=True)))
    held = _held(change, ratio, degrees, 0.0, 0)
    plain = math.hypot(*errors)
    if not plain:
        return held
    t = abs(means[1] - means[0]) / plain
    p = max(held.p, 2.0 * float(special.stdtr(degrees, -t)))
    if t < float(special.stdtrit(degrees, 0.975)):
        times = math.copysign(min(abs(held.times), 1.0), held.times)
        return Held(held.usual, times, p)
    return Held(held.usual, held.times, p)


def _held(away: float, error: float, degrees: float, centre: float, pairs: int) -> Held:
    critical = float(special.stdtrit(degrees, 0.975))
    reach = max(critical * error, LIMITS["usual"])
    times = away / reach
    # By the reach, which a figure that hardly varies has from the limit.
    p = 2.0 * float(special.stdtr(degrees, -critical * abs(times)))
    return Held(Usual(centre, reach, pairs), times, p)


def _widening(series: list[Floats], floor: float) -> float:
    """Times by which autocorrelation raises the variance of a mean, at least 1; at most to that of
    a single stretch, because a few stretches fit any wave."""
    scaled = [one / (float(one.mean()) + floor) for one in series]
    values = np.concatenate(scaled)
    steps = np.repeat([0.0, 1.0], [len(one) for one in scaled])
    found = likely_inertia(values, np.column_stack([np.ones(len(values)), steps]))
    left = np.concatenate([one - one.mean() for one in scaled])
    variance = float(left @ left) / max(1, len(left) - 2)
    if found is None or variance <= 0.0:
        return 1.0
    widening = found.long_run_variance(LIMITS["likelihood"]) / variance
    return max(1.0, min(widening, len(values) / len(series)))
