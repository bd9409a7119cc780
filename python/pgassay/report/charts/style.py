"""What all charts share: colours, type, margins, and safe text.

Enters: names as users wrote them. Leaves: plotly properties. Never: draws.

Colours are mid-tones, legible on white and on black; style.css adapts text and lines to the
reader's colour scheme.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pgassay.analysis.model import Verdict
from pgassay.plan.model import Arm

# Okabe & Ito, "Color Universal Design" (2008), without black and yellow, which are invisible on a
# dark and on a light page.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
VERMILLION, SKY, GREY = "#D55E00", "#56B4E9", "#8C8C8C"

ARM_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, GREY)
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")

CLASS_COLOURS = {
    "cpu": GREEN,
    "cpu_queue": "#7FCDB0",
    "wal": VERMILLION,
    "data_io": BLUE,
    "lock": PURPLE,
    "lwlock": ORANGE,
    "client": GREY,
    "throttle": "#BDBDBD",
    "ipc": SKY,
    "other": "#7A6A58",
    "to_begin": "#D9C27E",
    "unaccounted": "#E4E4E4",
}
TONES = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.EQUIVALENT: "same",
    Verdict.NEGLIGIBLE: "same",
    Verdict.UNDECIDED: "undecided",
    Verdict.CALIBRATION: "measured",
}
"""Verdict → the class name that style.css colours."""
TONE_COLOURS = {
    "better": "#14905F",
    "worse": "#C8401F",
    "same": "#64809B",
    "undecided": "#B97F0A",
    "measured": "#46607a",
}

INK = "#7d8590"
FAINT = "rgba(128,136,146,0.22)"
BAND = "rgba(128,136,146,0.14)"
DOT = "rgba(128,136,146,0.85)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class ArmStyle:
    """How one arm looks in every chart and table."""

    id: str
    label: str
    short: str
    """Its label; with several factors only its levels, joined by dots."""
    colour: str
    dash: str
    symbol: str


def arm_styles(arms: Sequence[Arm]) -> dict[str, ArmStyle]:
    """Arm id → its look; from the eighth arm on, colours repeat with another dash and symbol."""
    styles = {}
    for index, arm in enumerate(arms):
        turn, place = divmod(index, len(ARM_COLOURS))
        styles[arm.id] = ArmStyle(
            arm.id,
            arm.label,
            " · ".join(arm.levels.values()) if len(arm.levels) > 1 else arm.label,
            ARM_COLOURS[place],
            _DASHES[turn % len(_DASHES)],
            _SYMBOLS[turn % len(_SYMBOLS)],
        )
    return styles


def level_colour(index: int) -> str:
    """The colour of the index-th comparison; the first colour is the baseline arm's."""
    return ARM_COLOURS[(index + 1) % len(ARM_COLOURS)]


def plain(text: str) -> str:
    """Text that plotly shows as it is: it takes `<b>`, `<a href>` and entities as markup."""
    return html.escape(text, quote=False)


def translucent(colour: str, opacity: float) -> str:
    """The same colour, transparent."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def new_figure(height: int, **layout: Any) -> go.Figure:
    """An empty chart in the report's style."""
    figure = go.Figure()
    figure.update_layout(
        template="none",
        height=height,
        autosize=True,
        showlegend=False,
        separators=".\u202f",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": INK},
        margin={"l": 2, "r": 2, "t": 8, "b": 8, "pad": 0},
        hovermode="closest",
        hoverlabel={"font": {"family": FONT, "size": 13}, "align": "left", "namelength": -1},
    )
    figure.update_layout(**layout)
    return figure


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a unit, hairline grid and room for its labels."""
    return {
        "title": {"text": title, "standoff": 10, "font": {"size": 13}},
        "automargin": True,
        "gridcolor": FAINT,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "separatethousands": True,
        "exponentformat": "none",
        **more,
    }


def note(text: str, **more: Any) -> dict[str, Any]:
    """A small text without an arrow."""
    return {"text": text, "showarrow": False, "font": {"size": 12}, **more}


def shade(figure: go.Figure, start: Any, end: Any, top: float = 1.0, colour: str = BAND) -> None:
    """A stretch of the horizontal axis behind the lines."""
    figure.add_shape(
        type="rect", xref="x", yref="paper", x0=start, x1=end, y0=0, y1=top, fillcolor=colour,
        line_width=0, layer="below",
    )  # fmt: skip


def shade_blocks(figure: go.Figure, blocks: Sequence[int]) -> dict[int, float]:
    """Shades every other block of places 1, 2, …; returns block → the middle of it on the axis."""
    places: dict[int, list[int]] = {}
    for place, block in enumerate(blocks, start=1):
        places.setdefault(block, []).append(place)
    for block, own in places.items():
        if block % 2 and len(places) > 1:
            figure.add_vrect(
                own[0] - 0.5, own[-1] + 0.5, fillcolor=BAND, line_width=0, layer="below"
            )
    return {block: (own[0] + own[-1]) / 2 for block, own in places.items()}


def mark(figure: go.Figure, at: float, top: float = 1.0) -> None:
    """A dotted vertical line."""
    dotted = {"color": INK, "width": 1, "dash": "dot"}
    figure.add_shape(
        type="line", xref="x", yref="paper", x0=at, x1=at, y0=0, y1=top, line=dotted, layer="below"
    )
