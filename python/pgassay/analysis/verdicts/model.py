"""What an analysis says of single arms, and of trials that a verdict does not rest on, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgassay.analysis.statistics.values import Interval


@dataclass(frozen=True)
class ArmSummary:
    """Mean of each metric over an arm's trials."""

    id: str
    label: str
    levels: Mapping[str, str]
    trials: int
    means: Mapping[str, float]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """95 % interval of a mean by Student's t over the trials; none of one trial or equal values."""


@dataclass(frozen=True)
class IdleTrials:
    """An arm with trials, or trials' steps at one load, in which no transaction was committed."""

    arm: str
    label: str
    step: float | None
    """The load; None means whole trials."""
    trials: int
    of: int
    """How many trials of this arm count."""
    takes: tuple[tuple[str, str], ...]
    """(factor, level) of the verdicts that are withdrawn because of it."""


@dataclass(frozen=True)
class Losses:
    """Trials without a figure, of the levels that a verdict favours."""

    factor: str
    level: str
    of_level: str
    """The level that lost them: `level`, or the baseline where that is the better one."""
    lost: int
    planned: int
    """The trials of that level that were run, the lost ones included, repeats not."""
    tips_at_pct: float | None
    """By how much the primary metric of the lost trials would have to differ from that of the
    trials that count for the verdict to fall, in per cent; None where 99 % worse does not do."""


@dataclass(frozen=True)
class CollapseLimit:
    """A number of trials of a level without a collapse, and how often it may collapse still."""

    trials: int
    most_pct: float


@dataclass(frozen=True)
class CollapseOutlook:
    """What a plan can say of rare collapses, if it sees none."""

    planned: tuple[CollapseLimit, ...]
    """After the fewest blocks and the most."""
    needed: tuple[CollapseLimit, ...]
    """The trials that exclude more than a wanted share."""


@dataclass(frozen=True)
class UnseenCollapses:
    """How often a level may collapse although its verdict is equivalent or negligible."""

    factor: str
    level: str
    blocks: int
    seen: int
    """Blocks in which it collapsed."""
    most_pct: float
    """Upper 95 % limit of the share of trials that collapse (Clopper and Pearson)."""
