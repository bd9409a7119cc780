"""Charts as SVG: what is drawn is there, words stay words, and long lines keep their peaks."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from pgassay.report.svg.draw import NARROW_PX, WIDE_PX, draw
from pgassay.report.svg.model import Axis, Band, Box, Figure, Line, Panel, Points, Rule, Text
from pgassay.report.svg.path import thinned
from pgassay.report.svg.scale import scale_of, ticks_of
from pgassay.report.svg.text import shortened, width_of, wrapped

BLUE = "#0072B2"
HOSTILE = "<script>'\"&\x00\x1b[31m\u202e\ud800🐘\n=cmd()"


def figure_of(*marks: object, x: Axis | None = None, y: Axis | None = None) -> Figure:
    panel = Panel(x or Axis("seconds"), y or Axis("tps"), 200, title="panel")
    panel.add(*marks)  # type: ignore[arg-type]
    return Figure([panel])


@pytest.mark.parametrize("width", [WIDE_PX, NARROW_PX])
def test_a_drawing_is_well_formed_and_hostile_words_stay_text(width: int) -> None:
    words = HOSTILE.replace("\ud800", "")
    figure = figure_of(
        Line([0, 1, 2], [1, None, 3], BLUE, name=HOSTILE, unit=HOSTILE, arm=HOSTILE),
        Band([0, 1, 2], [0, 1, None], [2, 3, None], BLUE, name=HOSTILE),
        Points([1], [2], BLUE, [(HOSTILE, HOSTILE)], errors=[(1, 3)]),
        Box(0, 2, None, None, BLUE, tip=(HOSTILE,), text=HOSTILE),
        Rule(BLUE, x=1),
        Text(HOSTILE, x=1, y=2, colour=BLUE),
        x=Axis(HOSTILE, ticks=[(0, HOSTILE), (2, "b")]),
        y=Axis(HOSTILE, suffix=HOSTILE),
    )
    figure.panels[0].title = HOSTILE
    text = draw(figure, width, "name", HOSTILE).encode("utf-8", "strict").decode()
    tree = ElementTree.fromstring(text)  # noqa: S314 - our own drawing
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert tags == {"svg", "g", "path", "circle", "rect", "text", "title", "clipPath"}
    assert not [name for element in tree.iter() for name in element.attrib if name.startswith("on")]
    assert words[:8] in "".join(tree.itertext())


def test_a_line_has_a_hole_where_a_value_is_missing() -> None:
    text = draw(figure_of(Line([0, 1, 2, 3], [1.0, None, 3.0, 2.0], BLUE, name="a")), WIDE_PX, "n")
    data = re.search(r'<path d="([^"]+)"[^>]*data-name', text)
    assert data is not None
    assert data[1].count("M") == 2


def test_thinning_keeps_both_ends_and_every_peak() -> None:
    x = np.arange(100_000.0)
    y = np.sin(x)
    y[40_123], y[40_124] = 50.0, -50.0
    kept = thinned(x, y, 1000)[0].tolist()
    assert len(kept) <= 1000
    assert {0.0, 99_999.0, 40_123.0, 40_124.0} <= set(kept)
    assert kept == sorted(kept)


@pytest.mark.parametrize(
    ("axis", "values", "most", "expected"),
    [
        (Axis(), [0.0, 1030.0], 6, ["0", "200", "400", "600", "800", "1\u202f000"]),
        (Axis(suffix=" %"), [-0.3, 0.31], 4, ["\u22120.2 %", "0.0 %", "0.2 %"]),
        (Axis(kind="log"), [0.02, 30.0], 8, ["0.1", "1", "10"]),
        (Axis(kind="log"), [60.0, 130.0], 5, ["60", "80", "100", "120"]),
        (Axis(kind="time", low=0, high=7200), [], 5, ["00:00", "00:30", "01:00", "01:30", "02:00"]),
        (Axis(kind="time", low=60, high=65), [], 5, ["00:01:00", "00:01:01"]),
    ],
)
def test_axes_name_round_values(
    axis: Axis, values: list[float], most: int, expected: list[str]
) -> None:
    found = [text for _, text in ticks_of(axis, scale_of(axis, values, 0, 500), most)]
    assert found[: len(expected)] == expected


@pytest.mark.parametrize("values", [[], [5.0], [0.0, 0.0], [math.nan, 1.0], [-1e-300, 1e300]])
@pytest.mark.parametrize("kind", ["linear", "log"])
def test_any_values_have_a_scale(values: list[float], kind: str) -> None:
    axis = Axis(kind=kind)  # type: ignore[arg-type]
    scale = scale_of(axis, values, 0, 100)
    assert scale.low < scale.high
    assert ticks_of(axis, scale, 6)


def test_an_axis_from_high_to_low_puts_its_first_value_on_top() -> None:
    scale = scale_of(Axis(low=1.5, high=-0.5), [], 200, 0)
    assert [scale(0.0), scale(1.0)] == [50.0, 150.0]


def test_panels_with_one_axis_show_its_numbers_once() -> None:
    across = Axis("seconds", low=0, high=1)
    panels = [Panel(across, Axis("a"), 80), Panel(across, Axis("b"), 80)]
    assert draw(Figure(panels), WIDE_PX, "n").count('class="ticks"') == 1


def test_a_picture_for_a_file_has_a_ground_and_names_the_arms() -> None:
    figure = figure_of(Line([0, 1], [1, 2], BLUE, arm="a1"))
    text = draw(figure, WIDE_PX, "n", arms=[("work_mem = <1>", BLUE)], around=16)
    assert 'viewBox="-16 -16 992 ' in text
    assert 'fill="#fff"' in text
    assert "work_mem = &lt;1&gt;" in text


def test_words_are_shortened_and_wrapped_to_the_room_there_is() -> None:
    assert width_of(shortened("word " * 40, 12, 100), 12) <= 100
    lines = wrapped("quantile of latency: fast to the left, slow to the right", 12, 150)
    assert len(lines) > 1
    assert all(width_of(line, 12) <= 150 for line in lines)


def test_a_long_label_leaves_room_for_a_wider_font() -> None:
    long = "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2 RETURNING *"
    panel = Panel(Axis(low=0.0, high=1.0), Axis(low=1.0, high=0.0, hidden=True), 60)
    panel.add(Text(long, y=0.5))
    (words,) = re.findall(r">(UPDATE[^<]*)<", draw(Figure([panel]), NARROW_PX, "p"))
    assert words.endswith("…")
    assert width_of(words, 12.5) < 0.93 * NARROW_PX


def test_words_around_a_place_stay_inside_the_panel() -> None:
    words = "x" * 20
    axis, room = Axis(low=0.0, high=10.0), width_of(words, 12.5) / 2
    for at in (0.0, 5.0, 10.0):
        drawing = draw(figure_of(Text(words, at, 1.0, "middle"), x=axis), WIDE_PX, "n")
        place = re.search(rf'<text x="([0-9.]+)"[^>]*>{words}<', drawing)
        assert place is not None
        assert room <= float(place[1]) <= WIDE_PX - room


def test_what_runs_out_of_a_panel_ends_at_its_edge_and_symbols_there_are_whole() -> None:
    axis = Axis(low=0.0, high=10.0)
    for high, above in ((9.0, 7), (11.0, 0)):
        figure = figure_of(Band([0, 1], [1, 1], [2, high], BLUE), x=axis, y=axis)
        clip = re.search(r'<clipPath[^>]*><rect[^>]* height="(\d+)"', draw(figure, WIDE_PX, "n"))
        assert clip is not None
        assert int(clip[1]) == 200 + 2 * above
