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
from dataclasses import dataclass
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
_TIES, _NOTHING = 1e-9, 1e-12
"""Sums that are equal on paper differ by rounding; of nothing it is all there is."""


def max_t_p(differences: NDArray[np.float64]) -> list[float] | None:
    """A p per column, step-down; None below two blocks."""
    found = _flipped(differences)
    return None if found is None else list(found.together)


def each_p(differences: NDArray[np.float64]) -> list[float] | None:
    """The same of every column for itself, corrected for none."""
    found = _flipped(differences)
    return None if found is None else list(found.alone)


@dataclass(frozen=True)
class _Found:
    """A p per contrast."""

    together: tuple[float, ...]
    alone: tuple[float, ...]


def _flipped(differences: NDArray[np.float64]) -> _Found | None:
    blocks, contrasts = differences.shape
    if blocks < 2 or contrasts == 0:
        return None
    return _p_of(differences.astype(np.float64).tobytes(), blocks, contrasts)


@lru_cache(maxsize=256)
def _p_of(table: bytes, blocks: int, contrasts: int) -> _Found:
    """Remembered, because the p of contrasts are asked for alone and together, and of the first
    blocks at every later look."""
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
        # Each contrast is held against the largest of those that are not above it.
        largest = np.maximum.accumulate(sums, axis=1)
        as_large += np.sum(largest >= bars, axis=0)
    drawn = blocks > EXACT_UP_TO
    rising = (as_large + drawn) / (patterns + drawn)
    rising = np.maximum.accumulate(rising[::-1])[::-1]
    found = np.empty((2, contrasts))
    found[:, order] = rising, (alone + drawn) / (patterns + drawn)
    together, each = found.tolist()
    return _Found(tuple(together), tuple(each))


def _signs(blocks: int) -> Iterator[Signs]:
    """Every pattern up to a flip of all signs, which changes no size; or many drawn ones."""
    if blocks <= EXACT_UP_TO:
        yield from _every(blocks)
        return
    for patterns in _drawn(blocks):
        yield patterns.astype(np.float64)


@lru_cache(maxsize=2)
def _drawn(blocks: int) -> tuple[NDArray[np.int8], ...]:
    """In a byte each: every verdict of a run asks for the same ones."""
    source = np.random.default_rng(0)
    count = _DRAWN_OF_MANY if blocks > _MANY else _DRAWN
    sizes = [(_AT_ONCE, blocks)] * (count // _AT_ONCE)
    return tuple(source.choice((-1.0, 1.0), size=size).astype(np.int8) for size in sizes)


@lru_cache(maxsize=2)
def _every(blocks: int) -> tuple[Signs, ...]:
    patterns = np.arange(2 ** (blocks - 1))[:, None] >> np.arange(blocks) & 1
    signs = np.where(patterns == 1, -1.0, 1.0)
    return tuple(signs[start : start + _AT_ONCE] for start in range(0, len(signs), _AT_ONCE))
