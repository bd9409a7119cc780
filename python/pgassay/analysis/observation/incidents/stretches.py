"""Stretches of slices in which something was far from usual.

Enters: which slices were. Leaves: `Stretch`, and what is far. Never: says what a sign is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.observation.incidents.usual import spread
from pgassay.analysis.reading.binned import Floats

SHORTEST = 2
"""Slices of a stretch."""
_FAR = 4.5
"""Standard deviations."""
_LEAST_SPREAD = 0.1
"""Of a logarithm: where a signal hardly varies, a tenth is nothing unusual."""
Hits = NDArray[np.bool_]


@dataclass(frozen=True)
class Stretch:
    """Slices from `first` to before `last` in which a sign was far from usual."""

    kind: str
    first: int
    last: int
    value: float
    usual: float
    objects: tuple[str, ...]


def is_far(ratio: Floats) -> Hits:
    """Whether the logarithm of a value over its usual one is far above what it varies by."""
    hits: Hits = ratio >= _FAR * max(_LEAST_SPREAD, spread(ratio))
    return hits


def bridged(hits: Hits) -> Hits:
    """A single slice between two hits is one."""
    found = hits.copy()
    found[1:-1] |= hits[:-2] & hits[2:]
    return found
