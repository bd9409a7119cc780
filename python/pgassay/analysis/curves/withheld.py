"""Takes from curves what would be read as a verdict, where the verdict is withdrawn.

Enters: curves, the verdicts, idle trials. Leaves: the same curves without bands, crossings and
knees, and without contrasts of checkpoints and modes, for levels that have no verdict.
Never: changes a point of a curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.curves.model import CheckpointContrast, EffectByLoad, LoadCurve, QuantileShift
from pgassay.analysis.curves.modes.model import ModeContrast
from pgassay.analysis.verdicts.model import IdleTrials
from pgassay.analysis.verdicts.withdrawal import Level, LevelAt
from pgassay.notes import Note
from pgassay.plan.model import Arm

Contrast = TypeVar("Contrast", CheckpointContrast, ModeContrast)
_IDLE = Note("analysis/curves/idle")
_WITHDRAWN = Note("analysis/curves/withdrawn")


@dataclass(frozen=True)
class Withheld:
    """Levels and arms whose curves are shown without their uncertainty."""

    at: frozenset[LevelAt]
    """Verdicts that are withdrawn, or have no figure."""
    wholly: frozenset[Level]
    """Levels without a verdict at any load and over whole trials."""
    idle_arms: tuple[str, ...]

    @classmethod
    def of(cls, verdicts: Sequence[Comparison], idle: Sequence[IdleTrials]) -> Withheld:
        withdrawn = {(c.factor, c.level, c.step) for c in verdicts if c.withdrawn}
        never = {(*level, one.step) for one in idle for level in one.takes}
        at = frozenset(withdrawn | never)
        given = {(c.factor, c.level) for c in verdicts if not c.withdrawn}
        wholly = frozenset((factor, level) for factor, level, _ in at) - given
        return cls(at, wholly, tuple(one.arm for one in idle))

    def shifts(self, shifts: Sequence[QuantileShift]) -> tuple[QuantileShift, ...]:
        """Drops bands where the level has no verdict at that load or over whole trials."""
        return tuple(
            replace(one, band95_pct=(None,) * len(one.shares), refused=one.refused or _WITHDRAWN)
            if {(one.factor, one.level, one.step), (one.factor, one.level, None)} & self.at
            else one
            for one in shifts
        )

    def effects(self, effects: Sequence[EffectByLoad]) -> tuple[EffectByLoad, ...]:
        """Returns the effects, without band and crossings where the level lacks a verdict at any
        load: one band holds for all loads together."""
        levels = {(factor, level) for factor, level, _ in self.at}
        return tuple(
            replace(
                one,
                band95_pct=(None,) * len(one.loads),
                crossings=(),
                refused=one.refused or _WITHDRAWN,
            )
            if (one.factor, one.level) in levels
            else one
            for one in effects
        )

    def load_curves(
        self, curves: Sequence[LoadCurve], arms: Sequence[Arm]
    ) -> tuple[LoadCurve, ...]:
        """Remove intervals and knee of arms that were idle or whose level has no verdict."""
        reasons = {arm.id: _WITHDRAWN for arm in arms if self.wholly & set(arm.levels.items())}
        reasons |= dict.fromkeys(self.idle_arms, _IDLE)
        return tuple(
            replace(one, interval95=(None,) * len(one.clients), fit=None, refused=reasons[one.arm])
            if one.arm in reasons
            else one
            for one in curves
        )

    def contrasts(self, contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
        """Keeps the contrasts of levels that have a verdict."""
        return tuple(one for one in contrasts if (one.factor, one.level) not in self.wholly)
