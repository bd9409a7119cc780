"""How much runs made apart differ.

Enters: an analysis of runs made apart. Leaves: a chart with a row per side, arm and endpoint: the
change with the interval that decides, and the narrower one of trials inside the runs.
Never: computes an interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.apart.model import ApartAnalysis, RunDifference
from pgassay.findings.answer.endpoints import endpoint_title
from pgassay.language import colon, listed, tr
from pgassay.quantities import load, signed_percent
from pgassay.report.charts.style import (
    BAND_OPACITY,
    INK,
    SHADE,
    TONE_COLOURS,
    TONES,
    words_of_row,
)
from pgassay.report.svg.model import Axis, Box, Figure, Line, Mark, Panel, Points, Rule

_ROW_PX = 82
_BACKGROUND = (0.12, 0.24)
_WIDEST, _FURTHEST_PCT = 3.0, 100.0
"""An interval may stretch the axis to so many times the largest change, and to so much always."""


def differences_chart(analysis: ApartAnalysis) -> Figure | None:
    """Draws the verdicts and the endpoints beside them; returns None where no change is known."""
    judged = [one for one in analysis.judged() if one.comparison.effect_pct is not None]
    if not judged:
        return None
    margin = 100 * analysis.smallest_effect
    low, high = _range(judged, margin)
    panel = Panel(
        Axis(tr("change against the baseline run"), low=low, high=high, suffix=" %"),
        Axis(low=len(judged) - 0.5, high=-0.5, hidden=True),
        len(judged) * _ROW_PX,
    )
    for at, one in enumerate(judged):
        panel.add(*_row(at, one, margin))
    return Figure([panel], has_arms=False)


def _row(at: int, one: RunDifference, margin: float) -> Iterator[Mark]:
    comparison = one.comparison
    above, below = at - _BACKGROUND[0], at + _BACKGROUND[1]
    yield Box(-margin, margin, above, below, SHADE, BAND_OPACITY)
    yield Rule(INK, x=0.0, low=below, high=above, width=1.2)
    colour = TONE_COLOURS[TONES[comparison.verdict]]
    effect = comparison.effect_pct or 0.0
    if comparison.ci95_pct is not None:
        yield Line(comparison.ci95_pct, (at, at), colour, width=3.5)
        yield Points(comparison.ci95_pct, (at, at), colour, ((), ()), size=13, symbol="tick")
    if one.within_pct is not None:
        yield Line(one.within_pct, (at, at), colour, width=8.0, opacity=0.35)
    place = listed(part for part in _of(one) if part)
    label = f"{place}{colon()}{endpoint_title(comparison.metric)}"
    tip = (label, signed_percent(effect))
    yield Points((effect,), (at,), colour, (tip,), size=13, symbol="diamond")
    yield from words_of_row(label, at, effect)


def _of(one: RunDifference) -> tuple[str, str, str]:
    comparison = one.comparison
    at = "" if comparison.step is None else load(comparison.step, comparison.step_unit)
    return one.side, one.arm, at


def _range(judged: Sequence[RunDifference], margin: float) -> tuple[float, float]:
    """All changes and intervals, but no further than so many times the largest change."""
    largest = max(abs(one.comparison.effect_pct or 0.0) for one in judged)
    furthest = max(_FURTHEST_PCT, _WIDEST * largest)
    ends = [end for one in judged for end in one.comparison.ci95_pct or ()]
    shown = [-margin, margin, largest, *(max(-furthest, min(end, furthest)) for end in ends)]
    low = min([*shown, *(one.comparison.effect_pct or 0.0 for one in judged)])
    room = 0.04 * (max(shown) - low)
    return low - room, max(shown) + room
