"""Find the values of levels that are amounts, and whether they rise by steps or by ratios.

Enters: a Factor. Leaves: `Scores`, or None if its levels have no order.
Never: guesses an order of words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pgassay.plan.model import Factor
from pgassay.spec.factors.kinds import KINDS, Alternates
from pgassay.spec.reading.units import to_base
from pgassay.spec.settings.catalogue import entries_of

_FEWEST = 3
"""Levels that a trend needs; with two there is only their difference."""


@dataclass(frozen=True)
class Scores:
    """The position of each level of a factor on the axis of a trend."""

    values: tuple[float, ...]
    """In the order of the levels; logarithms to base 2 where `doublings`."""
    doublings: bool

    @property
    def span(self) -> float:
        """The difference between the highest and the lowest position."""
        return max(self.values) - min(self.values)


@lru_cache(maxsize=256)
def scores_of(factor: Factor) -> Scores | None:
    """Returns the positions of three or more levels that are amounts; None for words and special
    values.

    Scores are logarithms if these are spaced more evenly, as for 1, 4, 16 and unlike 10, 20, 30.
    A negative level is a special value of a setting, not an amount.
    """
    if len(factor.levels) < _FEWEST:
        return None
    found = [_amount(factor, level) for level in factor.levels]
    amounts = [amount for amount in found if amount is not None and amount >= 0.0]
    if len(amounts) < len(found) or len(set(amounts)) < len(found):
        return None
    if min(amounts) > 0.0:
        doublings = [math.log2(amount) for amount in amounts]
        if _unevenness(doublings) < _unevenness(amounts):
            return Scores(tuple(doublings), doublings=True)
    return Scores(tuple(amounts), doublings=False)


def _unevenness(values: Sequence[float]) -> float:
    """The coefficient of variation of the gaps between neighbours."""
    gaps = np.diff(sorted(values))
    return float(np.std(gaps) / np.mean(gaps))


def _amount(factor: Factor, level: str) -> float | None:
    for unit, vartype in _units(factor):
        try:
            value = float(to_base(level, unit, vartype))
        except ValueError:
            continue
        return value if math.isfinite(value) else None
    return None


def _units(factor: Factor) -> list[tuple[str | None, str]]:
    """(unit, type) to try: the catalogue's, or a plain number, memory, a time."""
    is_setting = KINDS[factor.kind].alternates is Alternates.SETTING
    if is_setting and (known := entries_of(factor.name)):
        numeric = known[-1]["vartype"] in ("integer", "real")
        return [(known[-1].get("unit"), "real")] if numeric else []
    return [(None, "real"), ("B", "real"), ("us", "real")]
