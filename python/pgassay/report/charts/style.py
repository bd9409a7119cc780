"""What all charts share: colours, type, margins, and safe text.

Enters: arms, places on an axis. Leaves: looks, and marks that several charts have. Never: draws.

Colours are mid-tones, legible on white and on black; style.css has brighter ones for a dark page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgassay.analysis.compare.model import Dependence, Verdict
from pgassay.analysis.statistics.values import Interval
from pgassay.language import tr
from pgassay.plan.model import Arm
from pgassay.quantities import signed_percent, times
from pgassay.report.svg.model import (
    Axis,
    Band,
    Box,
    Dash,
    Line,
    Mark,
    Points,
    Rule,
    Symbol,
    Text,
    Tip,
    Values,
)

# Okabe & Ito, "Color Universal Design" (2008), without black and yellow, which are invisible on a
# dark and on a light page.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
VERMILLION, SKY, GREY = "#D55E00", "#56B4E9", "#8C8C8C"

ARM_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, GREY)
_DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
_SYMBOLS: tuple[Symbol, ...] = ("circle", "diamond", "square", "triangle")

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
    "parallel": "#AEC1CC",
    "unaccounted": "#E4E4E4",
}
TONES = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.EQUIVALENT: "same",
    Verdict.NEGLIGIBLE: "same",
    Verdict.UNDECIDED: "undecided",
    Verdict.CALIBRATION: "measured",
    Verdict.DESCRIBED: "measured",
}
"""Verdict → the class name that style.css colours."""
DEPENDENCE_TONES = {
    Dependence.DEPENDS: "undecided",
    Dependence.NEGLIGIBLE: "same",
    Dependence.INDEPENDENT: "same",
    Dependence.UNDECIDED: "undecided",
}
TONE_COLOURS = {
    "better": "#14905F",
    "worse": "#C8401F",
    "same": "#64809B",
    "undecided": "#B97F0A",
    "measured": "#46607a",
}

INK = "#7d8590"
SHADE = "#808892"
BAND_OPACITY = 0.14
_WIDEST = 4.0
"""Intervals may stretch an axis to this many times what the rest needs."""


@dataclass(frozen=True)
class ArmStyle:
    """How one arm looks in every chart and table."""

    id: str
    label: str
    short: str
    """Its label; with several factors only its levels, joined by dots."""
    colour: str
    dash: Dash
    symbol: Symbol


def arm_styles(arms: Sequence[Arm]) -> dict[str, ArmStyle]:
    """Maps arm id → its look; from the eighth arm on, colours repeat with another dash and
    symbol."""
    shorts = (" · ".join(a.levels.values()) if len(a.levels) > 1 else a.label for a in arms)
    return {
        arm.id: _style(at, arm.id, arm.label, short)
        for at, (arm, short) in enumerate(zip(arms, shorts, strict=True))
    }


def arms_of_panels(styles: Mapping[str, ArmStyle], *, apart: bool) -> list[Mapping[str, ArmStyle]]:
    """Returns the arms of each panel: all in one, or each in its own with a scale of its own."""
    return [{arm: style} for arm, style in styles.items()] if apart else [styles]


def arm_named(arms: Mapping[str, ArmStyle], *, apart: bool) -> str:
    """Returns what the title of such a panel adds."""
    return "".join(f" – {style.short}" for style in arms.values()) if apart else ""


def side_styles(names: Iterable[str]) -> dict[str, ArmStyle]:
    """Maps the name of a side, of runs made apart, → its look."""
    return {name: _style(at, name, name, name) for at, name in enumerate(names)}


def _style(index: int, id_: str, label: str, short: str) -> ArmStyle:
    turn, place = divmod(index, len(ARM_COLOURS))
    return ArmStyle(
        id_,
        label,
        short,
        ARM_COLOURS[place],
        _DASHES[turn % len(_DASHES)],
        _SYMBOLS[turn % len(_SYMBOLS)],
    )


def level_colour(index: int) -> str:
    """Returns the colour of the index-th comparison; the first colour is the baseline arm's."""
    return ARM_COLOURS[(index + 1) % len(ARM_COLOURS)]


def shade(
    start: float | None, end: float | None, colour: str = SHADE, opacity: float = BAND_OPACITY
) -> Box:
    """Shades a stretch of the horizontal axis behind the lines."""
    return Box(start, end, None, None, colour, opacity)


def arm_line(
    style: ArmStyle, x: Sequence[float], y: Values, width: float, name: str, unit: str
) -> Line:
    """Draws a line of an arm, in its colour and dash."""
    return Line(x, y, style.colour, width, style.dash, arm=style.id, name=name, unit=unit)


def utc_axis(start_ns: int, end_ns: int) -> Axis:
    """Makes the axis of a stretch of time (nanoseconds since 1970)."""
    return Axis(tr("time, UTC"), kind="time", low=start_ns / 1e9, high=end_ns / 1e9)


def dotted(at: float) -> Rule:
    """Draws a dotted vertical line."""
    return Rule(INK, x=at, dotted=True)


def zero_and_margin(margin: float) -> tuple[Mark, ...]:
    """Draws the line of no difference, and the band of differences too small to matter."""
    return Box(None, None, -margin, margin, SHADE, BAND_OPACITY), Rule(INK, y=0.0, width=1.2)


def limits(needed: Sequence[float], bounds: Iterable[float]) -> tuple[float, float]:
    """Ends of an axis: all that must be seen, and bounds of intervals as far as there is room.

    A very wide interval would flatten all the rest, so it continues beyond the edge.
    """
    low, high = min(needed), max(needed)
    middle, reach = (low + high) / 2, _WIDEST * (high - low) / 2
    known = [bound for bound in bounds if not math.isnan(bound)]
    low = min([low, *(max(bound, middle - reach) for bound in known)])
    high = max([high, *(min(bound, middle + reach) for bound in known)])
    room = 0.04 * (high - low)
    return low - room, high + room


def axis_of_changes(title: str, low: float, high: float, *, in_multiples: bool) -> Axis:
    """An axis of changes in per cent, or with their numbers as multiples of the baseline."""
    if not in_multiples:
        return Axis(title, low=low, high=high, suffix=" %")
    most = 1.0 + high / 100.0
    steps = (first * 10**power for power in range(12) for first in (1, 2, 5))
    step = next((one for one in steps if most <= 8 * one), most)
    places = [0.0, *(100.0 * (step * n - 1.0) for n in range(1, int(most / step) + 1))]
    ticks = [(at, times(at)) for at in dict.fromkeys(places)]
    return Axis(title, low=low, high=high, ticks=ticks)


def words_of_row(label: str, at: float, effect_pct: float) -> tuple[Mark, Mark]:
    """What a row of effects is about, at its left, and below that the effect over its diamond."""
    effect = signed_percent(effect_pct)
    return Text(label, y=at, dy=-29), Text(effect, effect_pct, at, "middle", dy=-12, bold=True)


def line_with_band(
    places: Sequence[float],
    values: Sequence[float],
    bands: Sequence[Interval | None],
    colour: str,
    tips: Sequence[Tip],
    arm: str = "",
) -> tuple[Mark, ...]:
    """Draws a line through points with their tips, before its band where there is one.

    A band of a single place, which has no width, is a bar.
    """
    lows = [None if band is None else band[0] for band in bands]
    highs = [None if band is None else band[1] for band in bands]
    size = 6.0 if len(places) <= 60 else 2.5
    bars = (
        Line((places[at], places[at]), ends, colour, width=2.0, opacity=0.7, arm=arm)
        for at, ends in enumerate(bands)
        if ends is not None and _stands_alone(bands, at)
    )
    return (
        Band(places, lows, highs, colour, arm=arm),
        *bars,
        Line(places, values, colour, width=2.5, arm=arm),
        Points(places, values, colour, tips, size=size, arm=arm),
    )


def _stands_alone(bands: Sequence[Interval | None], at: int) -> bool:
    """Whether no neighbour of a place has a band."""
    return all(ends is None for ends in (*bands[max(0, at - 1) : at], *bands[at + 1 : at + 2]))


def shade_blocks(blocks: Sequence[int]) -> tuple[list[Mark], dict[int, float]]:
    """Shades every other block of places 1, 2, …; returns block → its middle on the axis."""
    places: dict[int, list[int]] = {}
    for place, block in enumerate(blocks, start=1):
        places.setdefault(block, []).append(place)
    shaded: list[Mark] = [
        shade(own[0] - 0.5, own[-1] + 0.5)
        for block, own in places.items()
        if block % 2 and len(places) > 1
    ]
    return shaded, {block: (own[0] + own[-1]) / 2 for block, own in places.items()}
