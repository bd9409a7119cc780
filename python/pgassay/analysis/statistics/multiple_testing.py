"""Several contrasts tested together: corrected p values.

Enters: a table of contrasts, a row per block; or p values. Leaves: one corrected p per contrast.
Never: mixes contrasts of different blocks.

Max-T (Westfall and Young, Resampling-Based Multiple Testing, 1993, step-down) flips the signs of
whole blocks. All contrasts of a block are flipped together, which keeps their correlation (a shared
baseline, a shared whole plot), so the correction is milder than Bonferroni's;
docs/methods/verdicts.md states the assumptions. Benjamini and Yekutieli's rule (Annals of
Statistics 29, 2001) bounds the false discovery rate under any dependence of the tests.
"""

from __future__ import annotations

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


def max_t_p(differences: NDArray[np.float64]) -> list[float] | None:
    """A p per column, step-down; None below two blocks."""
    found = flipped_p(differences)
    return None if found is None else list(found[0])


def flipped_p(
    differences: NDArray[np.float64],
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The p of each column, step-down, and of each alone, uncorrected; None below two blocks."""
    blocks, contrasts = differences.shape
    if blocks < 2 or contrasts == 0:
        return None
    return _p_of(differences.astype(np.float64).tobytes(), blocks, contrasts)


@lru_cache(maxsize=256)
def _p_of(table: bytes, blocks: int, contrasts: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Cached: p values are asked for alone and together, and again at every later look."""
    differences = np.frombuffer(table, dtype=np.float64).reshape(blocks, contrasts)
    # Σ d² is the same for every pattern, so |Σ d| / √Σd² orders patterns as |t| does.
    lengths = np.sqrt(np.sum(differences**2, axis=0))
    scaled = differences / np.where(lengths > 0.0, lengths, 1.0)
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(observed)
    alone, as_large = np.zeros((2, contrasts))
    bars = observed[order] * (1.0 - _TIES) - _NOTHING
    patterns = 0
    for signs in _signs(blocks):
        patterns += len(signs)
        sums = np.abs(signs @ scaled)[:, order]
        alone += np.sum(sums >= bars, axis=0)
        # Step-down: each contrast is compared with the largest of those not above it.
        largest = np.maximum.accumulate(sums, axis=1)
        as_large += np.sum(largest >= bars, axis=0)
    drawn = blocks > EXACT_UP_TO
    rising = (as_large + drawn) / (patterns + drawn)
    rising = np.maximum.accumulate(rising[::-1])[::-1]
    found = np.empty((2, contrasts))
    found[:, order] = rising, (alone + drawn) / (patterns + drawn)
    together, each = found.tolist()
    return tuple(together), tuple(each)


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
