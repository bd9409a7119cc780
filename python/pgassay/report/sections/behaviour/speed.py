"""Operational speed and waits: over the load, over time, and every arm at each load.

Enters: the context. Leaves: charts and tables. Never: judges a load.
"""

from __future__ import annotations

from pgassay.analysis.sampled.model import SPEED
from pgassay.language import tr
from pgassay.notes import Note
from pgassay.report.charts.effects.speed import speed_chart
from pgassay.report.charts.over_time.host import figure_panels
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, note
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, Summary, section
from pgassay.report.document.text import texts_of
from pgassay.report.tables.by_arm import zeros
from pgassay.report.tables.by_load import arms_at_loads
from pgassay.report.tables.infrastructure import speed_table

sentence = texts_of(__name__)
_PLOT_PX = 140


@section("behaviour/speed", "Speed and waits, by load and over time")
def speed(context: ReportContext) -> Blocks:
    """Shows SPEED and WAITINGS as pg_expecto defines them; yields nothing where arms alternate, or
    of a query set, which has no speed."""
    plan, styles = context.plan, arm_styles(context.plan.arms)
    if plan.alternates or plan.queries is not None:
        return
    profiles = context.analysis.explanation.load_profiles
    apart = bool(plan.describes)  # loads that are only described may differ by orders of magnitude
    over_load = speed_chart(profiles, styles, plan.step_unit, apart=apart)
    named = [("", one) for one in SPEED]
    over_time = figure_panels(context.series, plan, styles, named, {}, _PLOT_PX, apart=apart)
    if over_load is None and over_time is None:
        return
    yield Summary(Note.of("report/sections/loads", n=len(set(plan.step_levels()))))
    yield arm_key(context)
    caption = sentence("speed_is")
    if over_load is not None:
        label = tr("SPEED and WAITINGS of each arm against its connections")
        yield Chart("speed_by_load", over_load, label, caption, has_table=True)
    by_arm, zero = speed_table(context).without_zeros()
    yield by_arm
    yield zeros(zero)
    yield note(
        sentence("medians_are"),
        len(plan.arms) > 1 and sentence("a_second_line_is"),
    )
    if profiles:
        yield from arms_at_loads(context).blocks(sentence("verdicts_at_loads"))
    if over_time is not None:
        label = tr("SPEED and WAITINGS of each arm over time")
        yield Chart(
            "speed_over_time", over_time, label, "" if over_load else caption, has_table=True
        )
