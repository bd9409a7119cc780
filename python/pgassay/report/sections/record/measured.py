"""Every figure that was measured: means by arm, log events, the host, all comparisons.

Enters: the context. Leaves: tables. Never: computes an estimate.
"""

from __future__ import annotations

from pgassay.analysis.model import Comparison
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.verdicts.model import ArmSummary
from pgassay.language import Message, ntr, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Column, Table, column, table, view
from pgassay.report.document.text import texts_of
from pgassay.report.summaries.compared import compared, differs
from pgassay.report.tables.by_arm import arm_table, log_event_table, zeros
from pgassay.report.tables.cells import (
    ABSENT,
    BLOCKS,
    CHANGE,
    ESTIMATE,
    INTERVAL,
    LOAD,
    MEANS,
    RESULT,
    SIGN_FLIP,
    measured,
    probability,
    subject,
)

sentence = texts_of(__name__)

BY = Message("BY\xa0p")
_COMPARISONS = (
    column("metric", "Measured", lambda c: METRICS[c.metric].title, "heading", merges=True),
    column("level", "Level compared", subject, "line"),
    LOAD,
    *MEANS,
    *CHANGE,
    BLOCKS,
    column("p_sign_flip", SIGN_FLIP, lambda one: probability(one.p_sign_flip)),
    column("p_by", BY, lambda one: probability(one.p_by)),
    RESULT,
)


@section("record/measured", "Everything measured")
def everything(context: ReportContext) -> Blocks:
    """A run in which any metric was measured."""
    if not any(arm.means for arm in context.analysis.answer.arms):
        return
    yield compared(context, "report/sections/figures")
    comparisons = comparison_table(context)
    if effects := arm_effect_table(context):
        summary = ntr(
            "{n} arm against the baseline of all factors",
            "{n} arms against the baseline of all factors",
            len(effects),
        )
        together = note(tr("The 95 % of the intervals hold for all arms together."))
        yield Fold(summary, (effects, together), printed=True, in_text=True)
    yield _means(context, is_open=not comparisons)
    if events := log_event_table(context):
        per_trial = note(tr("Number of events in the measured time, per trial."))
        yield Fold(tr("Events in the server’s log"), (events, per_trial), in_text=True)
    if comparisons:
        summary = ntr("{n} comparison", "{n} comparisons", len(comparisons))
        yield Fold(summary, (comparisons, _what_p_is(context)))


def _means(context: ReportContext, *, is_open: bool) -> Fold:
    summary = ntr("Means of {n} arm", "Means of {n} arms", len(context.plan.arms))
    differ = sentence("these_means_are_arithmetic")
    means, left_out = _mean_table(context).without_zeros()
    blocks = (means, zeros(left_out), None if is_open else note(differ))
    return Fold(summary, blocks, is_open, in_text=is_open)


def _what_p_is(context: ReportContext) -> Paragraph:
    left_out = len(context.analysis.answer.comparisons) - len(_worth_a_row(context))
    return note(
        _has_sign_flip(context) and sentence("the_signflip_p_is"),
        sentence("the_by_p_is"),
        left_out > 0
        and ntr(
            "{n} comparison that is too small to matter, or at one load not clear, is left out; "
            "analysis.json has all.",
            "{n} comparisons that are too small to matter, or at one load not clear, are left out; "
            "analysis.json has all.",
            left_out,
        ),
    )


def _mean_table(context: ReportContext) -> Table:
    """Of a single arm also their intervals, which no comparison shows."""
    arms = context.analysis.answer.arms
    found = [one for one in METRICS.values() if any(one.name in arm.means for arm in arms)]
    if len(arms) == 1:
        (arm,) = arms
        columns = (
            Column(tr("Mean of the trials"), "heading"),
            Column(Message("Mean")),
            Column(INTERVAL),
        )
        rows = [(one.title, measured(arm.means[one.name], one), _ends(arm, one)) for one in found]
        return table(columns, rows)
    return arm_table(
        context,
        tr("Mean of the trials"),
        [(one.title, [measured(arm.means.get(one.name), one) for arm in arms]) for one in found],
    )


def _ends(arm: ArmSummary, metric: Metric) -> str:
    if metric.name not in arm.intervals:
        return ABSENT
    low, high = (measured(end, metric).text for end in arm.intervals[metric.name])
    return tr("{low} to {high}", low=low, high=high)


def comparison_table(context: ReportContext) -> Table:
    """Returns the table of comparisons of every metric, level and step."""
    return view(_COMPARISONS, _worth_a_row(context)).only_if(
        p_sign_flip=_has_sign_flip(context),
        level=context.has_several_levels,
        step=context.has_several_steps,
    )


def _worth_a_row(context: ReportContext) -> list[Comparison]:
    """Without differences below their metric's floor, per cent of nearly nothing, and, at single
    loads, without those that are not clear."""
    return [
        one
        for one in context.analysis.answer.comparisons
        if one.metric == context.analysis.answer.metric
        or (
            abs(one.difference) >= METRICS[one.metric].floor
            and (one.step is None or not context.has_several_steps or differs(one))
        )
    ]


def _has_sign_flip(context: ReportContext) -> bool:
    """Only a run with a fixed number of blocks has it."""
    return any(one.p_sign_flip is not None for one in context.analysis.answer.comparisons)


def arm_effect_table(context: ReportContext) -> Table:
    """Every arm against the arm that has all baselines."""
    arm = column("arm", "Arm", lambda one: context.labels[one.arm], "heading")
    return view((arm, *ESTIMATE), context.analysis.answer.arm_effects)
