"""The data that a chart draws, as a table.

Enters: a figure. Leaves: a table of at most forty rows and, in words, which those are: of courses
their values by place, or with many courses how each went; of other charts the tip of every mark.
Never: shows more than the chart does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgassay.language import Message, clauses, colon, tr
from pgassay.quantities import spaced
from pgassay.report.document.table import Column, Table, numbers, table
from pgassay.report.document.text import texts_of
from pgassay.report.svg.model import Axis, Band, Box, Figure, Line, Panel, Points, Tip, Values
from pgassay.report.tables.cells import ABSENT, moment

sentence = texts_of(__name__)

_MOST_ROWS, _MOST_COLUMNS = 40, 8
_DECIMALS = 2
"""By which places of several lines are the same."""


@dataclass(frozen=True)
class ChartData:
    """A table, and which rows it shows; empty where it shows all."""

    table: Table
    note: str


@dataclass(frozen=True)
class _Course:
    name: str
    unit: str
    axis: Axis
    x: Sequence[float]
    y: Values

    def known(self) -> list[float]:
        return [value for value in self.y if value is not None and math.isfinite(value)]


def chart_data(figure: Figure, label: str) -> ChartData | None:
    """The table; None where a chart has no course and no tip."""
    courses = list(_courses(figure))
    if not courses:
        return _by_tip(figure, label)
    if len(courses) > _MOST_COLUMNS or len({one.axis.title for one in courses}) > 1:
        return _summaries(courses, label)
    return _by_place(courses, label)


def _courses(figure: Figure) -> Iterator[_Course]:
    """Named lines, and named bands by their height; one that repeats has the panel before it."""
    found = [
        (panel, mark)
        for panel in figure.panels
        for mark in panel.marks
        if isinstance(mark, Line | Band) and mark.name
    ]
    names = [mark.name for _, mark in found]
    for panel, mark in found:
        name = mark.name
        title = panel.title or panel.y.title
        if title and (names.count(mark.name) > 1 or (isinstance(mark, Band) and panel.title)):
            name = f"{title}{colon()}{name}"
        if isinstance(mark, Line):
            yield _Course(name, mark.unit, panel.x, mark.x, mark.y)
        else:
            height = [
                None if low is None or high is None else high - low
                for low, high in zip(mark.low, mark.high, strict=True)
            ]
            yield _Course(name, "", panel.x, mark.x, height)


def _by_place(courses: Sequence[_Course], label: str) -> ChartData:
    axis = courses[0].axis
    values = [
        {round(x, _DECIMALS): y for x, y in zip(one.x, one.y, strict=True)} for one in courses
    ]
    places = sorted({place for own in values for place in own})
    every = math.ceil(len(places) / _MOST_ROWS)
    shown = places[::every]
    columns = [Column(f"{one.name}, {one.unit}" if one.unit else one.name) for one in courses]
    first = Column(Message("time, UTC") if axis.kind == "time" else axis.title, "line")
    rows = [(_place(axis, at), *(_number(own.get(at)) for own in values)) for at in shown]
    found = table([first, *columns], rows)
    return ChartData(_labelled(found, label), _which(len(shown), len(places), every))


def _summaries(courses: Sequence[_Course], label: str) -> ChartData | None:
    rows = []
    for one in courses:
        if known := one.known():
            mean = sum(known) / len(known)
            figures = (min(known), mean, max(known), known[-1])
            rows.append((one.name, one.unit, *map(_number, figures)))
    if not rows:
        return None
    columns = (
        Column(Message("Line"), "heading"),
        Column(Message("Unit"), "text", name="unit"),
        *numbers("Lowest", "Mean", "Highest", "Last"),
    )
    shown = rows[:_MOST_ROWS]
    note = tr("Over the whole time drawn.")
    if len(rows) > len(shown):
        note += tr(" The first {number} of {of} lines.", number=len(shown), of=len(rows))
    return ChartData(_labelled(table(columns, shown).filled("unit"), label), note)


def _by_tip(figure: Figure, label: str) -> ChartData | None:
    """What is shown beside the pointer, mark by mark: the first line, and the others."""
    tips = list(dict.fromkeys(tip for panel in figure.panels for tip in _tips(panel)))
    if not tips:
        return None
    every = math.ceil(len(tips) / _MOST_ROWS)
    shown = tips[::every]
    columns = (
        Column(Message("Mark"), "heading", name="mark"),
        Column(Message("Values"), "text", name="values"),
    )
    found = table(columns, [(name, clauses(rest)) for name, *rest in shown])
    found = found.only_if(values=any(rest for _, *rest in shown))
    return ChartData(_labelled(found, label), _which(len(shown), len(tips), every))


def _tips(panel: Panel) -> Iterator[Tip]:
    for mark in panel.marks:
        match mark:
            case Points():
                yield from (tip for tip in mark.tips if tip)
            case Box() if mark.tip:
                name, *rest = mark.tip
                yield (f"{panel.title}{colon()}{name}" if panel.title else name, *rest)


def _labelled(found: Table, label: str) -> Table:
    return Table(found.columns, found.rows, found.style, tr("Numbers: {label}", label=label))


def _which(shown: int, every_place: int, every: int) -> str:
    if every == 1:
        return ""
    return sentence("one_of_places_in", every=every, shown=shown, every_place=every_place)


def _place(axis: Axis, at: float) -> str:
    if axis.kind == "time":
        return moment(round(at * 1e9))
    if axis.ticks:
        return min(axis.ticks, key=lambda tick: abs(tick[0] - at))[1] + axis.suffix
    return _number(at)


def _number(value: float | None) -> str:
    """To four significant digits, at most four of them decimals."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if abs(value) < 0.00005:
        return "0"
    digits = min(max(0, 3 - math.floor(math.log10(abs(value)))), 4)
    text = spaced(round(value, digits), digits)
    return text.rstrip("0").rstrip(".") if "." in text else text
