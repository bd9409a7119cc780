"""Whether the place of a trial in its block made it faster or slower.

Enters: the primary metric's complete blocks. Leaves: a caveat with the size of the effect.
Never: changes an estimate; `compare/blocks/positions.py` has taken the effect out already.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import BlockTable, Vector
from pgassay.analysis.compare.blocks.positions import PositionEffects, position_effects
from pgassay.analysis.measures.model import Caveat
from pgassay.analysis.reading.metrics import Metric
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.notes import Note, Term, Value

_LEVEL = 0.05
_MATTERS = 0.5
"""Share of the smallest effect from which it is reported."""


def position_caveats(metric: Metric, table: BlockTable, smallest_effect: float) -> Iterator[Caveat]:
    """Makes one caveat where a trend over positions, or the first position, stands out."""
    found = position_effects(table.complete())
    if found is None or metric.scale != "ratio":
        return
    shapes = {"first": _first_against_later(len(found.values))}
    if len(found.values) > 2:
        shapes["trend"] = _slope(len(found.values))
    tested = {name: (*found.contrast(w), _p(found, w)) for name, w in shapes.items()}
    name, (size, error, p) = min(tested.items(), key=lambda item: item[1][2])
    if p * len(shapes) > _LEVEL or abs(size) < _MATTERS * smallest_effect:
        return
    reach = float(special.stdtrit(found.freedom, 1.0 - _LEVEL / 2.0)) * error
    low, high = ratio_pct(size - reach), ratio_pct(size + reach)
    values: dict[str, Value] = {
        "what": Note(_SHAPES[name], {"title": Term(metric.title)}),
        "size": ratio_pct(size),
        "low": low,
        "high": high,
    }
    yield Caveat.of("position", Note("analysis/verdicts/position", values))


_SHAPES = {"first": "analysis/verdicts/first-in-block", "trend": "analysis/verdicts/along-block"}


def _first_against_later(count: int) -> Vector:
    weights = np.full(count, -1.0 / (count - 1))
    weights[0] = 1.0
    return weights


def _slope(count: int) -> Vector:
    centred: Vector = np.arange(count, dtype=np.float64) - (count - 1) / 2.0
    return centred / float(centred @ centred)


def _p(found: PositionEffects, weights: Vector) -> float:
    size, error = found.contrast(weights)
    if error <= 0.0:
        return 1.0
    return float(2.0 * special.stdtr(found.freedom, -abs(size) / error))
