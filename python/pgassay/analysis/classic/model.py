"""The classic view as values, with its limits and labels.

Enters: classic.toml. Leaves: frozen dataclasses, `LIMITS`, labels of values.
Never: computes. None is "not measured".
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any

from pgassay.notes import Note, terms_of


class Agreement(StrEnum):
    """What the tested counterpart makes of a classic figure."""

    AGREE = "agree"
    UNCLEAR = "unclear"
    """A connection or trend is claimed, and its interval includes none at all."""
    OPPOSITE = "opposite direction"
    WEAKER = "weaker"
    """It is clear, and clearly weaker than what the classic view claims from."""
    MISSED = "missed"
    """None is claimed, and there is a strong one."""
    TOO_LITTLE = "too little data"
    """One is claimed, and these trials are too short or too few to test it."""


@dataclass(frozen=True)
class Spread:
    """A figure over the intervals of all trials of an arm."""

    name: str
    unit: str
    median: float | None
    smallest: float | None
    largest: float | None


@dataclass(frozen=True)
class ClassicTrend:
    """A line through the intervals of a trial, the mean of the arm's trials."""

    series: str
    r2: float | None
    label: str | None
    claims: bool
    """Whether the classic view takes it for a trend."""
    angle_deg: float | None
    change_pct: float | None
    """From a trial's beginning to its end, in per cent of its mean."""
    ci95_pct: tuple[float, float] | None
    """Of the change, over trials; of one trial, allowing for its autocorrelation."""
    agreement: Agreement | None
    """None where nothing is claimed."""


@dataclass(frozen=True)
class ClassicCorrelation:
    """Pearson's r between intervals, the mean of the arm's trials, and its tested counterpart."""

    group: str
    first: str
    second: str
    r: float | None
    label: str | None
    claims: bool
    """Whether the classic view takes it for a connection."""
    honest_r: float | None
    """Second by second, without steps, checkpoint cycles and autocorrelation, over trials."""
    ci95: tuple[float, float] | None
    p_adjusted: float | None
    """Corrected for all pairs of all arms."""
    trials: int
    """That the tested correlation is from."""
    clear: bool | None
    agreement: Agreement | None
    """None where neither says anything."""


@dataclass(frozen=True)
class WeightedWait:
    """A wait type's weighted correlation with all waits."""

    wait_type: str
    weight: float | None
    label: str | None
    r: float | None
    share_pct: float | None
    """Of all waits, by time: what the weight stands for."""


@dataclass(frozen=True)
class Part:
    """An event, or a query, of a wait type."""

    name: str
    sessions: float
    """On average."""
    share_pct: float
    cumulative_pct: float


@dataclass(frozen=True)
class Pareto:
    """The few events and queries that make up most of a wait type."""

    wait_type: str
    sessions: float
    events: tuple[Part, ...]
    queries: tuple[Part, ...]
    """By query id; `not known` for sessions without one."""


@dataclass(frozen=True)
class RuleShare:
    """How often a limit of vmstat or iostat was exceeded."""

    rule: str
    disk: str
    """Empty for a rule of the whole host."""
    share_pct: float | None
    lowest_pct: float | None
    highest_pct: float | None
    """The trials with the smallest and the largest share."""
    band: str | None


@dataclass(frozen=True)
class DiskType:
    """What bounds a disk, by correlations of speed with its operations and its volume."""

    disk: str
    roles: tuple[Note, ...]
    """Such as `data on /`."""
    load: str | None
    limit: str | None
    honest_limit: str | None


@dataclass(frozen=True)
class SharedBuffers:
    """Hits, and blocks used for each that was changed."""

    hit_pct: float | None
    label: str | None
    used_per_dirtied: float | None
    load: str | None


@dataclass(frozen=True)
class DirtyPages:
    """Memory waiting to be written."""

    kb: float | None
    largest_kb: float | None
    background_limit_pct: float | None
    """The mean, in per cent of what starts writing in the background."""
    limit_pct: float | None
    """The same of what makes writers wait."""


@dataclass(frozen=True)
class EventMet:
    """A wait event, and the queries that met it."""

    event: str
    sessions: float
    """On average."""
    queries: int
    queries_pct: float | None
    """Of all query ids that were sampled."""
    trials: int
    """In which it was seen."""


@dataclass(frozen=True)
class OnlyInOneArm:
    """A wait event that no trial of another arm has."""

    event: str
    arm: str
    trials: int
    of_trials: int
    other_trials: int
    p_adjusted: float
    """That chance alone put all of these trials into one arm, corrected for all events."""
    clear: bool


@dataclass(frozen=True)
class ClassicArm:
    """The classic view of one arm."""

    arm: str
    trials: int
    parts: int
    """In which events were sampled: trials, or the segments of an observation."""
    figures: tuple[Spread, ...]
    statements_per_minute: float | None
    """Calls plus rows of pg_stat_statements over the whole load, warm-up included."""
    incident: bool | None
    trends: tuple[ClassicTrend, ...]
    correlations: tuple[ClassicCorrelation, ...]
    weighted: tuple[WeightedWait, ...]
    pareto: tuple[Pareto, ...]
    rules: tuple[RuleShare, ...]
    disks: tuple[DiskType, ...]
    buffers: SharedBuffers
    dirty: DirtyPages
    cores: int | None
    events: tuple[EventMet, ...]


@dataclass(frozen=True)
class ClassicView:
    """The classic view of all arms."""

    interval_s: float
    intervals: int
    """Of a trial; the fewest of any."""
    arms: tuple[ClassicArm, ...]
    only_in_one: tuple[OnlyInOneArm, ...] = ()


LIMITS: dict[str, Any] = terms_of(
    tomllib.loads((files(__package__) / "classic.toml").read_text("utf-8")),
    ("labels", "types", "disk_type", "hit_labels", "rule"),
)


def label(value: float | None, labels: Sequence[tuple[float, str]]) -> str | None:
    """Returns the label of the highest limit that the value reaches; None for an unknown value."""
    if value is None or not math.isfinite(value):
        return None
    return next((text for limit, text in labels if value >= limit), labels[-1][1])
