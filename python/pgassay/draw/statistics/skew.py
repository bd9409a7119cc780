"""Laws by which some rows are asked for more often than others.

Enters: the texts of `--skew`. Leaves: weights of ranks. Never: knows which rows of a server are
asked for most: the rank of a row is chosen at random.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from pgassay.refusals.refusal import SetupRefused

_LAW = re.compile(r"(?:(?P<column>.+)=)?zipf:(?P<exponent>\d+(?:\.\d+)?)")
_MOST = 10.0


@dataclass(frozen=True, slots=True)
class Skew:
    """The exponents of Zipf's law, by column and of all others."""

    of_all: float = 0.0
    """0: each row as often."""
    by_column: dict[str, float] = field(default_factory=dict)
    """schema.table.column, without quotes, → exponent."""

    def exponent(self, columns: Iterable[str]) -> float:
        """Returns the exponent of rows that are looked up by these columns: that of the first with
        one of its own."""
        return next((self.by_column[one] for one in columns if one in self.by_column), self.of_all)

    def refuse_unknown(self, used: Collection[str]) -> None:
        """Raises SetupRefused for a column that no parameter is compared with."""
        for column in self.by_column:
            if column not in used:
                raise SetupRefused("draw-skew-of-nothing", "--skew", column=column)


def skew_of(texts: Iterable[str]) -> Skew:
    """Returns the laws of `zipf:1.0` and `schema.table.column=zipf:1.0`; raises SetupRefused."""
    of_all = 0.0
    by_column: dict[str, float] = {}
    for text in texts:
        found = _LAW.fullmatch(text.strip())
        if found is None or float(found["exponent"]) > _MOST:
            raise SetupRefused("draw-skew-unreadable", "--skew", text=text, most=_MOST)
        if found["column"]:
            by_column[found["column"].replace('"', "")] = float(found["exponent"])
        else:
            of_all = float(found["exponent"])
    return Skew(of_all, by_column)


def picked(size: int, rows: int, exponent: float, random: np.random.Generator) -> np.ndarray:
    """Returns `rows` places below `size`; with exponent 0 each as often as another, in a random
    order, else place p in proportion to 1 / (p + 1) ** exponent."""
    if exponent == 0.0:
        return np.resize(random.permutation(size), rows)
    weights = 1.0 / np.arange(1, size + 1) ** exponent
    return random.choice(size, rows, p=weights / weights.sum())
