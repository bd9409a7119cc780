"""The classic view of pg_expecto and PG_HAZEL, arms side by side.

Enters: the context. Leaves: tables, and how many classic claims do not hold. Never: judges an arm.
"""

from __future__ import annotations

from pgassay.analysis.classic.limits import LIMITS
from pgassay.analysis.classic.model import Agreement, ClassicCorrelation, ClassicTrend
from pgassay.language import decimals
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.sections.classic.cells import WORDS, Shown
from pgassay.report.sections.classic.database import (
    claimed_correlations,
    claimed_trends,
    correlation_table,
    figure_table,
    trend_table,
)
from pgassay.report.sections.classic.host import disk_table, disks, host_table, rule_table
from pgassay.report.sections.classic.waits import (
    event_table,
    only_table,
    pareto_table,
    weighted_table,
)


@section("classic/classic", "Classic view")
def classic(context: ReportContext) -> Content | None:
    """A run whose trials are each of one arm."""
    view = context.analysis.classic
    if view is None:
        return None
    styles = arm_styles(context.plan.arms)
    names = {one.arm: (styles[one.arm].short, styles[one.arm].label) for one in view.arms}
    return content_of(Shown(view, names, texts=context.analysis.statements))


def content_of(shown: Shown) -> Content:
    """The variables of the templates."""
    view = shown.view
    every: list[ClassicCorrelation | ClassicTrend] = []
    for arm in view.arms:
        every += [*arm.correlations, *arm.trends]
    claims = [one for one in every if one.claims]
    untested = sum(one.agreement is Agreement.TOO_LITTLE for one in claims)
    refuted = sum(one.agreement is not Agreement.AGREE for one in claims) - untested
    return {
        "unit": shown.unit,
        "interval": decimals(view.interval_s, "g"),
        "intervals": view.intervals,
        "claims": len(claims),
        "refuted": refuted,
        "untested": untested,
        "too_short": _too_short(shown),
        "figures": figure_table(shown),
        "claimed_trends": claimed_trends(shown),
        "claimed_correlations": claimed_correlations(shown),
        "trends": trend_table(shown),
        "database": correlation_table(shown, "database", "buffers"),
        "weighted": weighted_table(shown),
        "events": pareto_table(shown, lambda one: one.events, ids=False),
        "queries": pareto_table(shown, lambda one: one.queries, ids=True),
        "met": event_table(shown),
        "only": only_table(shown),
        "host": host_table(shown),
        "rules": rule_table(shown),
        "pairs": correlation_table(shown, "vmstat"),
        "host_trends": trend_table(shown, host=True),
        "disk_types": disk_table(shown),
        "disks": disks(shown),
    }


def _too_short(shown: Shown) -> str:
    """Why there are no trends and correlations; empty where there are."""
    least, intervals = LIMITS["intervals"]["least_for_correlation"], shown.view.intervals
    if intervals >= least:
        return ""
    return str(WORDS["too_short"]).format(least=least, unit=shown.unit, intervals=intervals)
