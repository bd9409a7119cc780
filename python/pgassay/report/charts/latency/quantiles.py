"""How much each quantile of latency differs.

Enters: the shift functions of whole trials. Leaves: a chart with a line and a band per level.
Never: computes a shift.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.curves.model import QuantileShift
from pgassay.analysis.model import Analysis
from pgassay.language import decimals, tr
from pgassay.quantities import signed_percent
from pgassay.report.charts.style import level_colour, limits, line_with_band, zero_and_margin
from pgassay.report.svg.model import Axis, Figure, Panel

_PLOT_PX = 300


def quantiles_chart(analysis: Analysis) -> Figure | None:
    """Draws differences of latency by quantile; returns None where none was compared."""
    shifts = [shift for shift in analysis.behaviour.quantile_shifts if shift.step is None]
    if not shifts:
        return None
    places = [float(place) for place in range(len(shifts[0].shares))]
    what = tr("response time") if shifts[0].of == "response" else tr("latency")
    margin = 100 * analysis.answer.smallest_effect
    low, high = limits(
        [-margin, 0.0, margin, *(value for shift in shifts for value in shift.shift_pct)],
        (end for shift in shifts for ends in shift.band95_pct if ends for end in ends),
    )
    panel = Panel(
        Axis(
            tr("quantile of {what}: fast transactions to the left, slow to the right", what=what),
            ticks=[
                (at, decimals(100 * share, "g"))
                for at, share in zip(places, shifts[0].shares, strict=True)
            ],
            suffix=" %",
        ),
        Axis(tr("change of {what} (↓ better)", what=what), low=low, high=high, suffix=" %"),
        _PLOT_PX,
    )
    panel.add(*zero_and_margin(margin))
    for index, shift in enumerate(shifts):
        tips = [
            (
                tr(
                    "{factor} = {level}, {share} % of latencies",
                    factor=shift.factor,
                    level=shift.level,
                    share=decimals(100 * share, "g"),
                ),
                tr(
                    "{before} ms → {after} ms ({change})",
                    before=decimals(base, ".3f"),
                    after=decimals(level, ".3f"),
                    change=signed_percent(effect),
                ),
            )
            for share, base, level, effect in zip(
                shift.shares, shift.baseline_ms, shift.level_ms, shift.shift_pct, strict=True
            )
        ]
        panel.add(
            *line_with_band(places, shift.shift_pct, shift.band95_pct, level_colour(index), tips)
        )
    names = [(shift.factor, f"{shift.factor} = {shift.level}") for shift in shifts]
    return Figure([panel], key=key_of_levels(names))


def without_band(shift: QuantileShift) -> tuple[float, ...]:
    """Shares of the quantiles that have no band where others have one."""
    if shift.refused or not any(shift.band95_pct):
        return ()
    return tuple(
        share for share, band in zip(shift.shares, shift.band95_pct, strict=True) if band is None
    )


def key_of_levels(names: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Makes a key where levels of several factors share a chart, where arms' colours do not
    apply."""
    if len({factor for factor, _ in names}) < 2:
        return []
    return [(name, level_colour(index)) for index, (_, name) in enumerate(names)]
