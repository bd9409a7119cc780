"""What is known of each checkpoint, and of the causes of the dip after it; parts of `Analysis`.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgassay.analysis.measures.model import TrialCheckpoint
from pgassay.analysis.statistics.values import Estimate, Interval
from pgassay.notes import Note


@dataclass(frozen=True)
class CheckpointRow:
    """One checkpoint of one trial: a description, nothing is tested on it."""

    trial: int
    block: int
    arm: str
    checkpoint: TrialCheckpoint
    depth_pct: float | None
    """How far throughput falls below the seconds before, at its lowest; noise alone makes it
    greater than zero. None without seconds before and after."""
    lost_transactions: float | None
    recovered_s: float | None
    """From the start until nine tenths of the dip have recovered; None if not before the end."""
    followed_s: float
    """How long it was followed: to the next checkpoint, the end of the step, or two minutes."""


@dataclass(frozen=True)
class TimeShare:
    """Sessions' time after the start of a checkpoint beyond what its transactions took before."""

    name: str
    title: str
    before_ms: float | None
    """Per transaction, in the seconds before; None for a cause."""
    after_ms: float | None
    extra_s: Estimate
    """Seconds of sessions per checkpoint."""
    share_pct: float | None
    """Of the extra time of all; None where that is not clearly above zero."""
    share_ci95_pct: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the share lies above zero."""
        return self.share_ci95_pct is not None and self.share_ci95_pct[0] > 0.0


@dataclass(frozen=True)
class SignalProfile:
    """One signal around the start of a checkpoint: the mean of trials at each place."""

    name: str
    title: str
    unit: str
    before: float
    values: tuple[float | None, ...]
    """None where it is per transaction and none ended."""

    @property
    def known(self) -> tuple[float, ...]:
        return tuple(value for value in self.values if value is not None)


@dataclass(frozen=True)
class Sign:
    """A sign of one cause, and in how many trials it was seen."""

    name: str
    cause: Literal["images", "writeback", "wal_locks"]
    text: Note
    trials: int
    seen: int


@dataclass(frozen=True)
class CheckpointCauses:
    """Where the time goes that is lost after checkpoints of one arm; the unit is the trial."""

    arm: str
    trials: int
    checkpoints: int
    whole: TimeShare
    groups: tuple[TimeShare, ...]
    """By what sessions waited for; they and what is unaccounted sum to the whole."""
    causes: tuple[TimeShare, ...]
    """The same time by cause; what no cause explains is the last."""
    signs: tuple[Sign, ...]
    offset_s: tuple[float, ...]
    signals: tuple[SignalProfile, ...]
