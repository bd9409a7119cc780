"""A contrast of a table, with what coarse counts cannot tell.

Enters: a table without its positions, a contrast, the margins, the rule. Leaves: a `BlockEstimate`.
Never: lets counts of a few transactions decide what the durations of these do not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import Vector
from pgassay.analysis.compare.blocks.positions import Adjusted, without_positions
from pgassay.analysis.compare.estimate import BlockEstimate, Mean, estimate
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.statistics.intervals import never_varies
from pgassay.analysis.statistics.values import Interval, hull

_NONE = 1e-12
"""A resolution without effect, but that values which never vary have an interval."""


def contrast_estimate(
    adjusted: Adjusted, contrast: Vector, margins: Interval, rule: Rule, *, judged: bool = True
) -> BlockEstimate:
    """Estimates a contrast; of coarse counts with known durations, decided only where both decide
    the same.

    `judged` as in `estimate`.
    """
    table, differences = adjusted.table, adjusted.differences(contrast)
    units = adjusted.units(len(table.blocks))
    of = partial(
        estimate, margins=margins, rule=rule, trials=table.trials, units=units, judged=judged
    )
    counts = table.counts
    constant = never_varies(differences)
    if counts is None or not (constant or counts.are_few(contrast)):
        # What scatters by more than a bucket of its histogram averages out over blocks.
        bucket = table.resolution * float(np.abs(contrast).sum())
        return of(differences, resolution=bucket if constant else 0.0)
    durations = counts.by_duration(contrast)
    if durations is None:
        return of(differences, resolution=counts.resolution(contrast))
    by_duration = without_positions(replace(table, values=durations, counts=None))
    of_durations = of(by_duration.differences(contrast), resolution=_NONE)
    return _covering(of(differences, resolution=_NONE), of_durations)


def _covering(counts: BlockEstimate, durations: BlockEstimate) -> BlockEstimate:
    """The estimate by counts; its interval covers both, its p values are the larger ones.

    One of the two is right, so its errors are no more frequent than those of the right one.
    """
    differs = counts.differs and durations.differs and counts.mean * durations.mean > 0.0
    inside = counts.inside and durations.inside
    # Counts that never vary have no p; they differ, or do not.
    alone = counts.error is None
    further = counts.blocks_to_decide, durations.blocks_to_decide
    return replace(
        counts,
        interval=hull(counts.interval, durations.interval),
        p_t=durations.p_t if alone else _larger(counts.p_t, durations.p_t),
        p_sign_flip=_larger(counts.p_sign_flip, durations.p_sign_flip),
        p_looks=durations.p_looks if alone else _larger(counts.p_looks, durations.p_looks),
        differs=differs,
        inside=inside,
        blocks_to_decide=0 if differs or inside else _larger(*further) or None,
        by_duration=Mean(durations.mean, durations.error),
    )


Number = TypeVar("Number", int, float)


def _larger(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else max(one, other)
