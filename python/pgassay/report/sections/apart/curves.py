"""How runs made apart went: from load to load, second by second, quantile by quantile.

Enters: the context. Leaves: a chart for each arm with all sides in it, tables.
Never: says that sides differ; the verdicts do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pgassay.analysis.apart.model import ApartAnalysis, ArmCurves
from pgassay.language import Message, decimals, listed, tr
from pgassay.plan.model import Plan
from pgassay.report.charts.effects.apart_by_load import side_loads_chart
from pgassay.report.charts.latency.curve import latency_curve_chart
from pgassay.report.charts.over_time.throughput import has_rows, throughput_chart
from pgassay.report.charts.style import ArmStyle, side_styles
from pgassay.report.context import ApartContext
from pgassay.report.document.blocks import Block, Chart, Key, note
from pgassay.report.document.captions import happened, quantile_curve
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Table
from pgassay.report.document.text import Text, joined, texts_of
from pgassay.report.svg.draw import shows_zero
from pgassay.report.svg.model import Band, Figure
from pgassay.report.tables.by_load import runs_at_loads
from pgassay.report.tables.cells import written
from pgassay.report.tables.latencies import latency_table

sentence = texts_of(__name__)

_ARM = written("arm", "Arm", str, "text", merges=True)
_RUN = written("side", "Run", str, "heading")
DESCRIBES = Message(
    "The runs were made apart: this describes them; whether they differ is said by the verdicts."
)
_PRESS = Message("Press a name to hide it.")


@section("apart/by_load", "From load to load")
def by_load(context: ApartContext) -> Blocks:
    """Runs whose trials have several loads, which are the same."""
    analysis, unit = context.analysis, plan_of(context.analysis).step_unit
    has_bars = any(at.low < at.high for one in analysis.curves for at in one.by_load)
    charts = charts_by_arm(
        analysis,
        "by_load",
        tr("Throughput and latency of each run at each load"),
        lambda one, styles: side_loads_chart(one.by_load, unit, styles),
        lambda _: joined(
            tr("Points: means at each load."),
            has_bars and tr("Bars: from the lowest of the trials to the highest."),
            tr("The axis of latency is logarithmic."),
            _PRESS,
        ),
    )
    yield from charts
    if charts:
        yield from each_load(context)
        yield note(DESCRIBES)


def each_load(context: ApartContext) -> Blocks:
    """Yields the table of runs at each load, and that of their hosts."""
    if any(one.profiles for one in context.analysis.curves):
        yield from runs_at_loads(context.analysis).blocks(tr("Means of the trials."))


@section("apart/throughput", "Throughput and latency, second by second")
def throughput(context: ApartContext) -> Blocks:
    """Shows throughput by second of both sides, of trials that last a second or more."""
    analysis = context.analysis
    yield summed_up("report/sections/curves", n=len(analysis.curves))
    yield from charts_by_arm(
        analysis,
        "throughput",
        tr("Throughput and latency of each run over the time of a trial"),
        lambda one, styles: throughput_chart(one.series, plan_of(analysis), styles, has_bands=True),
        lambda figures: _over_time(analysis, figures),
    )


def _over_time(analysis: ApartAnalysis, figures: Sequence[Figure]) -> Text:
    panels = [panel for figure in figures for panel in figure.panels]
    has_bands = any(isinstance(mark, Band) for panel in panels for mark in panel.marks)
    has_latency = any(panel.y.kind == "log" for panel in panels)
    from_zero = all(shows_zero(figure.panels[0]) for figure in figures)
    was_read = any(t.logged is not None for one in analysis.curves for t in one.series)
    return joined(
        sentence("lines_the_mean_throughput")
        if has_latency
        else tr("Lines: the mean throughput of the trials of a run."),
        has_bands and tr("Bands: from the lowest of the trials to the highest."),
        not from_zero and tr("The axis of throughput does not start at zero."),
        has_latency and tr("The axis of latency is logarithmic."),
        *happened(has_rows=any(map(has_rows, figures)), log_was_read=was_read),
        sentence("the_runs_were_made"),
        _PRESS,
    )


@section("apart/quantiles", "Latency, quantile by quantile")
def quantiles(context: ApartContext) -> Blocks:
    """Shows quantiles of latency of both sides, of trials whose latency was logged."""
    analysis = context.analysis
    curves = [(one.arm, curve) for one in analysis.curves for curve in one.latencies]
    loads = dict.fromkeys(curve.step for _, curve in curves if curve.step is not None)
    charts = charts_by_arm(
        analysis,
        "latency_curve",
        tr("Latency of each run by quantile"),
        lambda one, styles: latency_curve_chart(one.latencies, styles),
        lambda _: joined(
            quantile_curve(
                sentence("how_long_fast_typical"),
                has_range=any(curve.trials > 1 for _, curve in curves),
            ),
            bool(loads)
            and tr(
                "At the greatest load of the trials, {step} {step_unit}.",
                step=listed(decimals(load, "g") for load in loads),
                step_unit=plan_of(analysis).step_unit.words,
            ),
            tr("The vertical axis is logarithmic."),
            _PRESS,
        ),
        has_table=True,
    )
    if not charts:
        return
    yield summed_up("report/sections/curves", n=len(curves))
    yield from charts
    scenarios = list(dict.fromkeys(curve.scenario for _, curve in curves))
    curves.sort(key=lambda one: scenarios.index(one[1].scenario))
    rows = [{"arm": arm, "side": curve.arm, "curve": curve} for arm, curve in curves]
    yield _fitted(latency_table([_ARM, _RUN], rows), analysis)
    yield note(DESCRIBES)


def charts_by_arm(
    analysis: ApartAnalysis,
    name: str,
    label: str,
    drawn: Callable[[ArmCurves, Mapping[str, ArmStyle]], Figure | None],
    caption: Callable[[Sequence[Figure]], Text],
    *,
    has_table: bool = False,
    part: str = "",
) -> list[Block]:
    """Returns the key of the sides, and a chart for each arm; the last has the caption of all.
    `part` tells charts of one section apart in the names of their pictures."""
    styles = side_styles(side.name for side in analysis.sides)
    found: list[tuple[str, Figure]] = []
    for one in analysis.curves:
        if (figure := drawn(one, styles)) is not None:
            figure.panels[0].title = one.arm
            found.append((one.arm, figure))
    charts = [
        Chart(
            f"{name}-{at}",
            figure,
            listed(filter(None, (label, arm))),
            caption([each for _, each in found]) if at == len(found) else (),
            has_table,
            "-".join(filter(None, (part, f"arm-{at}" if len(found) > 1 else ""))),
        )
        for at, (arm, figure) in enumerate(found, start=1)
    ]
    return [Key(tuple(styles.values())), *charts] if charts else []


def plan_of(analysis: ApartAnalysis) -> Plan:
    """Returns the plan of the baseline: all runs have its load, but where the comparison was
    forced."""
    return analysis.sides[0].runs[0].plan


def _fitted(found: Table, analysis: ApartAnalysis) -> Table:
    """Without a column of arms where each run has a single one."""
    return found.only_if(arm=any(one.arm for one in analysis.curves))
