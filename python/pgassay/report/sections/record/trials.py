"""Every trial in the order it ran, and those whose throughput was not steady.

Enters: the context. Leaves: a chart and tables, with the trials that do not count.
Never: fits a trend, or tests for a change.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from urllib.parse import quote

from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.curves.model import NOT_STEADY, EffectByHalf, HalfEffect, Steadiness
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.language import Message, clauses, colon, tr
from pgassay.quantities import load
from pgassay.report.charts.over_time.trial_order import trial_order_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.csv_files import trials_csv
from pgassay.report.data_tables.trials import every_trial
from pgassay.report.document.blocks import Chart, PageOnly, Paragraph, note
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, differing, section, summed_up
from pgassay.report.document.table import Cell, Column, Table, column, view
from pgassay.report.document.text import Span, joined, texts_of
from pgassay.report.svg.draw import shows_zero
from pgassay.report.tables.cells import (
    measured,
    subject,
    tone_cell,
    valued,
    with_interval,
    written,
)

sentence = texts_of(__name__)

_BY_HALF = (
    column("level", "Level compared", subject, "heading"),
    column("first.effect_pct", "First half", lambda one: _half(one.first)),
    column("second.effect_pct", "Second half", lambda one: _half(one.second)),
    column("change_pct", "Second against first", lambda one: _change(one)),
    written("verdict", "Result", lambda verdict: _result(verdict), "text"),
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
    """Shows every finished trial of a run, or that none has finished."""
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
    invalid = len(context.analysis.answer.invalid_trials)
    yield summed_up(
        "report/sections/valid", unusual=invalid, n=len(found), valid=len(found) - invalid
    )
    if not found:
        yield Paragraph(tr("No trial has finished."))
        return
    link = Span(
        tr("Every estimate of every trial, as CSV"),
        link=_as_link(trials_csv(context)),
        download=f"{context.run_name}-trials.csv",
    )
    rows = sentence("one_row_for_each")
    yield PageOnly([note((link, Span(colon()), Span(rows))), found])


def _as_link(csv: str) -> str:
    """A file inside a link, for the page to offer; figures are shorter so than in base64."""
    return f"data:text/csv;charset=utf-8,{quote(csv, safe=',/:;=()+')}"


def trial_table(context: ReportContext) -> Table:
    """The primary metric, throughput and the slowest 1 % of each trial, and its caveats; of a query
    set the first alone."""
    metric = context.analysis.answer.metric
    names, styles = context.labels, arm_styles(context.plan.arms)
    slowest = "response_p99" if metric.startswith("response") else "latency_p99"
    others = ("tps", slowest) if context.plan.queries is None else ()
    metrics = [METRICS[name] for name in dict.fromkeys((metric, *others))]

    trials = sorted(every_trial(context), key=lambda t: (t.block, t.position))
    own = [{one.note.without_figures for one in trial.warnings} for trial in trials]
    of_all = set.intersection(*own) if len(own) > 1 else set()

    def arm(trial: TrialMeasures) -> Cell:
        colour = styles[trial.arm].colour if trial.arm in styles else "transparent"
        return Cell(names.get(trial.arm, trial.arm), "arm", colour)

    columns = (
        written("number", "Trial"),
        written("block", "Block"),
        written("position", "Position"),
        written("server", "Server", str, "text"),
        column("arm", "Arm", arm, "text"),
        *map(_figure, metrics),
        column("checkpoints", "Checkpoints", _checkpoints),
        column("warnings", "Caveats", lambda trial: clauses(_caveats(trial, of_all)), "text"),
    )
    found = view(columns, trials, style=lambda trial: "odd" if trial.block % 2 else "")
    return found.filled("server", "warnings")


def _figure(metric: Metric) -> Column:
    """A metric of a trial."""
    name = f"whole.values.{metric.name}"
    return column(
        name, metric.title, lambda trial: measured(trial.whole.values.get(metric.name), metric)
    )


def _caveats(trial: TrialMeasures, of_all: Collection[Hashable]) -> tuple[str, ...]:
    """Without those of all trials, which the section of caveats has."""
    return (
        *(tr("does not count: {reason}", reason=reason) for reason in trial.invalid),
        *(one.text for one in trial.warnings if one.note.without_figures not in of_all),
    )


def _checkpoints(trial: TrialMeasures) -> Cell:
    rate = trial.whole.values.get("checkpoints_per_min")
    length_ns = trial.whole.end_ns - trial.whole.start_ns
    return valued(None if rate is None else round(rate * length_ns / 60e9))


@section("record/halves", "The effect in each half of trials")
def halves(context: ReportContext) -> Blocks:
    """Every level whose effect is known in both halves of the measured time."""
    if found := context.analysis.behaviour.by_half:
        depends = sum(one.verdict is Dependence.DEPENDS for one in found)
        yield differing("report/sections/halves", len(found), depends)
        yield view(_BY_HALF, found)
        yield note(sentence("the_change_in_per"))


def _half(one: HalfEffect) -> str:
    return with_interval(one.effect_pct, one.ci95_pct)


def _change(one: EffectByHalf) -> str:
    return with_interval(one.change_pct, one.change_ci95_pct)


def _result(verdict: Dependence) -> Cell:
    return tone_cell(_HALVES[verdict], _HALF_TONES.get(verdict, "same"))


@section("record/steadiness", "Trials that were not steady")
def steadiness(context: ReportContext) -> Blocks:
    """Steps that still warmed up or changed."""
    columns = (
        written("trial", "Trial", str, "text"),
        column("step", "Load", lambda one: load(one.step, context.plan.step_unit), "line"),
        column("course", "Course", lambda one: str(_WORDS[one.course]), "text"),
        written("why", "Reason", str, "text"),
    )
    if found := [one for one in context.analysis.behaviour.courses if one.course in NOT_STEADY]:
        yield summed_up("report/sections/unsteady-steps", unusual=True, n=len(found))
        yield PageOnly([view(columns, found), note(sentence("tested_for_changes_of"))])
