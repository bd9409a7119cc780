"""The typical trial: the effect without the few blocks that differ most.

Enters: comparisons. Leaves: them with their typical trial. Never: changes a verdict, which is of
the mean: slow trials are part of what a level does.

It is the 20 % trimmed mean: a fifth of the blocks at each end is left out (Tukey and McLaughlin,
Sankhyā A 25, 1963; Wilcox, Introduction to Robust Estimation and Hypothesis Testing, 2012). Blocks
are trimmed as measured, because one that differs much shifts what positions seem to add, and so all
the others; the effect moves by what that changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import ratio_pct

_PARTS = 5
"""One of so many blocks is left out at each end; with fewer blocks there is none to leave out."""

_NOTHING_LEFT = -100.0
"""In per cent, where a ratio is too small for its per cent to tell it from zero."""


def with_typical_trial(comparisons: Sequence[Comparison], primary: str) -> tuple[Comparison, ...]:
    """The same; verdicts of the primary metric that are given have their typical trial."""
    return tuple(replace(one, typical_pct=_typical(one, primary)) for one in comparisons)


def _typical(one: Comparison, primary: str) -> float | None:
    """In per cent, where ratios are compared."""
    is_given = one.withdrawn is None and one.verdict is not Verdict.CALIBRATION
    is_asked = one.metric == primary and METRICS[primary].scale == "ratio" and is_given
    if not is_asked or one.effect_pct is None or len(one.block_raw_pct) < _PARTS:
        return None
    if min(one.effect_pct, *one.block_raw_pct) <= _NOTHING_LEFT:
        return None
    logs = np.sort(np.log1p(np.array(one.block_raw_pct) / 100.0))
    out = len(logs) // _PARTS
    moved = float(logs[out : len(logs) - out].mean() - logs.mean())
    return ratio_pct(math.log1p(one.effect_pct / 100.0) + moved)
