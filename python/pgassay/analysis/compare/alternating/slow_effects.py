"""Does an equivalence of a switchback hold even if effects take seconds to build up and to fade?

Enters: a contrast's estimate over rounds, the rounds, the rule. Leaves: the estimate with the range
of effects that the rounds allow, whatever the time constant. Never: finds carry-over
(`carry_over.py` does): that none was found does not show that there is none.

For each time constant (`turns.py`) the effect is the slope of the rounds' differences on the share
of it that they show, through zero; its error is that of trials (cluster-robust: Liang and Zeger,
Biometrika 73, 1986; corrected for leverage: Bell and McCaffrey, Survey Methodology 28, 2002). The
range is the union of the 90 % intervals, so an effect outside of the margin is called equivalent
in at most 5 % of runs, whichever time constant is true (Berger's intersection-union test,
Technometrics 24, 1982). docs/methods/verdicts.md, "Switchback".
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.alternating.rounds import Groups
from pgassay.analysis.compare.contrasts import BlockTable
from pgassay.analysis.compare.estimate import BlockEstimate, lies_inside
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.statistics.values import Interval

Array = NDArray[np.float64]

_PASSES = 2
"""Of fitting the effect and the rounds' variance in turn."""


def unless_slow(
    found: BlockEstimate, table: BlockTable, weights: Array, margins: Interval, rule: Rule
) -> BlockEstimate:
    """The same estimate, not inside the margins where slow effects may lie outside of them.

    Whether it differs is then left open too: it would be a difference of unknown size.
    """
    if not found.inside or table.turns is None or table.trials is None:
        return found
    rows = np.array(table.blocks) - 1
    shares = table.turns.shares(weights)[:, rows]
    slow = _range(table.of(weights), shares, table.turns.lengths()[rows], table.trials, rule)
    if slow is not None and lies_inside(slow, margins):
        return replace(found, slow=slow)
    return replace(found, slow=slow, withheld=True, inside=False, differs=False)


def _range(
    differences: Array, shares: Array, lengths: Array, trials: NDArray[np.int64], rule: Rule
) -> Interval | None:
    """The union over all time constants, each a row of `shares`; None where one has no interval."""
    groups = Groups.of(trials)
    ends = [_interval(differences, share, lengths, groups, rule) for share in shares]
    known = [interval for interval in ends if interval is not None]
    if len(known) < len(ends):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _interval(
    differences: Array, share: Array, lengths: Array, groups: Groups, rule: Rule
) -> Interval | None:
    precision = np.ones(len(differences))
    for _ in range(_PASSES):
        effect = float(precision @ (share * differences)) / float(precision @ share**2)
        left = differences - effect * share
        for length in np.unique(lengths):
            own = lengths == length
            precision[own] = 1.0 / max(float(np.mean(left[own] ** 2)), 1e-300)
    squares = groups.sums(precision * share**2)
    effect = float(precision @ (share * differences)) / float(squares.sum())
    leverage = squares / squares.sum()
    units = 1.0 / float(leverage @ leverage)
    if len(leverage) < 2 or float(leverage.max()) > 1.0 - 1e-9:
        return None
    scores = groups.sums(precision * share * (differences - effect * share))
    error = math.sqrt(float(np.sum(scores**2 / (1.0 - leverage)))) / float(squares.sum())
    reach = rule.critical(len(leverage), units, 0.10) * error
    return (effect - reach, effect + reach) if math.isfinite(reach) else None
