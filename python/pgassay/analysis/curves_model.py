"""What is said of whole curves: latency by quantile, speed by load.

Enters: nothing. Leaves: frozen dataclasses, parts of `Analysis`. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Interval = tuple[float, float]


@dataclass(frozen=True)
class QuantileShift:
    """Latency of a level against the baseline, quantile by quantile.

    The band holds for all quantiles together; a quantile whose difference never varies has none.
    """

    factor: str
    baseline: str
    level: str
    step: float | None
    step_unit: str
    of: Literal["latency", "response"]
    """From the start of the transaction, or from when it was due (open loop)."""
    blocks: int
    shares: tuple[float, ...]
    baseline_ms: tuple[float, ...]
    level_ms: tuple[float, ...]
    shift_pct: tuple[float, ...]
    band95_pct: tuple[Interval | None, ...]
    refused: str | None = None
    """Why there is no band."""


@dataclass(frozen=True)
class Crossing:
    """Between two loads one level is ahead below, the other above."""

    at: float
    low: float
    high: float
    """Where the simultaneous band cannot tell who is ahead."""
    below: Literal["better", "worse"]
    """What the level is at smaller loads; it is the other at greater ones."""


@dataclass(frozen=True)
class EffectByLoad:
    """One level against the baseline at every step, with a band that holds for all of them."""

    metric: str
    factor: str
    baseline: str
    level: str
    step_unit: str
    blocks: int
    loads: tuple[float, ...]
    effect_pct: tuple[float, ...]
    band95_pct: tuple[Interval | None, ...]
    crossings: tuple[Crossing, ...]
    refused: str | None = None


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; a bound that the data do not give is None."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ScalingFit:
    """Gunther's Universal Scalability Law, X(N) = rate·N / (1 + σ(N − 1) + κN(N − 1))."""

    rate: Estimate
    """Transactions a second of one client alone."""
    contention: Estimate
    """σ: the share of work that only one client does at a time."""
    coherence: Estimate
    """κ: what each pair of clients costs the other; above 0 throughput falls in the end."""
    knee_clients: Estimate | None
    """Where throughput is greatest, √((1 − σ)/κ)."""
    knee_tps: Estimate | None
    knee_refused: str | None
    misfit_pct: float
    """Root mean square of the relative residuals of the means."""
    curve: tuple[tuple[float, float], ...]
    """(clients, throughput) along the fit, within the loads that were run."""


@dataclass(frozen=True)
class LoadCurve:
    """Throughput of one arm against its number of clients."""

    arm: str
    blocks: int
    clients: tuple[float, ...]
    tps: tuple[float, ...]
    """Geometric means over blocks."""
    interval95: tuple[Interval | None, ...]
    """Student's t over blocks, at each number of clients by itself."""
    fit: ScalingFit | None
    refused: str | None
    """Why there is no fit."""
