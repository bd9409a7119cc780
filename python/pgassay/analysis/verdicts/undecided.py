"""Why a verdict is undecided, and the shortest way to one.

Enters: verdicts on the primary metric, the trials that count, the smallest effect that matters.
Leaves: a `WhyUndecided` for each that is undecided. Never: explains a withdrawn verdict, which has
its reason, or that of an A/A run, which has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pgassay.analysis.compare.model import FEW_BLOCKS, Comparison, Verdict
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.verdicts.model import Reason, Way, WhyUndecided
from pgassay.analysis.verdicts.other_programs import DisturbedBy, disturbed_by

_MOST_TIMES = 3
"""So many times the blocks of the run are worth running to reach a verdict."""


def why_undecided(
    verdicts: Sequence[Comparison], trials: Sequence[TrialMeasures], margin: float
) -> Iterator[WhyUndecided]:
    """Yields the reason of each undecided verdict; `margin` is the smallest effect, a share."""
    disturbed = disturbed_by(trials)
    if disturbed is not None and 2 * len(disturbed.trials) < disturbed.of:
        disturbed = None
    for one in verdicts:
        if one.verdict is Verdict.UNDECIDED and one.withdrawn is None:
            yield _why(one, disturbed, margin)


def _why(one: Comparison, disturbed: DisturbedBy | None, margin: float) -> WhyUndecided:
    few = one.blocks < FEW_BLOCKS or one.ci95_pct is None
    reason = _reason(one, disturbed, margin)
    way = _way(one, reason)
    low, high = (None, None) if few else map(_finite, one.ci95_pct or ())
    more = max(1, FEW_BLOCKS - one.blocks) if few else one.blocks_to_decide
    return WhyUndecided(
        factor=one.factor,
        level=one.level,
        step=one.step,
        reason=reason,
        way=way,
        of=one.blocks,
        blocks=more if way is Way.MORE_BLOCKS else None,
        noise_pct=_scatter_pct(one.block_effects_pct),
        others_pct=None if disturbed is None else disturbed.percent,
        programs=() if disturbed is None else disturbed.names[:3],
        excludes_below_pct=low,
        excludes_above_pct=high,
    )


def _reason(one: Comparison, disturbed: DisturbedBy | None, margin: float) -> Reason:
    if one.blocks < FEW_BLOCKS or one.ci95_pct is None:
        return Reason.FEW_BLOCKS
    if disturbed is not None:
        return Reason.OTHER_PROGRAMS
    low, high = one.ci95_pct
    return Reason.NEAR_MARGIN if (high - low) / 2 <= 100.0 * margin else Reason.NOISE


def _way(one: Comparison, reason: Reason) -> Way:
    if reason is Reason.FEW_BLOCKS:
        return Way.MORE_BLOCKS
    if reason is Reason.OTHER_PROGRAMS:
        return Way.QUIET_HOST
    if one.resolution or one.by_duration is not None:
        return Way.LONGER_TRIALS
    if one.blocks_to_decide and one.blocks_to_decide <= _MOST_TIMES * one.blocks:
        return Way.MORE_BLOCKS
    return Way.OTHER_MARGIN if reason is Reason.NEAR_MARGIN else Way.CALIBRATION


def _scatter_pct(effects_pct: Sequence[float]) -> float | None:
    if len(effects_pct) < 2:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log1p(np.asarray(effects_pct) / 100.0)
        return _finite(100.0 * float(np.std(logarithms, ddof=1)))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
