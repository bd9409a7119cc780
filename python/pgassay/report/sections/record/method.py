"""Caveats about the measurement, where it ran, how it was done, and how to repeat it.

Enters: the context. Leaves: lists, names and values.
Never: judges, reads a file, or relies on a key of environment.json.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.model import IntervalKind
from pgassay.language import Message, tr
from pgassay.notes import Importance
from pgassay.plan.description import EXCHANGE, combinations_line, plots_line
from pgassay.report.context import ObservationContext, ReportContext
from pgassay.report.document.blocks import Code, Facts, Fold, Group, Heading, Items, PageOnly, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import said
from pgassay.report.environment import NamedValues, environment_lists
from pgassay.report.sections.record.settings import settings_table
from pgassay.report.summaries.caveats import caveats_of

_FOR_POSITION = 4
"""Blocks from which the effect of positions is estimated."""


@section("record/caveats", "Caveats")
def caveats(context: ReportContext) -> Blocks:
    """A run with any caveat: those that could change the verdict first."""
    for importance, texts in caveats_of(context).items():
        if importance is Importance.DETAIL:
            summary = tr("{n} that cannot change the result", n=len(texts))
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
    """Whatever was stored."""
    lists = environment_lists(context.environment)
    if not lists:
        return
    if isinstance(context, ReportContext) and (settings := settings_table(context)):
        yield PageOnly((Heading(tr("Settings of the server")), settings))
    yield Group([*map(_list, lists)], "columns")


def _list(one: NamedValues) -> Group:
    blocks = (Heading(one.title), Facts(one.rows, one.form))
    return Group(blocks, "" if one.form == "values" else "wide")


@section("record/method", "Method, and how to repeat the run")
def method(context: ReportContext) -> Blocks:
    """How the run was designed and analysed, and how to repeat it."""
    yield Code(context.command, "sh")
    yield note(
        said(
            "In the folder that holds the run’s directory, which has the scripts too. Without it: "
            'save the experiment below as a file, the scripts under <a href="#workload">What the '
            "load ran</a> as a workload’s folder if it is none of the ready ones, and name that "
            "file. Order and random numbers follow from the seed; the machine does not."
        )
    )
    experiment = [Code(context.spec_text.strip(), "toml")]
    yield Fold(tr("The experiment"), experiment, is_open=True, in_text=True)
    yield Items([*_method(context)], "method")


def _method(context: ReportContext) -> Iterator[str]:
    if context.plan.factors:
        yield from _design(context)
        yield from _verdicts(context)
    else:
        yield tr(
            "A single arm was run: there is nothing to compare, so there is no verdict, only "
            "measurements."
        )
    yield tr(
        "The result holds for this host at the time of the run and for this data. Other hardware, "
        "another day or other data may give another result; repeat the run there."
    )


def _design(context: ReportContext) -> Iterator[str]:
    plan = context.plan
    if plan.side_by_side:
        yield tr(
            "Every trial is a block: all arms alternate in it, each on its own server, in rounds, "
            "in a new random order in each round (seed {seed}). A trial gives one value, the mean "
            "of the differences inside its rounds, because each start of a server adds its own "
            "deviation.",
            seed=plan.seed,
        )
    elif plan.alternates:
        yield tr(
            "Every trial is a block: all arms alternate in it, in rounds, in a new random order in "
            "each round (seed {seed}). The effect is the mean over trials of the differences "
            "inside rounds. Its standard error allows for correlated rounds and for an effect that "
            "differs between trials.",
            seed=plan.seed,
        )
    else:
        yield tr(
            "The unit is the trial, not the second or the transaction. Trials come in blocks; a "
            "block has every arm once, in random order (seed {seed}). The effect is the mean of "
            "the differences inside blocks.",
            seed=plan.seed,
        )
    several = len(plan.factors) > 1
    if several:
        yield tr("Arms: {combinations}.", combinations=combinations_line(plan))
    if several and plan.plots_reason:
        yield tr("Randomisation: {plots}.", plots=plots_line(plan))
    if plan.exchanges_directories:
        yield tr("Directories: {exchange}.", exchange=EXCHANGE)


def _verdicts(context: ReportContext) -> Iterator[str]:
    plan, analysis = context.plan, context.analysis
    if analysis.interval is IntervalKind.T:
        yield tr(
            "The number of blocks was fixed beforehand, so the interval is Student’s t on the "
            "block differences."
        )
    elif analysis.interval is IntervalKind.GROUP:
        yield tr(
            "The run could stop at looks that were fixed beforehand. They share the error "
            "(group-sequential), so the interval is wider than that of a single look."
        )
    else:
        yield tr(
            "The run could stop at {looks} looks, from block {min_blocks} to block {max_blocks}, "
            "so the interval is a confidence sequence over these looks (Lan & DeMets, 1983; Kim & "
            "DeMets, 1987): it is valid whenever one stops, and wider for that reason.",
            looks=len(plan.all_looks),
            min_blocks=plan.min_blocks,
            max_blocks=plan.max_blocks,
        )
    if analysis.simultaneous > 1:
        yield tr(
            "There are {simultaneous} verdicts. Each that is reached leaves its share of the error "
            "to the others (Holm), so in at most 5 % of runs any of them finds a difference that "
            "is not there. Each interval holds in 95 % of runs by itself.",
            simultaneous=analysis.simultaneous,
        )
    for arm, block in plan.dropped.items():
        yield tr(
            "{arm} has no trials after block {block}: its verdict was reached while others were "
            "open.",
            arm=plan.arm(arm).label,
            block=block,
        )
    if analysis.endpoints:
        yield tr(
            "The primary metric has 5 % error over all its verdicts, and the endpoints beside it "
            "have another 5 % together."
        )
    if analysis.interval is IntervalKind.T:
        of_rounds = plan.alternates and not plan.side_by_side
        yield tr(
            "The sign-flip p assumes no distribution: it is the share of all ways to flip the "
            "signs of the {unit} differences that give as large a mean.",
            unit=tr("round", context="of differences")
            if of_rounds
            else tr("block", context="of differences"),
        )
    else:
        yield tr(
            "The p given as evidence (≤ 0.001, 0.01 or 0.05) holds at all looks together: with so "
            "small an error the same bounds would have decided too."
        )
    if not plan.alternates and plan.plots == "complete" and analysis.blocks >= _FOR_POSITION:
        yield tr(
            "What a trial's position in its block adds is taken out of throughput and latency by "
            "least squares; orders are balanced over groups of blocks."
        )
    yield tr(
        "Better or worse: the interval excludes zero. Equivalent: a 90 % interval lies inside "
        "± {margin} %. Negligible: both. Undecided: neither.",
        margin=context.margin,
    )
