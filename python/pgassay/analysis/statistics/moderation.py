"""Variances of many alike quantities, which lend each other what is known of them.

Enters: a variance each, all of the same degrees of freedom. Leaves: variances that are never
smaller, and the degrees of freedom they gain. Never: makes a variance smaller.

A variance of five degrees of freedom is off by a factor of three in one case of twenty, and
Student's t has to allow for that with each of sixty quantities. Where the variances scatter by
little more than chance makes them, they are known better than each alone: the prior of Smyth
(Statistical Applications in Genetics and Molecular Biology 3, 2004), fitted to the logarithms of
the variances, adds its degrees of freedom. Unlike there, a variance above the prior stays as it is,
so that one quantity that scatters much more than the others is not called certain (as Phipson et
al., Annals of Applied Statistics 10, 2016, guard against), and the prior weighs no more than twice
the data: quantities of one trial share what disturbs it, so that their variances resemble each
other by more than knowledge. docs/methods/queries.md says what holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special

FEWEST = 10
"""Quantities below which a prior is known too badly."""
_MOST_WEIGHT = 2.0
"""Degrees of freedom of the prior, at most, for each of a variance's own."""
_STEPS, _EXACT = 50, 1e-8


def moderated(variances: NDArray[np.float64], freedom: float) -> tuple[NDArray[np.float64], float]:
    """Returns the variances and the degrees of freedom that each of them gains.

    Variances of zero have no logarithm: they stay, and say nothing of the others. With fewer than
    `FEWEST` others nothing changes.
    """
    known = variances > 0.0
    if np.count_nonzero(known) < FEWEST or freedom < 1:
        return variances, 0.0
    half = freedom / 2.0
    logs = np.log(variances[known]) - special.psi(half) + np.log(half)
    beyond_chance = float(logs.var(ddof=1) - special.polygamma(1, half))
    most = _MOST_WEIGHT * freedom
    gained = most
    if beyond_chance > 0.0:
        gained = min(most, 2.0 * _inverse_trigamma(beyond_chance))
    prior = np.exp(logs.mean() + special.psi(gained / 2.0) - np.log(gained / 2.0))
    posterior = (gained * prior + freedom * variances) / (gained + freedom)
    return np.where(known, np.maximum(variances, posterior), variances), gained


def _inverse_trigamma(value: float) -> float:
    """Newton's steps on 1/trigamma, which is nearly a line (Smyth, appendix)."""
    found = 0.5 + 1.0 / value
    for _ in range(_STEPS):
        trigamma = float(special.polygamma(1, found))
        step = trigamma * (1.0 - trigamma / value) / float(special.polygamma(2, found))
        found += step
        if abs(step) < _EXACT * found:
            break
    return found
