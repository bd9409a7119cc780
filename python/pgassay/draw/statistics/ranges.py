"""Bounds of a stretch of a column that lets through as many rows as on the source.

Enters: sampled values of a column, the share of rows that is wanted. Leaves: lower and upper
bounds. Never: takes values for the user's own bounds, which the statistics do not have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgassay.draw.tables.guesses import INTEGERS, TIMES

_GUESS = 0.01
"""Of all rows, where a statement does not say how many it reads."""
_ORDERED = {*INTEGERS, *TIMES, "numeric", "real", "double precision"}


@dataclass(frozen=True, slots=True)
class Width:
    """How many rows a call of a statement gives or changes; None where it says nothing of how many
    it reads, as with aggregates."""

    rows: float | None

    def share_of(self, table_rows: float | None) -> float:
        """Returns the share of a table's rows that lies between two bounds."""
        if self.rows is None or not table_rows or table_rows <= 0:
            return _GUESS
        return min(1.0, self.rows / table_rows)


def between(
    kind: str, sampled: list[str | None], share: float, rows: int, random: np.random.Generator
) -> tuple[list[str], list[str]] | None:
    """Returns lower and upper bounds, pair by pair, of which the lower is no higher; None for a
    type that is not ordered as numbers or times are."""
    known = [one for one in sampled if one is not None]
    if kind not in _ORDERED or not known:
        return None
    known.sort(key=None if kind in TIMES else float)
    step = share * len(known)
    places = random.integers(0, max(1, len(known) - round(step)), rows)
    ends = np.minimum(places + round(step), len(known) - 1)
    lows = [known[place] for place in places]
    if kind in INTEGERS and round(step) < 1:
        # Between two sampled numbers lie others; each is taken to be as far from the next.
        spread = (int(known[-1]) - int(known[0])) / max(1, len(known) - 1)
        return lows, [str(int(one) + round(spread * step)) for one in lows]
    return lows, [known[place] for place in ends]
