"""Several contrasts tested together: max-T p values by flipping signs of whole blocks.

Enters: a table of contrasts, a row per block. Leaves: one p per contrast, corrected for all.
Never: takes contrasts of different blocks.

All contrasts of a block are flipped together, so what ties them to each other (a shared baseline,
a shared whole plot) is kept, and less is paid for than by Bonferroni's rule. Source: Westfall &
Young, Resampling-Based Multiple Testing (1993), step-down max-T; docs/methods.md says what is
assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.float64]

EXACT_UP_TO = 16
"""Blocks up to which all 2^n sign patterns are tried; above, drawn ones."""
_DRAWN = 100_000
_MANY, _DRAWN_OF_MANY = 64, 4_000
"""Only rounds of slices are so many: a pattern of them costs more, and their p decides nothing."""
_AT_ONCE = 4000
"""Patterns held at a time: many blocks and many contrasts must fit into memory."""
_TIES = 1e-9
"""Sums that are equal on paper differ by rounding."""


def max_t_p(differences: NDArray[np.float64]) -> list[float] | None:
    """A p per column, step-down; None below two blocks."""
    blocks, contrasts = differences.shape
    if blocks < 2 or contrasts == 0:
        return None
    return list(_p_of(differences.astype(np.float64).tobytes(), blocks, contrasts))


@lru_cache(maxsize=256)
def _p_of(table: bytes, blocks: int, contrasts: int) -> tuple[float, ...]:
    """Remembered, because one verdict's p is asked for alone and together with the others, and of
    the first blocks at every later look."""
    differences = np.frombuffer(table, dtype=np.float64).reshape(blocks, contrasts)
    # Σ d² is the same for every pattern, so |Σ d| / √Σd² orders patterns as |t| does.
    lengths = np.sqrt(np.sum(differences**2, axis=0))
    scaled = differences / np.where(lengths > 0.0, lengths, 1.0)
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(observed)
    as_large = np.zeros(contrasts)
    patterns = 0
    for signs in _signs(blocks):
        patterns += len(signs)
        sums = np.abs(signs @ scaled)[:, order]
        # Each contrast is held against the largest of those that are not above it.
        largest = np.maximum.accumulate(sums, axis=1)
        as_large += np.sum(largest >= observed[order] * (1.0 - _TIES), axis=0)
    drawn = blocks > EXACT_UP_TO
    rising = (as_large + drawn) / (patterns + drawn)
    rising = np.maximum.accumulate(rising[::-1])[::-1]
    found = np.empty(contrasts)
    found[order] = rising
    return tuple(float(p) for p in found)


def _signs(blocks: int) -> Iterator[Signs]:
    """Every pattern up to a flip of all signs, which changes no size; or many drawn ones."""
    if blocks <= EXACT_UP_TO:
        yield from _every(blocks)
        return
    if blocks > _MANY:
        yield _of_many(blocks).astype(np.float64)
        return
    source = np.random.default_rng(0)
    for _ in range(_DRAWN // _AT_ONCE):
        yield source.choice((-1.0, 1.0), size=(_AT_ONCE, blocks))


@lru_cache(maxsize=2)
def _of_many(blocks: int) -> NDArray[np.int8]:
    """In a byte each: every verdict of a run asks for the same ones."""
    source = np.random.default_rng(0)
    return source.choice((-1.0, 1.0), size=(_DRAWN_OF_MANY, blocks)).astype(np.int8)


@lru_cache(maxsize=2)
def _every(blocks: int) -> tuple[Signs, ...]:
    patterns = np.arange(2 ** (blocks - 1))[:, None] >> np.arange(blocks) & 1
    signs = np.where(patterns == 1, -1.0, 1.0)
    return tuple(signs[start : start + _AT_ONCE] for start in range(0, len(signs), _AT_ONCE))
