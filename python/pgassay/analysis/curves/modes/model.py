"""The modes of latency, and how their shares differ between levels.

Enters: nothing. Leaves: frozen dataclasses, parts of `Analysis`. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.analysis.statistics.values import Estimate
from pgassay.notes import Note


@dataclass(frozen=True)
class ModeWait:
    """What transactions that were certainly of a mode, or slower, were sampled in."""

    event: str
    """A wait event; `CPU` where the session reported none."""
    share_pct: Estimate
    """Of the samples of such transactions."""
    otherwise_pct: float | None
    """Of the other samples of transactions; None without any."""


@dataclass(frozen=True)
class LatencyMode:
    """One mode; figures are means over trials with Student's intervals."""

    peak_ms: Estimate
    """The commonest latency in it."""
    above_ms: Estimate | None
    """Where the mode begins; None for the fastest."""
    share_pct: Estimate
    """Of the transactions."""
    time_pct: Estimate
    """Of the time that all transactions took together."""
    at_checkpoints_points: Estimate | None
    """The share of transactions that are in it or slower, while a checkpoint ran less without; None
    where too few trials have both."""
    waits: tuple[ModeWait, ...] = ()
    """Most frequent first; none for the fastest mode, or where too few sessions were sampled."""
    scenarios: tuple[tuple[str, float], ...] = ()
    """Which scenarios its transactions are of, in per cent; only of all scenarios together."""


@dataclass(frozen=True)
class LatencyModes:
    """The modes of one scenario in one arm."""

    arm: str
    scenario: str
    """Empty for all scenarios together, where there are several."""
    step: float | None
    """The load, where the trials have several: the greatest."""
    trials: int
    transactions: int
    mean_ms: Estimate
    near_mean_pct: Estimate
    """Transactions whose latency is within a tenth of the mean."""
    modes: tuple[LatencyMode, ...]
    bandwidth: float
    """Of the smoothing, in natural logarithms."""
    density: tuple[tuple[float, float], ...]
    """(latency in ms, per cent of the transactions per tenth more latency), of the mean trial."""
    refused: Note | None
    """Why no more than one mode was looked for."""


@dataclass(frozen=True)
class ModeContrast:
    """Share of transactions beyond a boundary of modes: a level against its baseline."""

    factor: str
    baseline: str
    level: str
    scenario: str
    boundary_arm: str
    """The arm whose boundary it is: the first of those with the most modes."""
    slower_than_ms: float
    blocks: int
    baseline_pct: float
    level_pct: float
    points: Estimate
    """Level less baseline; the intervals of all contrasts hold together (Bonferroni)."""

    @property
    def is_clear(self) -> bool:
        """Returns whether the interval of the contrast excludes zero."""
        low, high = self.points.low, self.points.high
        return low is not None and high is not None and (low > 0.0 or high < 0.0)
