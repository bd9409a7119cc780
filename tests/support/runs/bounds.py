"""Simulated bounds of looks, which take up to a second, once for all processes of the tests.

Enters: nothing. Leaves: the bounds that the package computes, kept beside what tests make once.
Never: changes a bound, or keeps one beyond this run of pytest.
"""

from __future__ import annotations

import os
from functools import lru_cache

from support.synthetic.kept import FOLDER, kept_object


def keep_bounds() -> None:
    """In this process, and those that are forked from it, where the folder is known."""
    from pgassay.analysis.statistics import sequential  # takes numpy, which reads its surroundings

    computed = sequential._criticals

    @lru_cache(maxsize=1024)
    def kept(seen: tuple[int, ...], last: int, alpha: float) -> tuple[float, ...]:
        if FOLDER not in os.environ:
            return computed(seen, last, alpha)
        return kept_object(lambda: computed(seen, last, alpha), seen, last, alpha)

    sequential._criticals = kept
