"""What an analysis says of single arms, and of trials that a verdict does not rest on, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note
from pgassay.plan.steps import at_load
from pgassay.quantities import LoadUnit


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

    def note(self, unit: LoadUnit = LoadUnit.CLIENTS) -> Note:
        """Return the idle trials, such as `3 of 9 trials of wal_level = logical at 8 clients`."""
        return Note.of(
            "analysis/verdicts/idle-trials",
            trials=self.trials,
            of=self.of,
            arm=self.label,
            at=at_load(self.step, unit),
        )


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


class Reason(StrEnum):
    """Why a verdict is not reached; the first that applies."""

    FEW_BLOCKS = "few-blocks"
    """The spread of blocks is not known yet."""
    OTHER_PROGRAMS = "other-programs"
    """They disturbed half of the trials or more."""
    NEAR_MARGIN = "near-margin"
    """The interval is narrower than the smallest effect to either side, and lies across it."""
    NOISE = "noise"
    """Blocks differ too much."""


class Way(StrEnum):
    """The shortest way to a verdict."""

    QUIET_HOST = "quiet-host"
    MORE_BLOCKS = "more-blocks"
    LONGER_TRIALS = "longer-trials"
    """Or more clients: trials have too few transactions."""
    OTHER_MARGIN = "other-margin"
    CALIBRATION = "aa"
    """More blocks would be too many; an A/A run names a design that decides."""


@dataclass(frozen=True)
class WhyUndecided:
    """Why a verdict that is not withdrawn is undecided, and what its interval excludes."""

    factor: str
    level: str
    step: float | None
    reason: Reason
    way: Way
    of: int
    """Blocks that it rests on."""
    blocks: int | None
    """How many further blocks the way takes, where it is more blocks."""
    noise_pct: float | None
    """Standard deviation of the effects of blocks; None below two blocks."""
    others_pct: float | None
    """Mean share of the processors that other programs used in the trials they disturbed."""
    programs: tuple[str, ...]
    """Those that used most, the first most."""
    excludes_below_pct: float | None
    excludes_above_pct: float | None
    """The ends of the 95 % interval; None where there are too few blocks for one."""
