"""From values to pixels, and which round values an axis names.

Enters: an axis, the extent of its data, its length. Leaves: a `Scale`, ticks with their texts.
Never: draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from pgassay.language import localised
from pgassay.report.svg.model import Axis, Kind, Values

_TIME_STEPS_S = (
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10800,
    21600,
    43200,
    86400,
    172800,
    604800,
)
_DAY_S = 86400
_FAR_PX = 100_000.0
"""Nothing is drawn farther out: an endless interval has an end there that nobody sees."""
_NARROW = 5
"""Up to this ratio of its ends a logarithmic axis names even steps; few of 1, 2, 5 × 10ⁿ fit in."""


@dataclass(frozen=True)
class Scale:
    """Value → pixel, linear in the value or in its logarithm."""

    kind: Kind
    low: float
    high: float
    start: float
    """The pixel of `low`."""
    end: float

    def __call__(self, value: float) -> float:
        """The pixel; of a logarithmic axis values at or below zero lie at its start."""
        low, high, at = self.low, self.high, value
        if self.kind == "log":
            low, high = math.log10(low), math.log10(high)
            at = math.log10(value) if value > 0 else low
        pixel = self.start + (at - low) / (high - low) * (self.end - self.start)
        return min(max(pixel, -_FAR_PX), _FAR_PX)

    def pixels(self, values: Values) -> NDArray[np.float64]:
        """Returns the pixels of many values; NaN for None."""
        low, high, at = self.low, self.high, np.array(values, np.float64)
        if self.kind == "log":
            low, high = math.log10(low), math.log10(high)
            positive = np.isnan(at) | (at > 0)
            at = np.where(positive, np.log10(np.where(positive, at, 1.0)), low)
        found = self.start + (at - low) / (high - low) * (self.end - self.start)
        return np.clip(found, -_FAR_PX, _FAR_PX)


def scale_of(axis: Axis, values: list[float], start: float, end: float) -> Scale:
    """Makes the scale that shows all values, with a little room where the axis names no limits."""
    if axis.low is not None and axis.high is not None:
        return Scale(axis.kind, axis.low, axis.high, start, end)
    positive = axis.kind == "log"
    known = [v for v in values if math.isfinite(v) and (v > 0 or not positive)]
    low = min(known, default=1.0 if positive else 0.0) if axis.low is None else axis.low
    high = max(known, default=1.0) if axis.high is None else axis.high
    if axis.from_zero and not positive:
        low, high = min(low, 0.0), max(high, 0.0)
    if not low < high:
        low, high = (low / 2, low * 2) if positive else (low - 0.5, low + 0.5)
    if positive:
        room = (high / low) ** 0.04
        return Scale(
            axis.kind,
            low / room if axis.low is None else low,
            high * room if axis.high is None else high,
            start,
            end,
        )
    room = 0.05 * (high - low)
    below = axis.low is None and not (axis.from_zero and low == 0.0)
    return Scale(axis.kind, low - room * below, high + room * (axis.high is None), start, end)


def ticks_of(axis: Axis, scale: Scale, most: int) -> list[tuple[float, str]]:
    """Returns at most so many places inside the scale, with their texts."""
    if axis.ticks is not None:
        every = max(1, math.ceil(len(axis.ticks) / max(1, most)))
        low, high = sorted((scale.low, scale.high))
        inside = [(at, text) for at, text in axis.ticks if low <= at <= high]
        return [(at, f"{text}{axis.suffix}") for at, text in inside[::every]]
    if axis.kind == "log" and scale.high > _NARROW * scale.low:
        return [(at, f"{_number(at, at)}{axis.suffix}") for at in _decades(scale, most)]
    step = _step(scale, most)
    numbers = range(math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9) + 1)
    places = [round(number * step, 12) for number in numbers]
    if axis.kind == "time":
        return [(at, _moment(at, step)) for at in places]
    return [(at, f"{_number(at, step)}{axis.suffix}") for at in places]


def _step(scale: Scale, most: int) -> float:
    """The smallest round step (1, 2, 5 × 10ⁿ, or a unit of time) for at most `most` ticks."""
    needed = (scale.high - scale.low) / max(1, most)
    if scale.kind == "time":
        return next((step for step in _TIME_STEPS_S if step >= needed), _TIME_STEPS_S[-1])
    power = 10.0 ** math.floor(math.log10(needed))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= needed * (1 - 1e-9))


def _decades(scale: Scale, most: int) -> list[float]:
    first, last = math.ceil(math.log10(scale.low) - 1e-9), math.floor(math.log10(scale.high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 3:
        return [10.0**power for power in powers[:: max(1, math.ceil(len(powers) / most))]]
    fine = [factor * 10.0**power for power in range(first - 1, last + 1) for factor in (1, 2, 5)]
    return [at for at in fine if scale.low <= at <= scale.high][:most]


def _number(value: float, step: float) -> str:
    """With as many decimals as the step needs, thousands apart, a true minus."""
    digits = max(0, -math.floor(math.log10(abs(step)) + 1e-9)) if step else 0
    text = localised(f"{value:,.{digits}f}")
    return text.lstrip("\u2212") if not text.strip("\u22120.,") else text


def _moment(at: float, step: float) -> str:
    when = datetime.fromtimestamp(at, UTC)
    if step >= _DAY_S or (step >= _DAY_S / 8 and at % _DAY_S == 0):
        return f"{when:%m-%d}"
    return f"{when:%H:%M}" if step >= 60 else f"{when:%H:%M:%S}"
