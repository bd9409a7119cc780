"""One mark → its SVG elements.

Enters: a mark, the scales of its panel. Leaves: SVG elements.
Never: chooses a scale.

templates/charts.js relies on what is written here: `data-arm` hides an arm, `<title>` is shown
beside the pointer; a line has no title but a `data-name`, and its values are shown there, as are
the heights of a band with `data-area`; on zooming what has the class `at` (symbols, words) is
moved, and everything else is stretched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pgassay.report.svg.model import Band, Box, Dash, Line, Mark, Points, Rule, Symbol, Text, Tip
from pgassay.report.svg.path import path_data, pieces, thinned
from pgassay.report.svg.scale import Scale
from pgassay.report.svg.text import inert, shortened, width_of

TYPE_PX = 12.5
_DASHES: dict[Dash, str] = {"dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3"}
_SURE = 0.92
"""Of the width: letters of the reader's own font may be wider than those reckoned with."""
_STROKED = ("tick", "cross")


@dataclass(frozen=True)
class Place:
    """A panel's scales, its rectangle in pixels, and how many points a line may have."""

    x: Scale
    y: Scale
    left: float
    top: float
    width: float
    height: float
    most_points: int = 2000

    @property
    def right(self) -> float:
        """The right edge of the plotting area, in units of the drawing."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge of the plotting area, in units of the drawing."""
        return self.top + self.height


def draw_mark(mark: Mark, place: Place) -> str:
    """Returns the SVG elements of one mark."""
    match mark:
        case Line():
            return _line(mark, place)
        case Band():
            return _band(mark, place)
        case Points():
            return "".join(_points(mark, place))
        case Box():
            return _box(mark, place)
        case Rule():
            return _rule(mark, place)
        case Text():
            return _text(mark, place)


def stroke(
    colour: str, width: float, opacity: float = 1.0, dash: Dash = "solid", more: str = ""
) -> str:
    """Attributes of a line, and the class by which style.css changes its colour."""
    classes = f"{more} s-{colour[1:]}".strip()
    found = f'class="{classes}" fill="none" stroke="{colour}" stroke-width="{width:g}"'
    if opacity < 1:
        found += f' stroke-opacity="{opacity:g}"'
    return found + (f' stroke-dasharray="{_DASHES[dash]}"' if dash in _DASHES else "")


def fill(colour: str, opacity: float = 1.0, more: str = "") -> str:
    """Attributes of an area or a symbol, and the class by which style.css changes its colour."""
    classes = f"{more} f-{colour[1:]}".strip()
    return f'class="{classes}" fill="{colour}"' + (
        f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    )


def _arm(arm: str) -> str:
    return f' data-arm="{inert(arm)}"' if arm else ""


def _line(line: Line, place: Place) -> str:
    runs = pieces(place.x.pixels(line.x), place.y.pixels(line.y))
    data = "".join(path_data(*thinned(x, y, place.most_points)) for x, y in runs)
    if not data:
        return ""
    named = f' data-name="{inert(line.name)}" data-unit="{inert(line.unit)}"' if line.name else ""
    look = stroke(line.colour, line.width, line.opacity, line.dash)
    return f'<path d="{data}" {look}{_arm(line.arm)}{named}/>'


def _band(band: Band, place: Place) -> str:
    low, high = place.y.pixels(band.low), place.y.pixels(band.high)
    data = ""
    for run, bottom, top in pieces(place.x.pixels(band.x), low, high):
        there, back = (thinned(run, edge, place.most_points) for edge in (top, bottom))
        around = (np.r_[one, other[::-1]] for one, other in zip(there, back, strict=True))
        data += path_data(*around) + "Z"
    title = _title(band.tip or (band.name,)) if band.name else ""
    named = f' data-area="{inert(band.name)}"' if band.name else ""
    look = fill(band.colour, band.opacity)
    return f'<path d="{data}" {look}{_arm(band.arm)}{named}>{title}</path>'


def _title(tip: Tip) -> str:
    words = "\n".join(map(str, tip))
    return f"<title>{inert(words)}</title>" if tip else ""


def _points(points: Points, place: Place) -> Iterable[str]:
    for ends, x in zip(points.errors, points.x, strict=bool(points.errors)):
        if ends is None:
            continue
        at, (low, high) = place.x(x), map(place.y, ends)
        yield (
            f'<g class="at" transform="translate({at:.1f} 0)"{_arm(points.arm)}>'
            f'<path d="M0 {low:.1f}V{high:.1f}M-4 {low:.1f}h8M-4 {high:.1f}h8"'
            f" {stroke(points.colour, 1.6, 0.7)}/></g>"
        )
    unknown = {at for at, ends in enumerate(points.errors) if ends is None}
    shape, hollow = _symbol(points.symbol, points.size / 2), _hollow(points.colour)
    yield f"<g {_look_of_all(points)}>"
    for index, (x, y, tip) in enumerate(zip(points.x, points.y, points.tips, strict=True)):
        own = f" {hollow}" if index in unknown and points.symbol not in _STROKED else ""
        yield (
            f'<g class="at" transform="translate({place.x(x):.1f} {place.y(y):.1f})"'
            f"{_arm(points.arm)}><{shape}{own}/>{_title(tip)}</g>"
        )
    yield "</g>"


def _look_of_all(points: Points) -> str:
    """Attributes of the group of symbols, of which zooming moves each by itself."""
    more = "alike"
    if points.symbol in _STROKED:
        width = 1.6 if points.symbol == "tick" else 2.6
        return stroke(points.colour, width, points.opacity, more=more)
    if points.hollow:
        return _hollow(points.colour, more)
    return fill(points.colour, points.opacity, more)


def _hollow(colour: str, more: str = "") -> str:
    classes = f"{more} hollow s-{colour[1:]}".strip()
    return f'class="{classes}" fill="#fff" stroke="{colour}" stroke-width="1.6"'


def _symbol(symbol: Symbol, r: float) -> str:
    """Returns the name of an element around zero, with its shape."""
    match symbol:
        case "circle":
            return f'circle r="{r:g}"'
        case "diamond":
            data = f"M0 {-r:g}L{r:g} 0 0 {r:g} {-r:g} 0Z"
        case "square":
            data = f"M{-r:g} {-r:g}H{r:g}V{r:g}H{-r:g}Z"
        case "triangle":
            data = f"M0 {-r:g}L{r:g} {r * 0.8:g} {-r:g} {r * 0.8:g}Z"
        case "tick":
            data = f"M0 {-r:g}V{r:g}"
        case "cross":
            data = f"M{-r:g} {-r:g}L{r:g} {r:g}M{-r:g} {r:g}L{r:g} {-r:g}"
    return f'path d="{data}"'


def _box(box: Box, place: Place) -> str:
    x0 = place.left if box.x0 is None else place.x(box.x0)
    x1 = place.right if box.x1 is None else place.x(box.x1)
    y0 = place.bottom if box.y0 is None else place.y(box.y0)
    y1 = place.top if box.y1 is None else place.y(box.y1)
    left, right, top, bottom = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
    still = "" if box.x0 is None and box.x1 is None else "sx"
    drawn = (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0.5):.1f}"'
        f' height="{max(bottom - top, 0.5):.1f}" {fill(box.colour, box.opacity, still)}'
        f"{_arm(box.arm)}>{_title(box.tip)}</rect>"
    )
    if box.text and width_of(box.text, 11.5) + 6 <= right - left and bottom - top >= 14:
        drawn += (
            f'<text class="at on" x="{(left + right) / 2:.1f}" y="{(top + bottom) / 2 + 4:.1f}"'
            f' text-anchor="middle" font-size="11.5" fill="{_on(box.colour)}">'
            f"{inert(box.text)}</text>"
        )
    return drawn


def _on(colour: str) -> str:
    """Black or white, whichever is legible on the colour (by the relative luminance of WCAG 2)."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return "#111" if 0.21 * red**2.2 + 0.72 * green**2.2 + 0.07 * blue**2.2 > 0.3 else "#fff"


def _rule(rule: Rule, place: Place) -> str:
    if rule.x is not None:
        at = place.x(rule.x)
        low = place.bottom if rule.low is None else place.y(rule.low)
        high = place.top if rule.high is None else place.y(rule.high)
        data = f"M{at:.1f} {low:.1f}V{high:.1f}"
    else:
        at = place.y(rule.y or 0.0)
        low = place.left if rule.low is None else place.x(rule.low)
        high = place.right if rule.high is None else place.x(rule.high)
        data = f"M{low:.1f} {at:.1f}H{high:.1f}"
    look = stroke(rule.colour, rule.width, 1.0, "dot" if rule.dotted else "solid")
    return f'<path d="{data}" {look}/>'


def _text(text: Text, place: Place) -> str:
    x, anchor = (place.left if text.x is None else place.x(text.x)), text.anchor
    y = place.top if text.y is None else place.y(text.y)
    room = (
        _SURE * place.width
        if text.x is None or anchor == "middle"
        else max(40.0, place.right - x if anchor == "start" else x)
    )
    words = shortened(text.words, TYPE_PX, room, text.bold)
    if anchor == "middle":
        half = width_of(words, TYPE_PX, text.bold) / 2
        x = max(place.left + half, min(x, place.right - half))
    # What has no place on the axis stays where it is when the chart is zoomed.
    look = (
        fill(text.colour, more="at" if text.x is not None else "")
        if text.colour
        else ('class="at t"' if text.x is not None else 'class="t"')
    )
    weight = ' font-weight="650"' if text.bold else ""
    return (
        f'<text x="{x + text.dx:.1f}" y="{y + text.dy:.1f}" text-anchor="{anchor}"{weight}'
        f" {look}>{inert(words)}</text>"
    )
