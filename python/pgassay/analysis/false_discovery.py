"""p values of many tests, so that few of what is told are false.

Enters: p values. Leaves: those of Benjamini and Yekutieli (2001), which hold whatever ties the
tests to each other. Never: drops one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def yekutieli(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Told where at most 0.05, one in twenty of them is expected to be false.

    scipy has the same, and takes a second to load, which most commands can do without.
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
