"""How the times of a set of queries scatter from trial to trial, in several worlds.

Enters: a generator, numbers of trials and queries. Leaves: what is added to each time, in
logarithms, by trial and query. Never: has a true change.

What disturbs a trial in part disturbs all of its queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SCATTER = 0.03
"""Standard deviation of a query's time from trial to trial, as a share."""


def _normal(source: np.random.Generator, trials: int, queries: int) -> Array:
    return SCATTER * source.standard_normal((trials, queries))


def _unequal(source: np.random.Generator, trials: int, queries: int) -> Array:
    spread = SCATTER * np.exp(0.7 * source.standard_normal(queries))
    return spread * source.standard_normal((trials, queries))


def _two_kinds(source: np.random.Generator, trials: int, queries: int) -> Array:
    spread = np.where(np.arange(queries) < 2, 10.0 * SCATTER, SCATTER / 2)
    return spread * source.standard_normal((trials, queries))


def _heavy(source: np.random.Generator, trials: int, queries: int) -> Array:
    return SCATTER / math.sqrt(3) * source.standard_t(3, (trials, queries))


def _skewed(source: np.random.Generator, trials: int, queries: int) -> Array:
    return SCATTER * np.exp(source.standard_normal((trials, queries)))


def _drift(source: np.random.Generator, trials: int, queries: int) -> Array:
    """All queries slow down, unequally; what disturbs a trial lasts for some of them."""
    slope = 0.01 * np.exp(0.5 * source.standard_normal(queries))
    slow = np.zeros(trials)
    for at in range(1, trials):
        slow[at] = 0.7 * slow[at - 1] + 0.02 * source.standard_normal()
    return np.arange(trials)[:, None] * slope + slow[:, None] + _normal(source, trials, queries)


def _neighbour(source: np.random.Generator, trials: int, queries: int) -> Array:
    """Another program slows one trial of ten, and each query of it by another amount."""
    hit = source.random(trials) < 0.1
    extra = 0.2 * np.abs(source.standard_normal((trials, queries)))
    return hit[:, None] * extra + _normal(source, trials, queries)


WORLDS: Mapping[str, Callable[[np.random.Generator, int, int], Array]] = {
    "all scatter alike": _normal,
    "scatters from 1 to 10 %": _unequal,
    "two scatter 20 times as much": _two_kinds,
    "heavy tails (t3)": _heavy,
    "skewed (lognormal)": _skewed,
    "drift, slow trials in a row": _drift,
    "a noisy neighbour": _neighbour,
}
