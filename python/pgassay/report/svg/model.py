"""What a chart shows: panels with axes and marks, in the units of the data.

Enters: values and words from the charts. Leaves: frozen marks, drawn in the order they were added.
Never: knows a pixel but heights, sizes of type and of symbols.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["linear", "log", "time"]
Symbol = Literal["circle", "diamond", "square", "triangle", "tick", "cross"]
Dash = Literal["solid", "dash", "dot", "dashdot"]
Anchor = Literal["start", "middle", "end"]
Values = Sequence[float | None]
Tip = tuple[str, ...]
"""Lines beside the pointer; the first names what is drawn. Without any nothing is shown."""


@dataclass(frozen=True)
class Axis:
    """One axis. Times are Unix seconds, shown in UTC."""

    title: str = ""
    kind: Kind = "linear"
    low: float | None = None
    """None: from the marks, as is `high`."""
    high: float | None = None
    from_zero: bool = False
    suffix: str = ""
    """After the number of each tick."""
    unit: str = ""
    """After a value that is shown beside the pointer."""
    ticks: Sequence[tuple[float, str]] | None = None
    """Places and texts; None: round numbers."""
    hidden: bool = False
    grid: bool = True
    most_ticks: int = 8


@dataclass(frozen=True)
class Line:
    """Through the points in their order; None is a hole. With a name its values can be read."""

    x: Sequence[float]
    y: Values
    colour: str
    width: float = 2.0
    dash: Dash = "solid"
    opacity: float = 1.0
    arm: str = ""
    name: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Band:
    """The area between two lines; where either is None it has a hole."""

    x: Sequence[float]
    low: Values
    high: Values
    colour: str
    opacity: float = 0.18
    arm: str = ""
    name: str = ""
    tip: Tip = ()
    """By default the name."""


@dataclass(frozen=True)
class Points:
    """Symbols, each with its tip; `errors` are the ends of an interval around each.

    One whose interval is None, not known, is drawn hollow.
    """

    x: Sequence[float]
    y: Sequence[float]
    colour: str
    tips: Sequence[Tip]
    size: float = 8.0
    symbol: Symbol = "circle"
    opacity: float = 1.0
    arm: str = ""
    errors: Sequence[tuple[float, float] | None] = ()
    hollow: bool = False


@dataclass(frozen=True)
class Box:
    """A rectangle. None is the panel's edge; `text` stands inside where it fits."""

    x0: float | None
    x1: float | None
    y0: float | None
    y1: float | None
    colour: str
    opacity: float = 1.0
    tip: Tip = ()
    text: str = ""
    arm: str = ""


@dataclass(frozen=True)
class Rule:
    """A straight line across the panel, or from `low` to `high` of the other axis."""

    colour: str
    x: float | None = None
    y: float | None = None
    low: float | None = None
    high: float | None = None
    dotted: bool = False
    width: float = 1.0


@dataclass(frozen=True)
class Text:
    """Words at a place; None is the panel's left edge or its top.

    Words around a place (`middle`) stay inside the panel.
    """

    words: str
    x: float | None = None
    y: float | None = None
    anchor: Anchor = "start"
    dx: float = 0.0
    dy: float = 0.0
    bold: bool = False
    colour: str = ""
    """Empty: that of the page's text."""


Mark = Line | Band | Points | Box | Rule | Text


@dataclass
class Panel:
    """One pair of axes, `height` pixels tall without what stands around it."""

    x: Axis
    y: Axis
    height: int
    title: str = ""
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        """Draws these marks over what was added before."""
        self.marks += marks

    def _ends(self) -> Iterator[float]:
        """Both ends of every interval."""
        for mark in self.marks:
            if isinstance(mark, Points):
                yield from (end for ends in mark.errors if ends is not None for end in ends)
            elif isinstance(mark, Band):
                yield from (end for end in (*mark.low, *mark.high) if end is not None)

    @property
    def runs_out(self) -> bool:
        """Returns whether an interval continues beyond the lower or the upper edge."""
        low = -math.inf if self.y.low is None else self.y.low
        high = math.inf if self.y.high is None else self.y.high
        return any(end < low or end > high for end in self._ends())


@dataclass
class Figure:
    """Panels one above the other; those with the same horizontal axis share its numbers."""

    panels: list[Panel]
    key: Sequence[tuple[str, str]] = ()
    """Names and colours, where the arms' key above the chart does not apply."""
    zoom: str = ""
    """Charts with the same word are zoomed together along x; empty: no zoom."""
    has_arms: bool = True
    """Whether the arms' key applies to it, which a picture has inside."""

    @property
    def runs_out(self) -> bool:
        """Returns whether an interval continues beyond the edge of a panel."""
        return any(panel.runs_out for panel in self.panels)

    @property
    def has_hollow(self) -> bool:
        """Returns whether a point's interval is not known."""
        marks = (mark for panel in self.panels for mark in panel.marks)
        return any(isinstance(mark, Points) and None in mark.errors for mark in marks)
