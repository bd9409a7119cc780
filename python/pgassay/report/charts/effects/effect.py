"""The effect, block by block.

Enters: verdicts. Leaves: a chart with one row each: a dot per block and, where it
differs, a hollow one as measured, mean and 95 % interval, zero
and the band of effects too small to matter. Never: computes an effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.model import Analysis, Comparison
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import interval
from pgassay.language import comma, tr
from pgassay.quantities import is_multiple, load, signed_percent
from pgassay.report.charts.style import (
    BAND_OPACITY,
    INK,
    SHADE,
    TONE_COLOURS,
    TONES,
    axis_of_changes,
    limits,
    words_of_row,
)
from pgassay.report.svg.model import Axis, Box, Figure, Line, Mark, Panel, Points, Rule, Tip

_ROW_PX = 84
_DOTS_BELOW = 0.24
_SPREAD = (0.0, 0.07, -0.07, 0.035, -0.035)
"""Vertical offsets of neighbouring dots, so that near blocks do not hide each other."""
_BACKGROUND = (0.12, 0.37)
"""How far a row's band reaches above and below its mean, in rows."""


def effect_chart(analysis: Analysis) -> Figure | None:
    """Draws the effects with their intervals; returns None where nothing was compared."""
    rows = [c for c, of in analysis.answer.judged() if not of and c.effect_pct is not None]
    if not rows:
        return None
    margin = 100 * analysis.answer.smallest_effect
    low, high = _range(rows, margin)
    large = any(is_multiple(c.effect_pct) for c in rows)
    title = _axis_title(analysis, large=large)
    panel = Panel(
        x=axis_of_changes(title, low, high, in_multiples=large),
        y=Axis(low=len(rows) - 0.5, high=-0.5, hidden=True),
        height=len(rows) * _ROW_PX,
    )
    for at, comparison in enumerate(rows):
        label = _label(comparison, rows)
        above, below = at - _BACKGROUND[0], at + _BACKGROUND[1]
        panel.add(
            Box(-margin, margin, above, below, SHADE, BAND_OPACITY),
            Rule(INK, x=0.0, low=below, high=above, width=1.2),
            *_row(at, comparison, (label,) if len(rows) > 1 else ()),
            *words_of_row(label, at, comparison.effect_pct or 0.0),
        )
    return Figure([panel])


def runs_out(analysis: Analysis) -> bool:
    """Returns whether an interval reaches past the edge of the chart."""
    rows = [c for c, of in analysis.answer.judged() if not of and c.effect_pct is not None]
    if not rows:
        return False
    low, high = _range(rows, 100 * analysis.answer.smallest_effect)
    return any(c.ci95_pct and (c.ci95_pct[0] < low or c.ci95_pct[1] > high) for c in rows)


def _row(at: int, comparison: Comparison, label: Tip) -> Iterator[Mark]:
    """The label stands first in the tip of each mark."""
    colour = TONE_COLOURS[TONES[comparison.verdict]]
    effects = comparison.block_effects_pct
    raws = comparison.block_raw_pct or effects
    places = [at + _DOTS_BELOW + _SPREAD[i % len(_SPREAD)] for i in range(len(effects))]
    tips = [
        (
            *label,
            tr("block {number}: {change}", number=number, change=signed_percent(effect))
            + _as_measured(effect, raw),
        )
        for number, (effect, raw) in enumerate(zip(effects, raws, strict=True), 1)
    ]
    dots = zip(effects, raws, places, tips, strict=True)
    if moved := [dot for dot in dots if _differs(*dot[:2])]:
        # One line with holes for all pairs, since a large report has hundreds of them.
        across = [end for effect, raw, *_ in moved for end in (effect, raw, raw)]
        up = [end for *_, place, _ in moved for end in (place, place, None)]
        yield Line(across, up, SHADE, width=1.0, opacity=0.7)
        _, measured, beside, tips_beside = zip(*moved, strict=True)
        yield Points(measured, beside, SHADE, tips_beside, size=6.5, hollow=True)
    yield Points(effects, places, SHADE, tips, size=7.5, opacity=0.85)
    mean = tr("mean {value}", value=signed_percent(comparison.effect_pct))
    tip = (*label, mean, str(interval(comparison)))
    if comparison.ci95_pct is not None:
        ends = comparison.ci95_pct
        yield Line(ends, (at, at), colour, width=3.5)
        yield Points(ends, (at, at), colour, ((), ()), size=13, symbol="tick")
    yield Points((comparison.effect_pct or 0.0,), (at,), colour, (tip,), size=13, symbol="diamond")


def _differs(effect: float, raw: float) -> bool:
    """Whether a block's effect is shown as another figure than was measured."""
    return round(effect, 1) != round(raw, 1)


def _as_measured(effect: float, raw: float) -> str:
    if not _differs(effect, raw):
        return ""
    return tr(", {change} as measured", change=signed_percent(raw))


def _label(comparison: Comparison, rows: Sequence[Comparison]) -> str:
    label = f"{comparison.factor} = {comparison.level}"
    if any(row.step is not None for row in rows):
        at = load(comparison.step, comparison.step_unit)
        label += tr(", all steps") if comparison.step is None else f"{comma()}{at}"
    return label


def _axis_title(analysis: Analysis, *, large: bool) -> str:
    metric = METRICS[analysis.answer.metric]
    better = {"higher": tr(" (better →)"), "lower": tr(" (← better)")}.get(metric.good, "")
    if large:
        return tr(
            "{metric} as a multiple of the baseline{better}", metric=metric.title, better=better
        )
    return tr(
        "change of {metric} against the baseline{better}",
        metric=metric.title.lower(),
        better=better,
    )


def _range(rows: Sequence[Comparison], margin: float) -> tuple[float, float]:
    needed = [0.0, -margin, margin]
    for comparison in rows:
        needed += [*comparison.block_effects_pct, *comparison.block_raw_pct]
        needed.append(comparison.effect_pct or 0.0)
    return limits(needed, (bound for c in rows for bound in c.ci95_pct or ()))
