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

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.alternating.rounds import Groups
from pgassay.analysis.compare.blocks.contrasts import BlockTable
from pgassay.analysis.compare.estimate import BlockEstimate, lies_inside
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.statistics.values import Interval

Array = NDArray[np.float64]

_PASSES = 2
"""Of fitting the effect and the rounds' variance in turn."""


def unless_slow(
    found: BlockEstimate, table: BlockTable, weights: Array, margins: Interval, rule: Rule
) -> BlockEstimate:
    """Returns the estimate, not inside the margins where slow effects may lie outside of them.

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
    of_length = [lengths == length for length in np.unique(lengths)]
    precision = np.ones(shares.shape)
    for _ in range(_PASSES):
        left = differences - _slopes(differences, shares, precision)[:, None] * shares
        for own in of_length:
            spread = np.mean(left[:, own] ** 2, axis=1)
            precision[:, own] = 1.0 / np.maximum(spread, 1e-300)[:, None]
    effects = _slopes(differences, shares, precision)
    squares = groups.sums(precision * shares**2)
    leverage = squares / squares.sum(axis=1, keepdims=True)
    if leverage.shape[1] < 2 or float(leverage.max()) > 1.0 - 1e-9:
        return None
    scores = groups.sums(precision * shares * (differences - effects[:, None] * shares))
    errors = np.sqrt(np.sum(scores**2 / (1.0 - leverage), axis=1)) / squares.sum(axis=1)
    units = 1.0 / np.sum(leverage**2, axis=1)
    criticals = [rule.critical_inside(leverage.shape[1], worth) for worth in units.tolist()]
    low, high = effects - criticals * errors, effects + criticals * errors
    return (float(low.min()), float(high.max())) if np.isfinite(low).all() else None


def _slopes(differences: Array, shares: Array, precision: Array) -> Array:
    """Through zero, one for each row of `shares`."""
    found: Array = (precision * shares) @ differences / np.sum(precision * shares**2, axis=1)
    return found
