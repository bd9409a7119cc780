"""Inference that may look after every block.

Enters: block differences. Leaves: an e-value for "no difference" and the confidence sequence it
inverts to. Never: needs to know when one will stop; that is the point.

Source: Wang & Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with
unknown variance" (arXiv 2310.03722); the scale-invariant mixture e-process for the t statistic.
"""

from __future__ import annotations

import math
from functools import lru_cache

PRIOR_SCALE = 1.0
"""c in g = 1 + n c²: how large an effect, in standard deviations of a block difference, the
mixture looks for. A constant of the method, fixed before any data."""


def log_e_value(t: float, n: float) -> float:
    """The logarithm of the e-value of a t statistic from n block differences."""
    if n < 2:
        return 0.0
    nu, g = n - 1, 1.0 + n * PRIOR_SCALE**2
    square = t * t
    return -0.5 * math.log(g) + (nu + 1) / 2 * (
        math.log1p(square / nu) - math.log1p(square / (g * nu))
    )


@lru_cache(maxsize=4096)
def critical_t(n: float, alpha: float) -> float:
    """|t| at which the e-value reaches 1/alpha; infinite where n is too small to ever do so."""
    if n < 2:
        return math.inf
    nu, g = n - 1, 1.0 + n * PRIOR_SCALE**2
    ratio = math.exp(2.0 / (nu + 1) * (math.log(1.0 / alpha) + 0.5 * math.log(g)))
    if ratio >= g:
        return math.inf
    return math.sqrt(nu * (ratio - 1.0) / (1.0 - ratio / g))
