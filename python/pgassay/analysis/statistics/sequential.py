"""Sequential inference: valid at every look that a run may end at.

Enters: the blocks of the looks and the error to spend. Leaves: critical values of |t|, levels of p.
Never: needs to know at which look the run will stop.

Lan and DeMets, Biometrika 70 (1983), with a spending function of the power family (Kim and DeMets,
Biometrika 74, 1987); Armitage, McPherson and Rowe, JRSS A 132 (1969), the recursion; Jennison and
Turnbull, Group Sequential Methods (2000), section 3.8, normal bounds as nominal p values of
Student's t. With few blocks these spend up to 6 % instead of 5, so the bounds are set on simulated
block differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special

Vector = NDArray[np.float64]

_POWER = 1.5
_NODES = 400
_FARTHEST = 9.0
"""Standard deviations beyond which the normal density is negligible."""
_LEAST_SPENT = 1e-16
_EXACT = 1e-10
"""Of a bound, in standard deviations."""
_PATHS = 2**18
_FEWEST_CROSSINGS = 100
"""Fewest simulated runs that a bound is set by."""


@lru_cache(maxsize=4096)
def critical_t_at(
    n: int, alpha: float, looks: tuple[int, ...], units: float | None = None
) -> float:
    """|t| that n block differences must exceed, two-sided, with looks at these blocks.

    `units` is how many independent values the estimate is worth, if not n: fewer with a covariate,
    more in a switchback; the bound is then the one with the same nominal p. An n between looks (an
    incomplete block, a stopped run) is treated as one more look, with the error that n allows.
    After the last look its bound stays.
    """
    units = n if units is None else units
    if units < 2 or not looks:
        return math.inf
    last = looks[-1]
    at = min(n, last)
    before = tuple(look for look in looks if look < at)
    # Bounds of the first looks do not depend on later ones: one simulation serves all looks.
    seen = looks if at in looks else (*before, at)
    if units > n:
        # So many values have almost no small-sample error: the bounds for a known variance do.
        z = bounds(tuple(look / last for look in seen), alpha)[len(before)]
        nominal = float(special.ndtr(-z))
    else:
        found = _criticals(seen, last, alpha)[len(before)]
        if math.isinf(found) or units == at:
            return found
        nominal = float(special.stdtr(at - 1, -found))
    return float(-special.stdtrit(units - 1, nominal))


def level_at(n: int, alpha: float, looks: Sequence[int]) -> float:
    """The two-sided p that a test must pass after n blocks, so that all looks together have
    `alpha`.

    Between looks the level of the next one holds, after the last look the last one's.
    """
    found = bounds(tuple(look / looks[-1] for look in looks), alpha)
    at = next((at for at, look in enumerate(looks) if look >= n), len(looks) - 1)
    return float(2.0 * special.ndtr(-found[at]))


def sign_evidence(more: float, fewer: float) -> float:
    """Returns the logarithm of the evidence that pairs which differ do not differ either way alike.

    Without an effect it ever reaches log(1 / alpha) in at most the share `alpha` of runs, at
    whatever pairs one looks (Ville's inequality). The likelihood of the signs is averaged over
    their probability by Beta(1/2, 1/2) (Krichevsky and Trofimov, IEEE Trans. Inf. Theory 27, 1981).
    """
    mixed = special.betaln(more + 0.5, fewer + 0.5) - special.betaln(0.5, 0.5)
    return float(mixed + (more + fewer) * math.log(2.0))


@lru_cache(maxsize=1024)
def _criticals(seen: tuple[int, ...], last: int, alpha: float) -> tuple[float, ...]:
    """One bound per look, each spending the error that is still allowed."""
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
    """|t| of simulated normal block differences without effect, a row per look; always the same."""
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
    """The two-sided error spent at this share of the information, power family.

    Early looks get less than by a function of Pocock type, more than by one of O'Brien-Fleming
    type.

    docs/measured/validation-adverse.md has the error rates and the blocks that runs take with it.
    """
    return float(alpha * fraction**_POWER)


@lru_cache(maxsize=4096)
def bounds(fractions: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    """|z| at each of increasing shares of the information."""
    found: list[float] = []
    places = np.zeros(1)  # nodes of the density of the sum, where no bound was crossed
    weights = np.ones(1)
    before = 0.0
    used = 0.0
    for fraction in fractions:
        step = math.sqrt(fraction - before)
        allowed = spent(fraction, alpha) - used
        edge = _edge(places, weights, step, allowed)
        found.append(edge / math.sqrt(fraction))
        places, weights = _go_on(places, weights, step, min(edge, _FARTHEST * math.sqrt(fraction)))
        before, used = fraction, used + max(allowed, 0.0)
    return tuple(found)


def _edge(places: Vector, weights: Vector, step: float, allowed: float) -> float:
    """The bound that the sum crosses with the allowed probability."""
    if allowed < _LEAST_SPENT:
        return math.inf

    # Newton's steps within a bracket: scipy.optimize takes a third of a second to load.
    low, high, edge = 0.0, 2.0 * _FARTHEST, 2.0 * step
    while high - low > _EXACT:
        above, below = (places - edge) / step, (-places - edge) / step
        out = special.ndtr(above) + special.ndtr(below)
        excess = float(weights @ out) - allowed
        low, high = (edge, high) if excess > 0.0 else (low, edge)
        density = np.exp(-0.5 * above**2) + np.exp(-0.5 * below**2)
        slope = float(weights @ density) / (step * math.sqrt(2.0 * math.pi))
        move = excess / slope if slope else math.inf
        if abs(move) < _EXACT:
            break
        edge = edge + move if low < edge + move < high else (low + high) / 2.0
    return edge


def _go_on(places: Vector, weights: Vector, step: float, edge: float) -> tuple[Vector, Vector]:
    """The density of the next sum between the bounds, on integration nodes."""
    nodes, shares = _legendre()
    next_places = edge * nodes
    kernel = np.exp(-0.5 * ((next_places[:, None] - places) / step) ** 2)
    density = kernel @ weights / (step * math.sqrt(2.0 * math.pi))
    return next_places, density * shares * edge


@lru_cache(maxsize=1)
def _legendre() -> tuple[Vector, Vector]:
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    return nodes, shares
