"""A figure → one SVG drawing of a given width.

Enters: a figure, a width in pixels, an id. Leaves: SVG that needs no style sheet.
Never: chooses what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.report.svg.marks import TYPE_PX, Place, draw_mark, fill
from pgassay.report.svg.model import Band, Box, Figure, Line, Panel, Points, Rule, Values
from pgassay.report.svg.scale import Scale, scale_of, ticks_of
from pgassay.report.svg.text import inert, shortened, width_of, wrapped

WIDE_PX, NARROW_PX = 960, 390
"""Drawings for a page and for a phone."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', 'Noto Sans', sans-serif"

_INK, _GRID = "#59626d", "#80889238"
_TICK_PX = 12
_LINE_PX = 17
_APART_PX = 16
_UNDER_PX = 12
"""Between panels that share an axis."""
_MOST_POINTS = 24_000
"""Points of all lines of a drawing, at its full width."""
_AROUND_PX = 7
"""Symbols at an edge are not cut."""


def draw(
    figure: Figure,
    width: int,
    name: str,
    label: str = "",
    arms: Sequence[tuple[str, str]] = (),
    around: float = 0.0,
) -> str:
    """Draws a chart as SVG; `name` is unique on its page, `label` says in words what is shown.

    `arms`, names and colours, are the key where there is none above the drawing; with a margin
    `around` it, in pixels, the drawing has a white ground.
    """
    body: list[str] = []
    y = 0.0
    if key := figure.key or arms:
        y = _draw_key(key, width, body)
    left = _left_margin(figure.panels)
    share = _MOST_POINTS * width / WIDE_PX
    lines = sum(isinstance(mark, Line) for panel in figure.panels for mark in panel.marks)
    most_points = max(60, min(4 * width, int(share / max(1, lines))))
    for at, panel in enumerate(figure.panels):
        follows = at + 1 < len(figure.panels)
        shares = follows and figure.panels[at + 1].x == panel.x
        y = _draw_panel(
            _Drawn(panel, f"{name}-{at}", left, width - 4.0, most_points, not shares),
            _values(figure, panel),
            y,
            body,
        )
        y += _UNDER_PX if shares else _APART_PX if follows else 0
    wide, high = width + 2 * around, y + 2 * around
    view = f"{0 - around:g} {0 - around:g} {wide:g} {high:.0f}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{wide:g}"'
        f' height="{high:.0f}" role="img" aria-label="{inert(label)}" font-family="{FONT}"'
        f' font-size="{TYPE_PX}">'
    )
    if around:
        head += f'<rect x="{-around:g}" y="{-around:g}" width="100%" height="100%" fill="#fff"/>'
    return head + "".join(body) + "</svg>"


def shows_zero(panel: Panel) -> bool:
    """Returns whether zero lies on the vertical axis."""
    scale = scale_of(panel.y, list(_up(panel)), panel.height, 0)
    return scale.kind == "linear" and scale.low <= 0.0 <= scale.high


@dataclass(frozen=True)
class _Drawn:
    """A panel and what the figure decides for it."""

    panel: Panel
    name: str
    left: float
    right: float
    most_points: int
    has_ticks: bool


def _values(figure: Figure, panel: Panel) -> list[float]:
    """What the horizontal axis must show: of all panels that share it."""
    alike = [one for one in figure.panels if one.x == panel.x]
    return [value for one in alike for value in _across(one)]


def _draw_panel(drawn: _Drawn, across: list[float], top: float, body: list[str]) -> float:
    """Adds the panel's elements; returns where it ends."""
    panel = drawn.panel
    if panel.title:
        words = shortened(panel.title, 13, drawn.right, bold=True)
        body.append(f'<text class="t" y="{top + 14:.1f}" font-size="13" font-weight="650">')
        body.append(f"{inert(words)}</text>")
        top += 22
    if panel.y.title and not panel.y.hidden:
        body += _words(wrapped(panel.y.title, TYPE_PX, drawn.right), top + 12)
        top += _LINE_PX * len(wrapped(panel.y.title, TYPE_PX, drawn.right)) + 5
    left = drawn.left
    bottom = top + panel.height
    place = Place(
        scale_of(panel.x, across, left, drawn.right),
        scale_of(panel.y, list(_up(panel)), bottom, top),
        left,
        top,
        drawn.right - left,
        panel.height,
        drawn.most_points,
    )
    unit = f' data-unit="{inert(panel.x.unit)}"' if panel.x.unit else ""
    body.append(f'<g class="panel" {_axis_data(place)}{unit}>')
    if not panel.y.hidden:
        body += _vertical_axis(panel, place)
    if not panel.x.hidden:
        body += _horizontal_axis(panel, place, drawn.has_ticks)
    beside, above = _around(place.x, across), _around(place.y, _up(panel))
    body.append(
        f'<clipPath id="{drawn.name}"><rect x="{left - beside:.1f}" y="{top - above:.1f}"'
        f' width="{place.width + 2 * beside:.1f}" height="{panel.height + 2 * above}"/>'
        f'</clipPath><g class="marks" clip-path="url(#{drawn.name})">'
    )
    body += [draw_mark(mark, place) for mark in panel.marks]
    body.append("</g></g>")
    if panel.x.hidden or not drawn.has_ticks:
        return bottom
    end = bottom + _LINE_PX + 3
    if panel.x.title:
        lines = wrapped(panel.x.title, TYPE_PX, place.width)
        body += _words(lines, end + 12, (left + drawn.right) / 2)
        end += _LINE_PX * len(lines) + 2
    return end + 2


def _around(scale: Scale, values: Iterable[float]) -> int:
    """Pixels that symbols have beyond the edge; none where what is drawn continues beyond it."""
    low, high = sorted((scale.start, scale.end))
    is_beyond = any(not low - 0.1 <= scale(value) <= high + 0.1 for value in values)
    return 0 if is_beyond else _AROUND_PX


def _axis_data(place: Place) -> str:
    """What the page's script needs to turn pixels into values again."""
    x, y = (
        f"{scale.kind} {scale.low!r} {scale.high!r} {scale.start:g} {scale.end:g}"
        for scale in (place.x, place.y)
    )
    return f'data-x="{x}" data-y="{y}"'


def _vertical_axis(panel: Panel, place: Place) -> Iterable[str]:
    for at, text in _vertical_ticks(panel, place.y):
        y = place.y(at)
        if panel.y.grid:
            data = f"M{place.left:.1f} {y:.1f}H{place.right:.1f}"
            yield f'<path class="grid" d="{data}" stroke="{_GRID}"/>'
        yield (
            f'<text class="tick" x="{place.left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end"'
            f' font-size="{_TICK_PX}" fill="{_INK}">{inert(text)}</text>'
        )


def _vertical_ticks(panel: Panel, scale: Scale) -> list[tuple[float, str]]:
    apart_px = _LINE_PX if panel.y.ticks is not None else 38
    return ticks_of(panel.y, scale, min(panel.y.most_ticks, max(2, panel.height // apart_px)))


def _horizontal_axis(panel: Panel, place: Place, has_ticks: bool) -> Iterable[str]:
    ticks = _horizontal_ticks(panel, place)
    if panel.x.grid and not (panel.y.hidden and not has_ticks):
        for at, _ in ticks:
            yield (
                f'<path class="grid gx" d="M{place.x(at):.1f} {place.top:.1f}V{place.bottom:.1f}"'
                f' stroke="{_GRID}"/>'
            )
    if not has_ticks:
        return
    suffix = f' data-suffix="{inert(panel.x.suffix)}"' if panel.x.suffix else ""
    named = ' data-named=""' if panel.x.ticks is not None else ""
    yield f'<g class="ticks" font-size="{_TICK_PX}" fill="{_INK}"{suffix}{named}>'
    end = -math.inf
    for at, text in sorted(ticks, key=lambda tick: place.x(tick[0])):
        half = width_of(text, _TICK_PX) / 2
        x = min(max(place.x(at), half), place.right + 4 - half)
        if x - half < end:  # moved inwards from the edge, into its neighbour
            continue
        end = x + half + 8
        yield f'<text class="tick" x="{x:.1f}" y="{place.bottom + 16:.1f}" text-anchor="middle">'
        yield f"{inert(text)}</text>"
    yield "</g>"


def _horizontal_ticks(panel: Panel, place: Place) -> list[tuple[float, str]]:
    """As many as fit; names of a few places are shortened, round numbers left out."""
    axis = panel.x
    if axis.ticks is not None:
        slot = place.width / max(1, len(axis.ticks)) - 8
        wide = max((width_of(text + axis.suffix, _TICK_PX) for _, text in axis.ticks), default=0)
        if wide > slot and len(axis.ticks) <= 6:
            shown = [(at, f"{text}{axis.suffix}") for at, text in axis.ticks]
            return [(at, shortened(text, _TICK_PX, slot)) for at, text in shown]
        return ticks_of(axis, place.x, int(place.width / (wide + 10)))
    for most in range(min(axis.most_ticks, 12), 1, -1):
        ticks = ticks_of(axis, place.x, most)
        taken = sum(width_of(text, _TICK_PX) + 14 for _, text in ticks)
        if taken <= place.width:
            return ticks
    return ticks_of(axis, place.x, 2)


def _left_margin(panels: Sequence[Panel]) -> float:
    """Room for the longest number of any vertical axis, so that panels are in line."""
    if all(panel.y.hidden for panel in panels):
        return 2.0
    longest = 0.0
    for panel in panels:
        if not panel.y.hidden:
            scale = scale_of(panel.y, list(_up(panel)), panel.height, 0)
            texts = [text for _, text in _vertical_ticks(panel, scale)]
            longest = max([longest, *(width_of(text, _TICK_PX) for text in texts)])
    return longest + 10


def _draw_key(key: Sequence[tuple[str, str]], width: int, body: list[str]) -> float:
    """Adds a swatch and a name each, in as many lines as they need; returns where they end."""
    x, y = 0.0, 14.0
    for name, colour in key:
        words = shortened(name, TYPE_PX, width - 20)
        needed = 18 + width_of(words, TYPE_PX) + 16
        if x and x + needed - 16 > width:
            x, y = 0.0, y + 20
        body.append(
            f'<rect x="{x:.1f}" y="{y - 9.5:.1f}" width="11" height="11" rx="2" {fill(colour)}/>'
        )
        body.append(f'<text class="t" x="{x + 17:.1f}" y="{y:.1f}">{inert(words)}</text>')
        x += needed
    return y + 14


def _words(lines: Sequence[str], y: float, middle: float | None = None) -> Iterable[str]:
    where = "" if middle is None else f' x="{middle:.1f}" text-anchor="middle"'
    for at, line in enumerate(lines):
        place = f'y="{y + at * _LINE_PX:.1f}"{where}'
        yield f'<text class="axis" {place} fill="{_INK}">{inert(line)}</text>'


def _across(panel: Panel) -> Iterable[float]:
    for mark in panel.marks:
        match mark:
            case Line() | Band() | Points():
                yield from _ends(mark.x)
            case Box():
                yield from (value for value in (mark.x0, mark.x1) if value is not None)
            case Rule() if mark.x is not None:
                yield mark.x


def _up(panel: Panel) -> Iterable[float]:
    for mark in panel.marks:
        match mark:
            case Line():
                yield from _ends(mark.y)
            case Points():
                yield from mark.y
                yield from (end for ends in mark.errors if ends is not None for end in ends)
            case Band():
                yield from _ends(mark.low)
                yield from _ends(mark.high)
            case Box():
                yield from (value for value in (mark.y0, mark.y1) if value is not None)
            case Rule() if mark.y is not None:
                yield mark.y


def _ends(values: Values) -> Iterable[float]:
    """The lowest, the lowest above zero, which a logarithmic axis has to show, and the highest."""
    array = np.array(values, np.float64)
    known = array[np.isfinite(array)]
    for some in (known, known[known > 0]):
        if len(some):
            yield from (float(some.min()), float(some.max()))
