"""Levels that are amounts: their values, and whether they are spaced by steps or by ratios.

Enters: a Factor. Leaves: `Scores`, or None where its levels have no order.
Never: guesses an order for words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pgassay.plan.model import Factor
from pgassay.spec.settings import CATALOGUED, catalogue
from pgassay.spec.units import to_base

_FEWEST = 3
"""Levels that make a line; with two it is their difference."""


@dataclass(frozen=True)
class Scores:
    """Where each level of a factor lies on its line."""

    values: tuple[float, ...]
    """In the order of the levels; logarithms to base 2 where `doublings`."""
    doublings: bool

    @property
    def span(self) -> float:
        """From the lowest to the highest."""
        return max(self.values) - min(self.values)


@lru_cache(maxsize=256)
def scores_of(factor: Factor) -> Scores | None:
    """The scores of three or more levels that are amounts; None for words and special values.

    Levels are taken by their logarithms where that spaces them more evenly: 1, 4, 16 do, 10, 20,
    30 do not. A negative amount is a setting's way to say "something else", not an amount.
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
    """The spread of the gaps between neighbours, by their mean."""
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
    """(unit, type) to read a level by: the catalogue's, or a number, memory, a time."""
    if factor.kind == "postgres":
        known = [catalogue(m)[factor.name] for m in CATALOGUED if factor.name in catalogue(m)]
        if known:
            entry = known[-1]
            numeric = entry["vartype"] in ("integer", "real")
            return [(entry.get("unit"), "real")] if numeric else []
    return [(None, "real"), ("B", "real"), ("us", "real")]
