"""The sign-flip p of one contrast, and p values corrected for many.

Enters: a number per block; or p values. Leaves: a p each.
Never: mixes contrasts of different blocks.

The signs of whole blocks are flipped (Fisher). Benjamini and Yekutieli's rule (Annals of Statistics
29, 2001) bounds the false discovery rate under any dependence of the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.float64]

EXACT_UP_TO = 16
"""Blocks up to which all 2^n sign patterns are used; above, random ones."""
_DRAWN = 100_000
_MANY, _DRAWN_OF_MANY = 64, 4_000
"""Only rounds of slices are so many; their patterns cost more, and their p decides nothing."""
_AT_ONCE = 4000
"""Patterns in memory at a time."""
_TIES, _NOTHING = 1e-9, 1e-12
"""Relative and absolute tolerance: sums that are equal in theory differ by rounding."""


def sign_flip_p(differences: NDArray[np.float64]) -> float | None:
    """The exact two-sided sign-flip p of a mean of zero; None below two blocks.

    Under no effect both signs of a block's difference are equally likely, because the order of its
    arms was drawn.
    """
    if len(differences) < 2:
        return None
    return _p_of(differences.astype(np.float64).tobytes(), len(differences))


@lru_cache(maxsize=256)
def _p_of(content: bytes, blocks: int) -> float:
    """Cached: it is asked for again at every later look."""
    differences = np.frombuffer(content, dtype=np.float64)
    # Σ d² is the same for every pattern, so |Σ d| / √Σd² orders patterns as |t| does.
    scaled = differences / (math.sqrt(float(differences @ differences)) or 1.0)
    bar = abs(float(scaled.sum())) * (1.0 - _TIES) - _NOTHING
    as_large = patterns = 0
    for signs in _signs(blocks):
        patterns += len(signs)
        as_large += int(np.count_nonzero(np.abs(signs @ scaled) >= bar))
    drawn = blocks > EXACT_UP_TO
    return (as_large + drawn) / (patterns + drawn)


def _signs(blocks: int) -> Iterator[Signs]:
    """All patterns (up to a flip of all signs, which changes no size), or many random ones."""
    if blocks <= EXACT_UP_TO:
        yield from _every(blocks)
        return
    for patterns in _drawn(blocks):
        yield patterns.astype(np.float64)


@lru_cache(maxsize=2)
def _drawn(blocks: int) -> tuple[NDArray[np.int8], ...]:
    """Random patterns, one byte a sign; every verdict of a run uses the same ones."""
    source = np.random.default_rng(0)
    count = _DRAWN_OF_MANY if blocks > _MANY else _DRAWN
    sizes = [(_AT_ONCE, blocks)] * (count // _AT_ONCE)
    return tuple(source.choice((-1.0, 1.0), size=size).astype(np.int8) for size in sizes)


@lru_cache(maxsize=2)
def _every(blocks: int) -> tuple[Signs, ...]:
    patterns = np.arange(2 ** (blocks - 1))[:, None] >> np.arange(blocks) & 1
    signs = np.where(patterns == 1, -1.0, 1.0)
    return tuple(signs[start : start + _AT_ONCE] for start in range(0, len(signs), _AT_ONCE))


def yekutieli(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjusted p values: of those below 0.05, at most one in twenty is expected to be false.

    scipy's function is the same but takes a second to import.
    """
    many = len(p)
    if many == 0:
        return p
    order = np.argsort(p)
    ranks = np.arange(1, many + 1)
    scaled = p[order] * (many * float(np.sum(1.0 / ranks)) / ranks)
    adjusted = np.empty(many)
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(adjusted, 1.0)


def selected_alpha(p: NDArray[np.float64], rate: float) -> float:
    """The error of each interval at which intervals and `yekutieli` at this rate agree.

    Of the intervals that exclude zero, which are those of the p values selected by that rule, at
    most this share is expected to miss its true value: the false coverage rate (Benjamini and
    Yekutieli, Journal of the American Statistical Association 100, 2005).
    """
    many = len(p)
    if many == 0:
        return rate
    selected = max(1, int(np.count_nonzero(yekutieli(p) <= rate)))
    return rate * selected / (many * float(np.sum(1.0 / np.arange(1, many + 1))))
