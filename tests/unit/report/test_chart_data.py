"""The numbers of a chart as a table: those that are drawn, no more than can be read."""

from __future__ import annotations

import re
from pathlib import Path

from pgassay.report.document.blocks import Chart
from pgassay.report.document.table import Table
from pgassay.report.sections.run_parts import RUN_SECTIONS
from pgassay.report.svg.model import Axis, Band, Box, Figure, Line, Panel, Points
from pgassay.report.tables.chart_data import chart_data
from support.blocks import every
from support.synthetic.report_contexts import synthetic_context

BLUE = "#0072B2"


def figure_of(*marks: object, x: Axis | None = None, title: str = "") -> Figure:
    panel = Panel(x or Axis("seconds"), Axis("tps"), 200, title=title)
    panel.add(*marks)  # type: ignore[arg-type]
    return Figure([panel])


def test_courses_stand_beside_each_other_by_place_and_a_hole_is_a_dash() -> None:
    found = chart_data(
        figure_of(
            Line([0.5, 1.5, 2.5], [1234.4, None, 0.0], BLUE, name="mean", unit="tps"),
            Line([1.5, 2.5], [0.25, 0.000001], BLUE, name="p99", unit="ms"),
            Line([0.5, 1.5], [1.0, 2.0], BLUE),  # a single trial
        ),
        "label",
    )
    assert found is not None
    assert [column.title for column in found.table.columns] == ["seconds", "mean, tps", "p99, ms"]
    assert [[cell.text for cell in row.cells] for row in found.table.rows] == [
        ["0.5", "1\u202f234", "–"],
        ["1.5", "–", "0.25"],
        ["2.5", "0", "0"],
    ]
    assert (found.note, found.table.label) == ("", "Numbers: label")


def test_of_a_long_course_evenly_spaced_places_are_shown_and_the_table_says_so() -> None:
    seconds = [float(at) for at in range(1000)]
    found = chart_data(figure_of(Line(seconds, seconds, BLUE, name="a")), "label")
    assert found is not None
    assert [row[0] for row in found.table.rows][:3] == ["0", "25", "50"]
    assert len(found.table) == 40
    assert re.findall(r"\d+", found.note)[:3] == ["25", "40", "1000"]


def test_times_and_named_places_are_shown_as_on_the_axis() -> None:
    at = 1_800_000_000.0
    times = chart_data(figure_of(Line([at], [1.0], BLUE, name="a"), x=Axis(kind="time")), "")
    named = Axis("quantile", ticks=[(0.0, "50"), (1.0, "99")], suffix=" %")
    quantiles = chart_data(figure_of(Line([0.0, 1.0], [1.0, 2.0], BLUE, name="a"), x=named), "")
    assert times is not None
    assert quantiles is not None
    assert times.table.rows[0][0] == "2027-01-15 08:00:00"
    assert [row[0] for row in quantiles.table.rows] == ["50 %", "99 %"]


def test_of_many_courses_each_has_a_row_of_how_it_went_without_a_column_of_units() -> None:
    bands = [Band([0.0, 1.0], [1.0, 1.0], [2.0, 4.0], BLUE, name=f"class {at}") for at in range(9)]
    found = chart_data(figure_of(*bands, title="arm"), "label")
    assert found is not None
    assert [cell.text for cell in found.table.rows[0].cells] == [
        "arm: class 0", "1", "2", "3", "3",
    ]  # fmt: skip
    assert len(found.table) == 9


def test_a_chart_without_courses_has_the_words_of_its_marks_once_each() -> None:
    found = chart_data(
        figure_of(
            Box(0, 1, 0, 1, BLUE, tip=("WAL", "2 sessions", "arm a")),
            Points([1, 1], [2, 2], BLUE, [("mean", "+3 %"), ("mean", "+3 %")]),
        ),
        "label",
    )
    assert found is not None
    assert [(row[0], row[1]) for row in found.table.rows] == [
        ("WAL", "2 sessions; arm a"),
        ("mean", "+3 %"),
    ]
    assert chart_data(figure_of(Line([0.0], [1.0], BLUE)), "label") is None


def test_every_chart_of_every_report_has_a_caption_and_every_section_of_one_a_table(
    tmp_path: Path,
) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.1})
    drawn = {
        section.name: blocks
        for section in RUN_SECTIONS
        if every(blocks := section.blocks(context), Chart)
    }
    assert len(drawn) > 4
    for name, blocks in drawn.items():
        charts = every(blocks, Chart)
        assert charts[-1].caption, name
        assert every(blocks, Table) or all(
            chart_data(one.figure, one.label) for one in charts if not one.has_table
        ), name
