"""How runs made apart went: from load to load, second by second, quantile by quantile.

Enters: the context. Leaves: a chart for each arm with all sides in it, tables.
Never: says that sides differ; the verdicts do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pgassay.analysis.apart.model import ApartAnalysis, ArmCurves, AtLoad
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import quantity
from pgassay.language import Message, decimals, listed, tr
from pgassay.plan.model import Plan
from pgassay.report.charts.effects.apart_by_load import (
    range_words,
    shown_metrics,
    side_loads_chart,
)
from pgassay.report.charts.latency.curve import latency_curve_chart
from pgassay.report.charts.over_time.throughput import has_rows, throughput_chart
from pgassay.report.charts.style import ArmStyle, side_styles
from pgassay.report.context import ApartContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.svg.draw import shows_zero
from pgassay.report.svg.model import Band, Figure
from pgassay.report.tables.cells import ABSENT
from pgassay.report.tables.latencies import latency_table

_ARM = Column(Message("Arm"), "text", merges=True)
_RUN = Column(Message("Run"), "heading")
Charts = tuple[tuple[str, Figure, str], ...]
"""Name, figure, and what it shows in words; one for each arm."""


@section("apart/by_load", "From load to load")
def by_load(context: ApartContext) -> Content | None:
    """Runs whose trials have several loads, which are the same."""
    analysis, unit = context.analysis, _plan(context.analysis).step_unit
    charts = _charts(
        analysis,
        "by_load",
        tr("Throughput and latency of each run at each load"),
        lambda one, styles: side_loads_chart(one.by_load, unit, styles),
    )
    if not charts:
        return None
    return {
        "charts": charts,
        "has_bars": any(at.low < at.high for one in analysis.curves for at in one.by_load),
        "loads": load_table(analysis),
        **_files(charts),
    }


def load_table(analysis: ApartAnalysis) -> Table:
    """By arm, load and side."""
    metrics = shown_metrics([at for one in analysis.curves for at in one.by_load])
    rows: list[tuple[str | Cell, ...]] = []
    for one in analysis.curves:
        found = {(at.load, at.side, at.metric): at for at in one.by_load}
        for load in sorted({at.load for at in one.by_load}):
            for side in analysis.sides:
                cells = (_at_load(found.get((load, side.name, metric))) for metric in metrics)
                of = f"{decimals(load, 'g')} {_plan(analysis).step_unit}"
                rows.append((one.arm, of, side.name, *cells))
    columns = (
        _ARM,
        Column(Message("Load"), "line", merges=True),
        _RUN,
        *(Column(METRICS[metric].title) for metric in metrics),
    )
    return _fitted(table(columns, rows), analysis)


def _at_load(found: AtLoad | None) -> Cell:
    if found is None:
        return Cell(ABSENT)
    return Cell(quantity(found.mean, METRICS[found.metric]), note=range_words(found))


@section("apart/throughput", "Throughput and latency, second by second")
def throughput(context: ApartContext) -> Content | None:
    """Trials that have at least one second."""
    analysis = context.analysis
    charts = _charts(
        analysis,
        "throughput",
        tr("Throughput and latency of each run over the time of a trial"),
        lambda one, styles: throughput_chart(one.series, _plan(analysis), styles, has_bands=True),
    )
    if not charts:
        return None
    figures = [figure for _, figure, _ in charts]
    panels = [panel for figure in figures for panel in figure.panels]
    return {
        "charts": charts,
        "has_bands": any(isinstance(mark, Band) for panel in panels for mark in panel.marks),
        "has_latency": any(panel.y.kind == "log" for panel in panels),
        "has_rows": any(map(has_rows, figures)),
        "shows_zero": all(shows_zero(figure.panels[0]) for figure in figures),
        "log_was_read": any(t.logged is not None for one in analysis.curves for t in one.series),
        **_files(charts),
    }


@section("apart/quantiles", "Latency, quantile by quantile")
def quantiles(context: ApartContext) -> Content | None:
    """Trials whose latency was logged."""
    analysis = context.analysis
    charts = _charts(
        analysis,
        "latency_curve",
        tr("Latency of each run by quantile"),
        lambda one, styles: latency_curve_chart(one.latencies, styles),
    )
    if not charts:
        return None
    curves = [(one.arm, curve) for one in analysis.curves for curve in one.latencies]
    scenarios = list(dict.fromkeys(curve.scenario for _, curve in curves))
    curves.sort(key=lambda one: scenarios.index(one[1].scenario))
    rows = [((arm, curve.arm), curve) for arm, curve in curves]
    loads = dict.fromkeys(curve.step for _, curve in curves if curve.step is not None)
    return {
        "charts": charts,
        "latencies": _fitted(latency_table([_ARM, _RUN], rows), analysis),
        "has_range": any(curve.trials > 1 for _, curve in curves),
        "step": listed(decimals(load, "g") for load in loads),
        "step_unit": _plan(analysis).step_unit,
        **_files(charts),
    }


def _charts(
    analysis: ApartAnalysis,
    name: str,
    label: str,
    drawn: Callable[[ArmCurves, Mapping[str, ArmStyle]], Figure | None],
) -> Charts:
    styles = side_styles(side.name for side in analysis.sides)
    found = []
    for at, one in enumerate(analysis.curves, start=1):
        if (figure := drawn(one, styles)) is not None:
            figure.panels[0].title = one.arm
            found.append((f"{name}-{at}", figure, listed(filter(None, (label, one.arm)))))
    return tuple(found)


def _files(charts: Charts) -> Mapping[str, Figure]:
    """The charts as Markdown names their files."""
    if len(charts) == 1:
        return {"chart": charts[0][1]}
    return {f"arm-{at}": figure for at, (_, figure, _) in enumerate(charts, start=1)}


def _plan(analysis: ApartAnalysis) -> Plan:
    """All runs have its load, but where the comparison was forced."""
    return analysis.sides[0].runs[0].plan


def _fitted(found: Table, analysis: ApartAnalysis) -> Table:
    """Without a column of arms where each run has a single one."""
    return found if any(one.arm for one in analysis.curves) else found.without("Arm")
