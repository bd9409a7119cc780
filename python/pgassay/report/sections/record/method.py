"""Caveats about the measurement, where it ran, how it was done, and how to repeat it.

Enters: the context. Leaves: lists, names and values.
Never: judges, reads a file, or relies on a key of environment.json.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.model import IntervalKind
from pgassay.language import Message, ntr, tr
from pgassay.notes import Importance
from pgassay.plan.description import EXCHANGE, combinations_line, plots_line
from pgassay.report.context import ObservationContext, ReportContext
from pgassay.report.document.blocks import Code, Facts, Fold, Group, Heading, Items, PageOnly, note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.text import texts_of
from pgassay.report.environment import NamedValues, environment_lists
from pgassay.report.sections.record.settings import settings_table
from pgassay.report.sections.record.workload import scripts
from pgassay.report.summaries.caveats import caveats_of

sentence = texts_of(__name__)

_FOR_POSITION = 4
"""Blocks from which the effect of positions is estimated."""


@section("record/caveats", "Caveats")
def caveats(context: ReportContext) -> Blocks:
    """A run with any caveat: those that could change the verdict first."""
    for importance, texts in caveats_of(context).items():
        if importance is Importance.DETAIL:
            summary = ntr(
                "{n} caveat that cannot change the result",
                "{n} caveats that cannot change the result",
                len(texts),
            )
            yield Fold(summary, [Items(texts)], in_text=True)
        else:
            group = (Heading(_IMPORTANCE[importance]), Items(texts))
            yield Group(group, f"caveat {importance.value}")


_IMPORTANCE = {
    Importance.VERDICT: Message("Could change the verdict"),
    Importance.SIZE: Message("Could change the size of the effect, or what it holds for"),
}


@section("record/environment", "Where it ran")
def environment(context: ReportContext | ObservationContext) -> Blocks:
    """Shows whatever was stored of hosts, servers and settings."""
    lists = environment_lists(context.environment)
    if not lists:
        return
    yield summed_up("report/sections/changed-settings", n=len(context.environment.server.settings))
    if isinstance(context, ReportContext) and (settings := settings_table(context)):
        yield PageOnly((Heading(tr("Settings of the server")), settings))
    yield Group([*map(_list, lists)], "columns")


def _list(one: NamedValues) -> Group:
    blocks = (Heading(one.title), Facts(one.rows, one.form))
    return Group(blocks, "" if one.form == "values" else "wide")


@section("record/repeat", "How to repeat the run")
def repeat(context: ReportContext) -> Blocks:
    """Shows the command, and the experiment file that it takes."""
    yield Code(context.command, "sh")
    yield note(
        sentence("in_the_folder_that"),
        sentence.marked("without_the_directory") if any(scripts(context)) else "",
        sentence("order_and_random_numbers"),
    )
    yield Fold(tr("The experiment"), [Code(context.spec_text.strip(), "toml")], in_text=True)


@section("record/method", "Method")
def method(context: ReportContext) -> Blocks:
    """Shows how the run was designed and analysed."""
    yield summed_up("report/sections/design")
    yield Items([*_method(context)], "method")


def _method(context: ReportContext) -> Iterator[str]:
    if context.plan.factors:
        yield from _design(context)
        yield from _verdicts(context)
    else:
        yield sentence("a_single_arm_was")
    yield sentence("the_result_holds_for")


def _design(context: ReportContext) -> Iterator[str]:
    plan = context.plan
    if plan.side_by_side:
        yield sentence("every_trial_is_a", seed=plan.seed)
    elif plan.alternates:
        yield sentence("every_trial_is_a_block", seed=plan.seed)
    else:
        yield sentence("the_unit_is_the", seed=plan.seed)
    several = len(plan.factors) > 1
    if several:
        yield tr("Arms: {combinations}.", combinations=combinations_line(plan))
    if several and plan.plots_reason:
        yield tr("Randomisation: {plots}.", plots=plots_line(plan))
    if plan.exchanges_directories:
        yield tr("Directories: {exchange}.", exchange=EXCHANGE)


def _verdicts(context: ReportContext) -> Iterator[str]:
    plan, analysis = context.plan, context.analysis
    if analysis.answer.interval is IntervalKind.T:
        yield sentence("the_number_of_blocks")
    elif analysis.answer.interval is IntervalKind.GROUP:
        yield sentence("the_run_could_stop")
    else:
        yield sentence(
            "the_run_could_stop_at",
            looks=len(plan.all_looks),
            min_blocks=plan.min_blocks,
            max_blocks=plan.max_blocks,
        )
    if analysis.answer.simultaneous > 1:
        yield sentence("there_are_verdicts_each", simultaneous=analysis.answer.simultaneous)
    for arm, block in plan.dropped.items():
        yield sentence("has_no_trials_after", arm=plan.arm(arm).label, block=block)
    if analysis.answer.endpoints:
        yield sentence("the_primary_metric_has")
    if analysis.answer.interval is IntervalKind.T:
        of_rounds = plan.alternates and not plan.side_by_side
        yield sentence(
            "the_signflip_p_assumes",
            unit=tr("round", context="of differences")
            if of_rounds
            else tr("block", context="of differences"),
        )
    else:
        yield sentence("the_p_given_as")
    if not plan.alternates and plan.plots == "complete" and analysis.answer.blocks >= _FOR_POSITION:
        yield sentence("what_a_trials_position")
    yield sentence("better_or_worse_the", margin=context.margin)
