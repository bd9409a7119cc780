"""The effect on every query of a set.

Enters: effects of one level. Leaves: a chart with a row per query, the most important first: its
change, the interval, zero and the band of changes too small to matter. Never: computes an effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pgassay.analysis.queries.model import QueryEffect
from pgassay.language import decimals, tr
from pgassay.quantities import signed_percent
from pgassay.report.charts.style import (
    BAND_OPACITY,
    INK,
    SHADE,
    TONE_COLOURS,
    TONES,
    limits,
)
from pgassay.report.svg.model import Axis, Box, Figure, Line, Panel, Points, Rule
from pgassay.report.svg.text import shortened

_ROW_PX, _NAME_PX = 21, 130
_TICK_PX = 12
_LEAST_PCT = -99.9
"""A change that is drawn; smaller ones are as far as can be seen."""
_MOST_TICKS = 5
_FACTORS, _STEPS_PCT = (2.0, 4.0, 10.0, 100.0, 1000.0), (1.0, 2.0, 5.0, 10.0, 25.0, 50.0)
"""Of an axis: by which factor numbers differ where it spans several, else by how many per cent."""
_SEVERAL = math.log(4.0)


def queries_chart(effects: Sequence[QueryEffect]) -> Figure | None:
    """Draws the effects of one level in their order; returns None where no change is known.

    The axis is one of ratios: twice as fast is as far from zero as twice as slow.
    """
    known = [one for one in effects if one.change_pct is not None]
    if not known:
        return None
    margin = 100.0 * known[0].margin
    places = [_place(one.change_pct or 0.0) for one in known]
    ends = [_place(end) for one in known for end in one.ci95_pct or ()]
    low, high = limits([_place(-margin), _place(margin), *places], ends)
    names = [(float(at), shortened(one.query, _TICK_PX, _NAME_PX)) for at, one in enumerate(known)]
    panel = Panel(
        Axis(
            tr("change of a query’s time (← faster)"), low=low, high=high, ticks=_ticks(low, high)
        ),
        Axis(low=len(known) - 0.5, high=-0.5, ticks=names, most_ticks=len(names), grid=False),
        len(known) * _ROW_PX,
    )
    panel.add(
        Box(_place(-margin), _place(margin), None, None, SHADE, BAND_OPACITY),
        Rule(INK, x=0.0, width=1.2),
    )
    for at, (one, place) in enumerate(zip(known, places, strict=True)):
        colour = TONE_COLOURS[TONES[one.verdict]]
        tip = (one.query, signed_percent(one.change_pct), *_joint(one))
        if one.ci95_pct is not None:
            own = _place(one.ci95_pct[0]), _place(one.ci95_pct[1])
            panel.add(Line(own, (at, at), colour, width=3.0))
        panel.add(Points((place,), (at,), colour, (tip,), size=10, symbol="diamond"))
    return Figure([panel], has_arms=False)


def _joint(one: QueryEffect) -> Iterator[str]:
    if one.ci95_pct is not None:
        low, high = (signed_percent(end, like=one.change_pct) for end in one.ci95_pct)
        yield tr("joint 95 % CI {low} to {high}", low=low, high=high)


def _place(change_pct: float) -> float:
    return math.log1p(max(change_pct, _LEAST_PCT) / 100.0)


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    if high - low > _SEVERAL:
        logs = [math.log(factor) for factor in _FACTORS]
        step = next((one for one in logs if high - low <= _MOST_TICKS * one), logs[-1])
        changes = [100.0 * math.expm1(at * step) for at in _multiples(low / step, high / step)]
    else:
        ends = 100.0 * math.expm1(low), 100.0 * math.expm1(high)
        apart = (one for one in _STEPS_PCT if ends[1] - ends[0] <= _MOST_TICKS * one)
        step = next(apart, _STEPS_PCT[-1])
        changes = [at * step for at in _multiples(ends[0] / step, ends[1] / step)]
    return [(math.log1p(one / 100.0), _tick(one)) for one in changes]


def _multiples(low: float, high: float) -> range:
    return range(math.ceil(low), math.floor(high) + 1)


def _tick(change_pct: float) -> str:
    if change_pct > 200.0:
        return f"×{decimals(1.0 + change_pct / 100.0, '.3g')}"
    sign = "+" if change_pct > 0.0 else "−" if change_pct < 0.0 else ""
    return f"{sign}{decimals(abs(change_pct), '.3g')} %"
