"""The difference in every round of slices, in the order of time.

Enters: an Analysis. Leaves: a chart, every other block shaded: it shows an effect that changes over
time or differs between trials. Never: fits a trend.
"""

from __future__ import annotations

from pgassay.analysis.model import Analysis
from pgassay.language import colon, tr
from pgassay.quantities import signed_percent
from pgassay.report.charts.style import ARM_COLOURS, INK, shade_blocks
from pgassay.report.svg.model import Axis, Figure, Panel, Points, Rule

_PLOT_PX = 250


def rounds_chart(analysis: Analysis) -> Figure | None:
    """Draws the effect by round; returns None where arms do not alternate."""
    if not analysis.answer.round_effects:
        return None
    blocks = analysis.answer.round_effects[0].blocks
    shaded, middles = shade_blocks(blocks)
    panel = Panel(
        Axis(
            tr("block"),
            low=0.4,
            high=len(blocks) + 0.6,
            ticks=[(middle, str(block)) for block, middle in middles.items()],
            grid=False,
        ),
        Axis(tr("difference in each round"), suffix=" %"),
        _PLOT_PX,
    )
    panel.add(*shaded, Rule(INK, y=0.0))
    for at, shown in enumerate(analysis.answer.round_effects):
        panel.add(
            Points(
                list(range(1, len(shown.effects_pct) + 1)),
                shown.effects_pct,
                ARM_COLOURS[at % len(ARM_COLOURS)],
                [
                    (
                        f"{shown.factor} = {shown.level}{colon()}{signed_percent(effect)}",
                        tr("round {number}, block {block}", number=number, block=block),
                    )
                    for number, (effect, block) in enumerate(
                        zip(shown.effects_pct, shown.blocks, strict=True), start=1
                    )
                ],
                size=6,
                opacity=0.7,
            )
        )
    return Figure([panel])
