"""Inference that may look after stated blocks only.

Enters: the blocks of the looks, the error to spend. Leaves: a critical |t| for a look.
Never: knows how many looks will be needed; only how much error each may spend.

Sources: Lan & DeMets, Biometrika 70 (1983): the spending functions of O'Brien and Fleming's type,
for verdicts, and of Pocock's, for doubts, which are wanted early;
Armitage, McPherson & Rowe, JRSS A 132 (1969): the recursion; Jennison & Turnbull, Group Sequential
Methods (2000), section 3.8: normal bounds as nominal p values of Student's t. These spend up to
6 % in place of 5 where blocks are few, so what a look may still spend is measured on simulated
block differences, and its bound set by that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Vector = NDArray[np.float64]

_NODES = 400
_FARTHEST = 9.0
"""Standard deviations beyond which nothing of a normal density is left."""
_LEAST_SPENT = 1e-16
_PATHS = 2**18
_FEWEST_CROSSINGS = 100
"""Simulated runs that must be left to cross, for a bound to be set by them."""


def critical_t_at(n: int, alpha: float, looks: Sequence[int]) -> float:
    """|t| that n block differences must exceed, two-sided, where looks are at these blocks.

    An n that is no look (a block is incomplete, or the run was broken off) is taken as one: the
    error that may be spent follows from n itself. Beyond the last look its bound goes on.
    """
    if n < 2 or not looks:
        return math.inf
    last = looks[-1]
    at = min(n, last)
    before = tuple(look for look in looks if look < at)
    # Bounds of the first looks do not depend on later ones: one simulation serves all looks.
    seen = tuple(looks) if at in looks else (*before, at)
    found = _criticals(seen, last, alpha)[len(before)]
    if n <= last or math.isinf(found):
        return found
    return float(-special.stdtrit(n - 1, special.stdtr(last - 1, -found)))


def level_at(n: int, alpha: float, looks: Sequence[int]) -> float:
    """The two-sided p that a doubt must pass after n blocks, so that at all of these looks together
    chance passes it with `alpha`; spent as Pocock's bounds do, as much early as late.

    Between looks that of the next one holds, beyond the last look the last one's.
    """
    found = bounds(tuple(look / looks[-1] for look in looks), alpha, spent_evenly)
    at = next((at for at, look in enumerate(looks) if look >= n), len(looks) - 1)
    return float(2.0 * special.ndtr(-found[at]))


@lru_cache(maxsize=1024)
def _criticals(seen: tuple[int, ...], last: int, alpha: float) -> tuple[float, ...]:
    """One bound per look, each spending what those before it have left."""
    nominal = bounds(tuple(n / last for n in seen), alpha)
    simulated = _simulated(seen)
    running = np.ones(simulated.shape[1], dtype=bool)
    found: list[float] = []
    for n, z, sizes in zip(seen, nominal, simulated, strict=True):
        edge = math.inf if math.isinf(z) else float(-special.stdtrit(n - 1, special.ndtr(-z)))
        left = running.sum() - len(running) * (1.0 - spent(n / last, alpha))
        if found and left >= _FEWEST_CROSSINGS:
            edge = max(edge, float(np.partition(sizes[running], -round(left))[-round(left)]))
        running &= sizes < edge
        found.append(edge)
    return tuple(found)


@lru_cache(maxsize=4)
def _simulated(seen: tuple[int, ...]) -> Vector:
    """|t| of normal block differences without effect, a row per look; the same every time."""
    source = np.random.default_rng(1983)
    total = np.zeros(_PATHS)
    squares = np.zeros(_PATHS)
    rows = np.empty((len(seen), _PATHS))
    before = 0
    for row, n in zip(rows, seen, strict=True):
        more = n - before
        mean = source.standard_normal(_PATHS) / math.sqrt(more)
        total += more * mean
        squares += more * mean**2 + (source.chisquare(more - 1, _PATHS) if more > 1 else 0.0)
        spread = np.sqrt(np.maximum(squares - total**2 / n, 1e-300) / (n - 1))
        row[:] = np.abs(total) / math.sqrt(n) / spread
        before = n
    return rows


def spent(fraction: float, alpha: float) -> float:
    """The two-sided error spent by this share of the information."""
    edge = -special.ndtri(alpha / 4.0) / math.sqrt(fraction)
    return float(4.0 * special.ndtr(-edge))


def spent_evenly(fraction: float, alpha: float) -> float:
    """The same by bounds that are about equal at all looks."""
    return alpha * math.log1p((math.e - 1.0) * fraction)


@lru_cache(maxsize=4096)
def bounds(
    fractions: tuple[float, ...],
    alpha: float,
    spending: Callable[[float, float], float] = spent,
) -> tuple[float, ...]:
    """|z| for each of rising shares of the information."""
    found: list[float] = []
    places = np.zeros(1)  # of the sum so far, where no bound was crossed
    weights = np.ones(1)
    before = 0.0
    used = 0.0
    for fraction in fractions:
        step = math.sqrt(fraction - before)
        allowed = spending(fraction, alpha) - used
        edge = _edge(places, weights, step, allowed)
        found.append(edge / math.sqrt(fraction))
        places, weights = _go_on(places, weights, step, min(edge, _FARTHEST * math.sqrt(fraction)))
        before, used = fraction, used + max(allowed, 0.0)
    return tuple(found)


def _edge(places: Vector, weights: Vector, step: float, allowed: float) -> float:
    """Where the sum crosses with the probability that is allowed."""
    if allowed < _LEAST_SPENT:
        return math.inf

    def excess(edge: float) -> float:
        out = special.ndtr((places - edge) / step) + special.ndtr((-places - edge) / step)
        return float(weights @ out) - allowed

    from scipy import optimize  # a third of a second to load, which most commands can do without

    return float(optimize.brentq(excess, 0.0, 2.0 * _FARTHEST, xtol=1e-10))


def _go_on(places: Vector, weights: Vector, step: float, edge: float) -> tuple[Vector, Vector]:
    """The density of the next sum between the bounds, on nodes to integrate by."""
    nodes, shares = _legendre()
    next_places = edge * nodes
    kernel = np.exp(-0.5 * ((next_places[:, None] - places) / step) ** 2)
    density = kernel @ weights / (step * math.sqrt(2.0 * math.pi))
    return next_places, density * shares * edge


@lru_cache(maxsize=1)
def _legendre() -> tuple[Vector, Vector]:
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    return nodes, shares
