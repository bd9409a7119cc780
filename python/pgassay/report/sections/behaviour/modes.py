"""The modes of each scenario's latency, by arm, and what their mean hides.

Enters: the context. Leaves: sentences, a chart, tables. Never: searches for a mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pgassay.analysis.curves.modes.model import LatencyModes, ModeWait
from pgassay.analysis.measures.courses.latencies import ALL
from pgassay.analysis.statistics.values import Estimate
from pgassay.language import listed, ntr, tr
from pgassay.quantities import latency, plain_number, significant
from pgassay.report.charts.latency.modes import modes_chart, panels_of
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Fold, note, observed
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Table, column, view
from pgassay.report.document.text import Text, joined, texts_of
from pgassay.report.tables.cells import ABSENT, INTERVAL, between, ends_of, subject, written

sentence = texts_of(__name__)

_CONTRASTS = (
    column("level", "Level compared", subject, "text"),
    written("scenario", "Scenario", str, "text"),
    written("slower_than_ms", "Slower than", latency),
    written("baseline_pct", "Baseline", lambda value: _percent(value)),
    written("level_pct", "Level", lambda value: _percent(value)),
    column(
        "points.value",
        "Difference",
        lambda one: tr("{value} points", value=plain_number(one.points.value)),
    ),
    column("points", INTERVAL, lambda one: ends_of(one.points) or ABSENT),
)


@section("behaviour/modes", "Modes of latency")
def modes(context: ReportContext) -> Blocks:
    """Shows the modes of each scenario; yields nothing where none has more than one in any arm."""
    found = [one for one in context.analysis.behaviour.latency_modes if one.refused is None]
    single = [one for one in found if one.scenario != ALL]
    chart = modes_chart(single, arm_styles(context.plan.arms))
    several = {one.scenario for one in single if len(one.modes) > 1}
    if chart is None or not several:
        return
    scenarios = len({one.scenario for one in single})
    yield summed_up("report/sections/modes", unusual=True, n=scenarios, several=len(several))
    yield from observed(context.sentences("modes"))
    yield arm_key(context)
    yield Chart(
        "modes",
        chart,
        tr("Density of latency by scenario and arm"),
        _caption(single, at_one_step=any(one.step is not None for one in found)),
        has_table=True,
    )
    yield mode_table(context, single)
    yield note(
        sentence("a_peak_counts_as"),
        any(mode.waits for one in single for mode in one.modes)
        and sentence("sampled_in_what_sessions"),
        tr("What goes with a mode need not be its cause."),
    )
    if contrasts := contrast_table(context):
        boundary = sentence("the_boundary_is_that")
        summary = tr("Slow transactions, level by level")
        yield Fold(summary, [contrasts, note(boundary)], in_text=True)
    if mixture := mixture_table(context, [one for one in found if one.scenario == ALL]):
        yield Fold(tr("All scenarios together"), [mixture])


def _caption(single: list[LatencyModes], *, at_one_step: bool) -> Text:
    not_drawn = len({one.scenario for one in single}) - len(panels_of(single))
    return joined(
        sentence("share_of_the_transactions"),
        at_one_step and tr("At the greatest load of the trials."),
        not_drawn > 0
        and ntr(
            "{n} more scenario is in the table only.",
            "{n} more scenarios are in the table only.",
            not_drawn,
        ),
    )


def mode_table(context: ReportContext, found: list[LatencyModes]) -> Table:
    """Makes a table with a row for each mode of each scenario in each arm."""
    columns = (
        written("of.scenario", "Scenario", str, "group"),
        written("of.arm", "Arm", _short_names(context).__getitem__, "heading", merges=True),
        *_MODE,
        written("at_checkpoints_points", "More of them at checkpoints", _points),
        written("waits", "Sampled in, once so old", _waits, "text"),
        written("of.mean_ms.value", "Mean", latency, merges=True),
        written("of.near_mean_pct.value", "Near the mean", _percent, merges=True),
    )
    return view(columns, _modes(found)).filled("at_checkpoints_points", "waits")


def mixture_table(context: ReportContext, found: list[LatencyModes]) -> Table:
    """Makes a table of the modes of all scenarios together, with the scenarios that each is of."""
    columns = (
        written("of.arm", "Arm", _short_names(context).__getitem__, "heading", merges=True),
        *_MODE,
        written("scenarios", "Scenarios", _scenarios, "text"),
    )
    return view(columns, _modes(found))


def _modes(found: list[LatencyModes]) -> Iterator[Mapping[str, Any]]:
    return ({"of": one, **vars(mode)} for one in found for mode in one.modes)


def contrast_table(context: ReportContext) -> Table:
    """Makes a table of the share of slow transactions of every level at every boundary."""
    return view(_CONTRASTS, context.analysis.behaviour.mode_contrasts)


def _short_names(context: ReportContext) -> dict[str, str]:
    """Arm id → its name in the key of the chart."""
    return {style.id: style.short for style in arm_styles(context.plan.arms).values()}


def _percent(value: float) -> str:
    return f"{plain_number(value)} %"


def _share(estimate: Estimate) -> str:
    return f"{_percent(estimate.value)}{between(estimate)}"


def _waits(waits: Iterable[ModeWait]) -> str:
    return listed(f"{one.event} {_percent(one.share_pct.value)}" for one in waits) or ABSENT


def _scenarios(shares: Iterable[tuple[str, float]]) -> str:
    return listed(f"{name} {_percent(share)}" for name, share in shares if share >= 1)


def _latency(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return latency(estimate.value)
    low, high = significant(estimate.low), significant(estimate.high)
    return tr("{value} ({low} to {high})", value=latency(estimate.value), low=low, high=high)


def _points(estimate: Estimate) -> str:
    return tr(
        "{value} points{interval}", value=plain_number(estimate.value), interval=between(estimate)
    )


_MODE = (
    written("peak_ms", "Around", _latency),
    written("above_ms", "From", _latency),
    written("share_pct", "Transactions", _share),
    written("time_pct.value", "Of their time", _percent),
)
