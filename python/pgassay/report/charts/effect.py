"""The effect, block by block.

Enters: verdicts. Leaves: a chart with one row each: a dot per block, mean and 95 % interval, zero
and the band of effects too small to matter. Never: computes an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis, Comparison
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import interval_text, signed_percent
from pgassay.report.charts.style import (
    BAND,
    DOT,
    INK,
    TONE_COLOURS,
    TONES,
    axis,
    new_figure,
    note,
    plain,
)

_ROW_PX = 72
_FITS_A_PHONE = 46
"""Characters of a label that leave room for the mean beside it at 380 px."""
_DOTS_BELOW = 0.27
_SPREAD = (0.0, 0.07, -0.07, 0.035, -0.035)
"""Vertical offsets of neighbouring dots, so that near blocks do not hide each other."""
_BACKGROUND = (0.16, 0.42)
"""How far a row's band reaches above and below its mean, in rows."""
_WIDEST = 4.0
"""An interval may stretch the axis to this many times what the dots need; then it is cut."""


def effect_chart(analysis: Analysis) -> go.Figure | None:
    """The chart, or None where nothing was compared."""
    rows = [c for c in analysis.verdicts() if c.effect_pct is not None]
    if not rows:
        return None
    figure = new_figure(len(rows) * _ROW_PX + 64)
    margin = 100 * analysis.smallest_effect
    for at, comparison in enumerate(rows):
        _draw_background(figure, at, margin)
        _draw_row(figure, at, comparison)
        _write_row(figure, at, _label(comparison, rows), signed_percent(comparison.effect_pct))
    figure.update_xaxes(
        **axis(_axis_title(analysis)),
        range=_range(rows, margin),
        ticksuffix=" %",
        nticks=8,
    )
    figure.update_yaxes(range=[len(rows) - 0.5, -0.5], visible=False, fixedrange=True)
    return figure


def runs_out(analysis: Analysis) -> bool:
    """Whether an interval reaches past the edge of the chart."""
    rows = [c for c in analysis.verdicts() if c.effect_pct is not None]
    if not rows:
        return False
    low, high = _range(rows, 100 * analysis.smallest_effect)
    return any(c.ci95_pct and (c.ci95_pct[0] < low or c.ci95_pct[1] > high) for c in rows)


def _draw_background(figure: go.Figure, at: int, margin: float) -> None:
    """The band and zero behind a row, but not behind its label."""
    tall = {"y0": at - _BACKGROUND[0], "y1": at + _BACKGROUND[1], "layer": "below"}
    figure.add_shape(type="rect", x0=-margin, x1=margin, fillcolor=BAND, line={"width": 0}, **tall)
    figure.add_shape(type="line", x0=0, x1=0, line={"color": INK, "width": 1.2}, **tall)


def _draw_row(figure: go.Figure, at: int, comparison: Comparison) -> None:
    colour = TONE_COLOURS[TONES[comparison.verdict]]
    effects = comparison.block_effects_pct
    figure.add_scatter(
        x=[round(effect, 3) for effect in effects],
        y=[at + _DOTS_BELOW + _SPREAD[i % len(_SPREAD)] for i in range(len(effects))],
        mode="markers",
        marker={"color": DOT, "size": 7.5, "line": {"width": 0}},
        customdata=[
            f"block {number}: {signed_percent(effect)}"
            for number, effect in enumerate(effects, start=1)
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
    hover = f"mean {signed_percent(comparison.effect_pct)}<br>{interval_text(comparison)}"
    if comparison.ci95_pct is not None:
        figure.add_scatter(
            x=[round(bound, 3) for bound in comparison.ci95_pct],
            y=[at, at],
            mode="lines+markers",
            line={"color": colour, "width": 3.5},
            marker={"symbol": "line-ns", "size": 13, "line": {"color": colour, "width": 2}},
            customdata=[hover, hover],
            hovertemplate="%{customdata}<extra></extra>",
        )
    figure.add_scatter(
        x=[comparison.effect_pct],
        y=[at],
        mode="markers",
        marker={"color": colour, "size": 13, "symbol": "diamond"},
        customdata=[hover],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _write_row(figure: go.Figure, at: int, label: str, value: str) -> None:
    place = {"xref": "paper", "y": at, "yanchor": "bottom", "yshift": 12}
    figure.add_annotation(note(plain(label), x=0, xanchor="left", xshift=-2, **place))
    figure.add_annotation(note(f"<b>{value}</b>", x=1, xanchor="right", xshift=2, **place))


def _label(comparison: Comparison, rows: Sequence[Comparison]) -> str:
    label = f"{comparison.factor} = {comparison.level}"
    if any(row.step is not None for row in rows):
        label += ", all steps" if comparison.step is None else f", {comparison.load}"
    return label if len(label) <= _FITS_A_PHONE else f"{label[: _FITS_A_PHONE - 1]}…"


def _axis_title(analysis: Analysis) -> str:
    metric = METRICS[analysis.metric]
    better = {"higher": " (better →)", "lower": " (← better)"}.get(metric.good, "")
    return f"change of {metric.title.lower()} against the baseline{better}"


def _range(rows: Sequence[Comparison], margin: float) -> tuple[float, float]:
    needed = [0.0, -margin, margin]
    for comparison in rows:
        needed += [*comparison.block_effects_pct, comparison.effect_pct or 0.0]
    low, high = min(needed), max(needed)
    middle, reach = (low + high) / 2, _WIDEST * (high - low) / 2
    bounds = [bound for c in rows for bound in c.ci95_pct or ()]
    low = min([low, *(max(bound, middle - reach) for bound in bounds)])
    high = max([high, *(min(bound, middle + reach) for bound in bounds)])
    room = 0.04 * (high - low)
    return low - room, high + room
