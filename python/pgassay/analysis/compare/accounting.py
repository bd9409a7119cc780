"""Where the time of a transaction goes in two arms, and which part makes the difference.

Enters: the plan, trials, the comparisons of all metrics. Leaves: an `Accounting` per level.
Never: says why a part differs, or gives a share of a difference that is not clear.

The clock is that of the load's sessions: the mean response time of a transaction (its latency in a
closed loop) is split by what its session was doing when it was sampled. CPU is the time in which a
session ran in the server and reported no wait, without the time in which it was queued for a
processor. What the samples do not explain is a part of its own, so the parts sum to the whole.

The unit is the block. Intervals have the level of the metrics beside the primary one (levels.py).
The interval of a share is Fieller's at the same level, so it excludes zero exactly where the
interval of its part does. Values are rounded to whole nanoseconds, and what that changes is
unaccounted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import Pairs, pair_blocks
from pgassay.analysis.compare.model import Accounting, Comparison, TimePart
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.secondary import critical_for_many, secondary_alpha
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import TIME_PARTS, UNACCOUNTED, WAIT_CLASSES, WaitClass
from pgassay.analysis.statistics.intervals import mean_within, ratio_of_means
from pgassay.notes import Term
from pgassay.plan.model import Factor, Plan

Values = NDArray[np.float64]
_WHOLE = ("tps", "latency_mean", "response_mean")
"""Primary metrics that are the time of a transaction, or in a closed loop its inverse: the whole
has their interval, so that it never contradicts the verdict. The parts are corrected for many."""
_DIGITS = 6
"""Of milliseconds: nanoseconds."""


def account(
    plan: Plan, trials: Sequence[TrialMeasures], comparisons: Sequence[Comparison]
) -> tuple[Accounting, ...]:
    """Accounts for each level against its factor's baseline, over whole trials.

    None of an A/A run, nor where the arms alternate, because waits are known by trial, nor of a set
    of queries, of which each has its own time and plan.
    """
    is_split = not (plan.calibrates or plan.alternates or plan.queries)
    parts = _parts(trials) if is_split else ()
    if not parts:
        return ()
    rule, alpha = rule_of(plan), secondary_alpha(comparisons)
    judged = {(c.factor, c.level): c for c in comparisons if c.metric == plan.metric}
    found = []
    for factor in plan.factors:
        for level in factor.levels[1:]:
            verdict = judged.get((factor.name, level))
            pairs = pair_blocks(_times(trials, parts), plan, factor, level)
            if verdict is None or pairs is None:
                continue
            critical = primary = math.inf
            if verdict.withdrawn is None:
                critical = critical_for_many(rule, len(pairs.level), alpha)
                primary = critical
                if plan.metric in _WHOLE and len(pairs.level) > 1:
                    primary = rule.critical(len(pairs.level), len(pairs.level), 0.05)
            found.append(_account(factor, level, parts, pairs, (primary, critical)))
    return tuple(found)


def _parts(trials: Sequence[TrialMeasures]) -> tuple[WaitClass, ...]:
    """The parts that took any time; none where no session was sampled."""
    found = tuple(
        part
        for part in TIME_PARTS
        if part is UNACCOUNTED or any(trial.whole.values.get(part.metric) for trial in trials)
    )
    return found if any(part in WAIT_CLASSES for part in found) else ()


def _times(
    trials: Sequence[TrialMeasures], parts: Sequence[WaitClass]
) -> dict[tuple[int, str], Values]:
    """(block, arm) → its parts; a trial that lacks one has none."""
    return {
        (trial.block, trial.arm): np.array(
            [trial.whole.values.get(part.metric, math.nan) for part in parts]
        )
        for trial in trials
    }


def _account(
    factor: Factor,
    level: str,
    parts: Sequence[WaitClass],
    pairs: Pairs,
    criticals: tuple[float, float],
) -> Accounting:
    sums = Pairs(pairs.baseline.sum(axis=1), pairs.level.sum(axis=1))
    primary, critical = criticals
    whole = _part("whole", Term("Transaction"), sums, sums, primary)
    found = [
        _part(part.name, part.title, _column(pairs, at), sums, critical, of=whole)
        for at, part in enumerate(parts)
    ]
    last = _column(pairs, len(parts) - 1)
    return Accounting(
        factor.name,
        factor.baseline,
        level,
        len(pairs.level),
        whole,
        (*found[:-1], _remainder(whole, found)),
        (mean_within(last.baseline, critical), mean_within(last.level, critical)),
    )


def _column(pairs: Pairs, at: int) -> Pairs:
    return Pairs(pairs.baseline[:, at], pairs.level[:, at])


def _part(
    name: str, title: str, pairs: Pairs, sums: Pairs, critical: float, of: TimePart | None = None
) -> TimePart:
    baseline, level = (round(float(one.mean()), _DIGITS) for one in (pairs.baseline, pairs.level))
    share, interval = None, None
    if of is not None and of.is_clear:
        share = 100.0 * float(pairs.differences.mean() / sums.differences.mean())
        ends = ratio_of_means(pairs.differences, sums.differences, critical)
        interval = None if ends is None else (100.0 * ends[0], 100.0 * ends[1])
    return TimePart(
        name,
        title,
        baseline,
        level,
        round(level - baseline, _DIGITS),
        mean_within(pairs.differences, critical),
        share,
        interval,
    )


def _remainder(whole: TimePart, parts: Sequence[TimePart]) -> TimePart:
    """The last part, as what the rounded others leave of the rounded whole."""
    *others, last = parts
    baseline, level = (
        round(getattr(whole, name) - sum(getattr(one, name) for one in others), _DIGITS)
        for name in ("baseline_ms", "level_ms")
    )
    return TimePart(
        last.name,
        last.title,
        baseline,
        level,
        round(level - baseline, _DIGITS),
        last.ci95_ms,
        last.share_pct,
        last.share_ci95_pct,
    )
