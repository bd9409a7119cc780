"""The sections of infrastructure, speed and waits: what they show, and when they stand open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgassay.analysis.compare.model import ArmFigure
from pgassay.analysis.model import Explanation
from pgassay.analysis.sampled.model import HostFigure, IntervalSpread, LoadProfile, WaitEvent
from pgassay.report.charts.effects.speed import speed_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart
from pgassay.report.document.table import Table
from pgassay.report.sections.behaviour.infrastructure import infrastructure
from pgassay.report.sections.behaviour.speed import speed
from pgassay.report.sections.behaviour.waits import wait_event_table
from pgassay.report.svg.model import Line
from pgassay.report.tables.by_load import arms_at_loads
from pgassay.report.tables.infrastructure import host_table, speed_table
from pgassay.samples.forms.environment import EnvironmentFile
from support.blocks import every
from support.synthetic.report_contexts import synthetic_context

STORAGE = {
    "data": {"path": "/d", "mount": "/", "devices": ["sda1"], "disks": ["sda"]},
    "wal": {"path": "/d/pg_wal", "mount": "/", "devices": ["sda1"], "disks": ["sda"]},
}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    made = synthetic_context(tmp_path_factory.mktemp("run"))
    environment = EnvironmentFile.model_validate({"host": {"storage": STORAGE}})
    return replace(made, facts=replace(made.facts, environment=environment))


def explained(context: ReportContext, **parts: Any) -> ReportContext:
    found = Explanation(**parts)
    return replace(context, analysis=replace(context.analysis, explanation=found))


def figure(name: str, device: str, change_pct: float | None, *, clear: bool) -> HostFigure:
    spreads = (IntervalSpread("a1", 2.0, 1.0, 9.0), IntervalSpread("a2", 4.0, 4.0, 4.0))
    figures = (
        ArmFigure("a1", 3.0, 6),
        ArmFigure("a2", 4.0, 6, 1.0, (0.5, 1.5), change_pct, (10.0, 50.0), 0.01, clear),
    )
    return HostFigure(name, device, "ms", 1, "lower", spreads, figures)


@pytest.mark.parametrize(
    ("change_pct", "clear"), [(33.0, True), (None, True), (5.0, True), (33.0, False)]
)
def test_the_line_of_infrastructure_names_what_differs_clearly(
    context: ReportContext, change_pct: float | None, clear: bool
) -> None:
    found = (figure("wa", "", 1.0, clear=False), figure("w_await", "sda", change_pct, clear=clear))
    filled = infrastructure.filled(explained(context, infrastructure=found))
    assert filled.summary is not None
    assert filled.summary.is_unusual == clear
    assert filled.summary.note.values.get("names", ()) == (("w_await (sda)",) if clear else ())
    (table,) = [one for one in filled.blocks if isinstance(one, Table)]
    assert [row.cells[1].text for row in table.rows] == ["wa", "w_await"]
    assert table.rows[1][0] == "sda (data, WAL)"
    assert [cell.text for cell in table.rows[1].cells[2:]] == ["2.0 (1.0 to 9.0)", "4.0"]
    assert [cell.value for cell in table.rows[1].cells[2:]] == [3.0, 4.0]
    assert table.rows[1].cells[3].style == ("worse" if clear else "")


def test_a_brief_leaves_out_what_another_figure_nearly_says(context: ReportContext) -> None:
    found = tuple(figure(name, "", 1.0, clear=False) for name in ("us", "bi", "bo"))
    waits = tuple(figure(name, "", 1.0, clear=False) for name in ("SPEED", "IO"))
    shown = explained(context, infrastructure=found, speed=waits)
    assert [row[1] for row in host_table(shown).rows] == ["us", "bi", "bo"]
    assert [row[0] for row in speed_table(shown).rows] == ["SPEED", "IO"]
    assert [row[1] for row in host_table(shown, details=False).rows] == ["us"]
    assert [row[0] for row in speed_table(shown, details=False).rows] == ["SPEED"]


def test_a_host_that_was_not_read_has_no_section(context: ReportContext) -> None:
    assert infrastructure.blocks(explained(context)) == ()


def test_a_row_of_each_load_says_how_many_connections_ran(context: ReportContext) -> None:
    profiles = tuple(
        LoadProfile(
            arm, level, connections, {"pay": connections - 1, "refund": 1}, 6,
            {"tps": 10.0 * level, "SPEED": 5.0, "IO": 0.5, "sda/IOPS": 70.0, "WAITINGS": 1.0},
        )
        for arm in ("a1", "a2")
        for level, connections in ((5.0, 6), (22.0, 24))
    )  # fmt: skip
    shown = explained(
        context, load_profiles=profiles, infrastructure=(figure("IOPS", "sda", 1.0, clear=False),)
    )
    table = arms_at_loads(shown).load_table()
    titles = [column.title for column in table.columns]
    assert {"SPEED, thousand/min", "WAITINGS", "IO", "IOPS, /s"} <= set(titles)
    assert not {"Lock", "wa, %", "p99, ms"} & set(titles), "columns that nothing is known of"
    connections = titles.index("Connections")
    assert [row[connections].partition(":")[0] for row in table.rows] == ["6", "6", "24", "24"]
    charts = [one.name for one in every(speed.blocks(shown), Chart)]
    assert charts == ["speed_by_load", "speed_over_time"]
    (over_load, _) = every(speed.blocks(shown), Chart)
    assert [text for _, text in over_load.figure.panels[0].x.ticks or ()] == ["6", "24"]


def test_loads_that_are_described_have_panels_of_their_own(context: ReportContext) -> None:
    styles = arm_styles(context.plan.arms)
    arms = list(styles)[:2]
    profiles = [
        LoadProfile(arm, level, None, {}, 1, {"SPEED": size * level, "WAITINGS": level})
        for arm, size in zip(arms, (1.0, 1000.0), strict=True)
        for level in (5.0, 22.0)
    ]
    unit = context.plan.step_unit
    together, apart = (speed_chart(profiles, styles, unit, apart=one) for one in (False, True))
    assert together is not None
    assert apart is not None
    assert [len(one.panels) for one in (together, apart)] == [2, 2 * len(arms)]
    assert all(
        {mark.arm for mark in panel.marks if isinstance(mark, Line)} <= {arm}
        for panel, arm in zip(apart.panels, 2 * arms, strict=True)
    )


def test_a_wait_event_has_its_samples_and_the_text_of_the_statements(
    context: ReportContext,
) -> None:
    event = WaitEvent(
        "IO:DataFileExtend",
        (ArmFigure("a1", 0.5, 6), ArmFigure("a2", 0.4, 6, -0.1, None, -20.0, (-25.0, -15.0))),
        {"a1": 300, "a2": 240},
        {"a1": 6, "a2": 6},
        (("77", 0.3),),
    )
    (row,) = wait_event_table(context, [event]).rows
    assert [cell.text for cell in row.cells] == [
        "IO:DataFileExtend", "0.500 (300)", "0.400 (240)", "queryid 77",
    ]  # fmt: skip
    assert row.cells[2].note
    assert not row.cells[1].note, "the baseline arm is compared with nothing"
