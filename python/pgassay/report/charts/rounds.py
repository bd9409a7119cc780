"""The difference in every round of slices, in the order of time.

Enters: an Analysis. Leaves: a chart, every other block shaded: it shows an effect that changes over
time or differs between trials. Never: fits a trend.
"""

from __future__ import annotations

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis
from pgassay.findings.wording import signed_percent
from pgassay.report.charts.style import (
    ARM_COLOURS,
    INK,
    axis,
    new_figure,
    plain,
    shade_blocks,
    translucent,
)

_HEIGHT_PX = 300


def rounds_chart(analysis: Analysis) -> go.Figure | None:
    """The chart, or None where arms do not alternate."""
    if not analysis.round_effects:
        return None
    figure = new_figure(_HEIGHT_PX)
    for at, shown in enumerate(analysis.round_effects):
        figure.add_scatter(
            x=list(range(1, len(shown.effects_pct) + 1)),
            y=[round(effect, 4) for effect in shown.effects_pct],
            mode="markers",
            marker={"color": translucent(ARM_COLOURS[at % len(ARM_COLOURS)], 0.7), "size": 6},
            customdata=[
                f"{plain(f'{shown.factor} = {shown.level}')}: {signed_percent(effect)}<br>"
                f"round {number}, block {block}"
                for number, (effect, block) in enumerate(
                    zip(shown.effects_pct, shown.blocks, strict=True), start=1
                )
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    blocks = analysis.round_effects[0].blocks
    middles = shade_blocks(figure, blocks)
    figure.add_hline(0, line={"color": INK, "width": 1})
    figure.update_layout(
        xaxis=axis(
            "block",
            tickvals=list(middles.values()),
            ticktext=[str(block) for block in middles],
            showgrid=False,
            range=[0.4, len(blocks) + 0.6],
        ),
        yaxis=axis("difference in each round, %"),
    )
    return figure
