"""Every trial in the order it ran, and those whose throughput was not steady.

Enters: the context. Leaves: a chart and tables, with the trials that do not count.
Never: fits a trend, or tests for a change.
"""

from __future__ import annotations

import base64

from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.curves.model import Steadiness
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.language import Message, clauses, colon, decimals, ntr, tr
from pgassay.report.charts.over_time.trial_order import trial_order_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.csv_files import trials_csv
from pgassay.report.document.blocks import Chart, Fold, PageOnly, Paragraph, note
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, numbers, row_of, table
from pgassay.report.document.text import Span, joined, texts_of
from pgassay.report.svg.draw import shows_zero
from pgassay.report.tables.cells import ABSENT, measured, tone_cell, with_interval

sentence = texts_of(__name__)

_STEPS = (
    Column(Message("Trial"), "text"),
    Column(Message("Load"), "line"),
    Column(Message("Course"), "text"),
    Column(Message("Reason"), "text"),
)
_BY_HALF = (
    Column(Message("Level compared"), "heading"),
    *numbers("First half", "Second half", "Second against first"),
    Column(Message("Result"), "text"),
)
_HALVES = {
    Dependence.DEPENDS: Message("changes"),
    Dependence.NEGLIGIBLE: Message("changes negligibly"),
    Dependence.INDEPENDENT: Message("the same"),
    Dependence.UNDECIDED: Message("undecided"),
}
_HALF_TONES = {Dependence.DEPENDS: "undecided", Dependence.UNDECIDED: "undecided"}
_WORDS = {
    Steadiness.WARMING: Message("warming up"),
    Steadiness.UNSTEADY: Message(Steadiness.UNSTEADY.value),
}


@section("record/trials", "Trials in the order they ran")
def trials(context: ReportContext) -> Blocks:
    """All runs have the section; it says so where no trial has finished."""
    if chart := trial_order_chart(context.analysis, arm_styles(context.plan.arms)):
        caption = joined(
            sentence("every_block_has_each", seed=context.plan.seed)
            if context.plan.factors
            else tr("One arm, repeated: the scatter is the noise of the host."),
            not shows_zero(chart.panels[0]) and tr("The vertical axis does not start at zero."),
        )
        label = tr("The primary metric of every trial in the order they ran")
        yield arm_key(context)
        yield Chart("order", chart, label, caption, has_table=True)
    found = trial_table(context)
    if not found:
        yield Paragraph(tr("No trial has finished."))
        return
    link = Span(
        tr("Every estimate of every trial, as CSV"),
        link=_as_link(trials_csv(context)),
        download=f"{context.run_name}-trials.csv",
    )
    rows = sentence("one_row_for_each")
    yield PageOnly([note((link, Span(colon()), Span(rows)))])
    yield Fold(tr("All {n} trials", n=len(found)), [found])


def _as_link(csv: str) -> str:
    """A file inside a link, for the page to offer."""
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(csv.encode()).decode()}"


def trial_table(context: ReportContext) -> Table:
    """The primary metric, throughput and the slowest 1 % of each trial, and its caveats."""
    analysis = context.analysis
    names, styles = context.labels, arm_styles(context.plan.arms)
    slowest = "response_p99" if analysis.answer.metric.startswith("response") else "latency_p99"
    metrics = [METRICS[name] for name in dict.fromkeys((analysis.answer.metric, "tps", slowest))]
    every = (*analysis.answer.trials, *analysis.answer.invalid_trials)
    rows = []
    for trial in sorted(every, key=lambda t: (t.block, t.position)):
        colour = styles[trial.arm].colour if trial.arm in styles else "transparent"
        arm = Cell(names.get(trial.arm, trial.arm), "arm", colour)
        cells: tuple[str | Cell, ...] = (
            *map(str, (trial.number, trial.block, trial.position)),
            trial.server,
            arm,
            *(measured(trial.whole.values.get(one.name), one) for one in metrics),
            _checkpoints(trial),
            clauses(_caveats(trial)),
        )
        rows.append(row_of(cells, "odd" if trial.block % 2 else ""))
    columns = (
        *numbers("Trial", "Block", "Position"),
        Column(Message("Server"), "text"),
        Column(Message("Arm"), "text"),
        *(Column(one.title) for one in metrics),
        Column(Message("Checkpoints")),
        Column(Message("Caveats"), "text"),
    )
    found = Table(columns, tuple(rows))
    empty = (name for name in ("Server", "Caveats") if not any(found.column(name)))
    return found.without(*empty)


def _caveats(trial: TrialMeasures) -> tuple[str, ...]:
    return (
        *(tr("does not count: {reason}", reason=reason) for reason in trial.invalid),
        *(warning.text for warning in trial.warnings),
    )


def _checkpoints(trial: TrialMeasures) -> str:
    rate = trial.whole.values.get("checkpoints_per_min")
    if rate is None:
        return ABSENT
    return str(round(rate * (trial.whole.end_ns - trial.whole.start_ns) / 60e9))


@section("record/halves", "The effect in each half of trials")
def halves(context: ReportContext) -> Blocks:
    """Every level whose effect is known in both halves of the measured time."""
    rows = [
        (
            f"{one.factor} = {one.level}",
            with_interval(one.first.effect_pct, one.first.ci95_pct),
            with_interval(one.second.effect_pct, one.second.ci95_pct),
            with_interval(one.change_pct, one.change_ci95_pct),
            tone_cell(_HALVES[one.verdict], _HALF_TONES.get(one.verdict, "same")),
        )
        for one in context.analysis.behaviour.by_half
    ]
    if rows:
        yield table(_BY_HALF, rows)
        yield note(sentence("the_change_in_per"))


@section("record/steadiness", "Trials that were not steady")
def steadiness(context: ReportContext) -> Blocks:
    """Steps that still warmed up or changed."""
    unit = context.plan.step_unit
    rows = [
        (str(step.trial), f"{decimals(step.step, 'g')} {unit}", _WORDS[step.course], step.why)
        for step in context.analysis.behaviour.courses
        if step.course in _WORDS
    ]
    if rows:
        summary = ntr("{n} step of a trial", "{n} steps of a trial", len(rows))
        yield Fold(summary, [table(_STEPS, rows)])
        text = sentence("tested_for_changes_of")
        yield PageOnly([note(text)])
