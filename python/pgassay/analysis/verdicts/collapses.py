"""How often a level may collapse unseen although its verdict is equivalent.

Enters: verdicts. Leaves: an upper limit for each that is equivalent or negligible. Never: says that
a level collapses: nobody sees what did not happen.

A verdict is about the mean. A level that is 40 % slower in one trial of twenty is 2 % slower on
average, and most runs of a dozen blocks have no such trial. The exact binomial limit (Clopper and
Pearson, Biometrika 26, 1934) says how frequent such trials may be: without one in n blocks, up to
1 − 0.05^(1/n). A block has several trials of a level where there are several factors, so for a
share of trials the limit is then on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.model import SAME, Comparison
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics import special
from pgassay.analysis.verdicts.model import CollapseLimit, CollapseOutlook, UnseenCollapses
from pgassay.plan.model import Plan

_CONFIDENCE = 0.95
_WANTED = (0.10, 0.05, 0.01)
"""Shares of trials that a plan says how to exclude."""
_LEAST = math.log(0.9)
"""A block in which a level is 10 % worse than in the median block may be a collapse;"""
_SCATTER = 5.0
"""so many standard deviations, estimated from the median deviation, from it, it is one."""
_NORMAL_MAD = 0.6745
"""The median absolute deviation of a normal law, in standard deviations."""


def unseen_collapses(verdicts: Sequence[Comparison]) -> Iterator[UnseenCollapses]:
    """Yields the limit of each verdict over whole trials that says that levels are alike."""
    for one in verdicts:
        if one.step is None and one.verdict in SAME and one.blocks > 0:
            effects = np.log1p(np.array(one.block_effects_pct) / 100.0)
            seen = collapsed(effects, METRICS[one.metric])
            limit = 100.0 * most_unseen(one.blocks, seen)
            yield UnseenCollapses(one.factor, one.level, one.blocks, seen, limit)


def most_unseen(trials: int, seen: int = 0) -> float:
    """The upper 95 % limit of a share of which so many were seen in so many trials."""
    if seen >= trials:
        return 1.0
    if seen == 0:  # a plan need not load the function
        return -math.expm1(math.log1p(-_CONFIDENCE) / trials)
    return float(special.betaincinv(seen + 1, trials - seen, _CONFIDENCE))


def trials_to_exclude(share: float) -> int:
    """Trials without a collapse after which it is rarer than this share."""
    return math.ceil(math.log(1.0 - _CONFIDENCE) / math.log1p(-share))


def collapse_outlook(plan: Plan) -> CollapseOutlook | None:
    """Returns the limits for the plan's fewest and most blocks; None where nothing is compared."""
    if plan.calibrates or plan.describes or not plan.factors:
        return None
    blocks = dict.fromkeys((plan.min_blocks, plan.last_block))
    return CollapseOutlook(
        planned=tuple(CollapseLimit(n, 100.0 * most_unseen(n)) for n in blocks),
        needed=tuple(CollapseLimit(trials_to_exclude(p), 100.0 * p) for p in _WANTED),
    )


def collapsed(logs: NDArray[np.float64], metric: Metric) -> int:
    """Counts the values that lie far on the bad side of where most of them lie."""
    away = logs - np.median(logs)
    if metric.good == "lower":
        away = -away
    scatter = float(np.median(np.abs(away))) / _NORMAL_MAD
    return int(np.sum((away < _LEAST) & (away < -_SCATTER * scatter)))
