"""The top of a report: the answers, and the facts a reader needs to weigh them.

Enters: the context. Leaves: one `Answer` for each verdict, and (name, value) pairs.
Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.model import Analysis, IntervalKind, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.endpoints import MEASURED, plain_badge
from pgassay.findings.answer.factors import interaction_sentence
from pgassay.findings.answer.queries import query_counts
from pgassay.findings.model import Finding, FindingKind, sentences_of
from pgassay.findings.wording import quantity
from pgassay.language import Message, colon, comma, decimals, listed, tr
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Answer, Block, Facts, Paragraph
from pgassay.report.document.text import Span, joined
from pgassay.report.workload import workload_words

_INTERVALS = {
    IntervalKind.T: Message("Student’s t"),
    IntervalKind.BOUNDED: Message("confidence sequence up to the last block"),
    IntervalKind.GROUP: Message("group-sequential"),
}
_MOST_MEANS = 4
_MOST_DEPENDING = 3
"""Interactions shown at the top: each one qualifies an average above it."""


def answers(context: ReportContext) -> tuple[Answer, ...]:
    """The answers over whole trials, then the interactions that qualify an average above them."""
    analysis = context.analysis
    depending = [
        Answer(tr("depends"), "undecided", interaction_sentence(one, analysis))
        for one in analysis.answer.interactions
        if one.verdict is Dependence.DEPENDS
    ]
    return (*verdicts(context), *depending[:_MOST_DEPENDING])


def verdicts(context: ReportContext) -> tuple[Answer, ...]:
    """The answers over whole trials; answers by step are in the table of verdicts."""
    found = context.of_kind(FindingKind.VERDICT)
    whole = [v for v in found if v.comparison is None or v.comparison.step is None]
    if not whole:
        return (Answer(tr("no result"), "same", _nothing(context)),)
    return tuple(_answer(one, context.analysis) for one in whole)


def ending_blocks(context: ReportContext) -> Iterator[Block]:
    """The end of a run in three lines: figures, verdict, what to do next."""
    ending = context.ending
    for row in ending.rows:
        if row.figures is not None:
            yield Paragraph(row.figures)
        yield Answer(str(row.badge), _tone(row.verdict, row.badge), row.sentence)
        if row.queries is not None:
            yield Paragraph(row.queries)
    if not ending.rows:
        yield Answer(tr("no result"), "same", _nothing(context))
    if ending.more is not None:
        yield Paragraph(ending.more)
    yield Facts([(tr("next"), ending.following)])


def limit_blocks(context: ReportContext) -> Iterator[Paragraph]:
    """What limits each verdict over whole trials, but for what the ending says to do next."""
    said = sentences_of(context.ending.following)
    found = [
        (one.comparison, [limit for limit in one.sentences[1:] if limit not in said])
        for one in context.of_kind(FindingKind.VERDICT)
        if one.comparison is not None and one.comparison.step is None
    ]
    for comparison, limits in found:
        subject = f"{comparison.factor} = {comparison.level}"
        if limits:
            lead = (Span(subject),) if len(found) > 1 else ()
            yield Paragraph(joined(*limits), lead=lead)


def facts(context: ReportContext) -> tuple[tuple[str, str], ...]:
    """(name, value): what was judged, by which interval, over how many trials."""
    plan, analysis = context.plan, context.analysis
    found = [
        *_means(context),
        (tr("Load"), load(plan)),
        *(((tr("Workload"), words),) if (words := workload_words(context)) else ()),
        primary_metric(context),
    ]
    if plan.factors and not plan.describes:
        found += [
            (
                tr("Smallest effect that matters"),
                f"±\xa0{decimals(100 * analysis.answer.smallest_effect, 'g')}\xa0%",
            ),
        ]
    if plan.factors:
        found.append((tr("Interval"), interval_words(context)))
    if plan.alternates:
        where = tr(", each on its own server") if plan.side_by_side else ""
        found.append(
            (
                tr("Mode"),
                tr(
                    "{mode}: all arms alternate inside every trial{where}",
                    mode=plan.mode,
                    where=where,
                ),
            )
        )
    if plan.factors:
        found.append((tr("Blocks"), _blocks(context)))
    return (*found, (tr("Trials"), _trials(context)))


def primary_metric(context: ReportContext) -> tuple[str, str]:
    """(name, value): the metric that is judged, and which direction of it is better."""
    metric = METRICS[context.analysis.answer.metric]
    direction = {"higher": tr("higher is better"), "lower": tr("lower is better")}.get(metric.good)
    judged = direction and not context.plan.describes
    words = [metric.title, direction] if judged else [metric.title]
    return tr("Primary metric"), comma().join(map(str, words))


def design_facts(context: ReportContext) -> list[tuple[str, str]]:
    """The facts that stand beside no verdict: without figures, their metric and interval."""
    besides = {*(name for name, _ in _means(context)), tr("Interval")}
    if context.analysis.answer.verdicts():
        besides.add(tr("Primary metric"))
    return [(name, value) for name, value in facts(context) if name not in besides]


def _means(context: ReportContext) -> Iterator[tuple[str, str]]:
    """The primary metric with the baseline and with the level, of a few verdicts."""
    judged = context.analysis.answer.judged()
    whole = [one for one, beside in judged if beside is None and one.step is None]
    for one in whole if len(whole) <= _MOST_MEANS else ():
        metric = METRICS[one.metric]
        means = (quantity(mean, metric) for mean in (one.baseline_mean, one.level_mean))
        factor = f"{one.factor}{colon()}" if len(context.plan.factors) > 1 else ""
        yield f"{factor}{one.baseline} → {one.level}", " → ".join(means)


def load(plan: Plan) -> str:
    """Return the load of a plan, such as `8 clients`, or `4, 8, 16 clients`, or a replay."""
    for whole in (plan.replay, plan.queries):
        if whole is not None:
            return str(whole.described())
    measured = [step for step in plan.steps if step.measured]
    clients = dict.fromkeys(step.clients for step in measured)
    rates = [decimals(one, "g") for one in dict.fromkeys(step.rate for step in measured) if one]
    several = listed(decimals(one, "g") for one in clients)
    words = tr("1 client") if [*clients] == [1] else tr("{clients} clients", clients=several)
    return (
        tr("{words}, {list} transactions per second asked for", words=words, list=listed(rates))
        if rates
        else words
    )


def interval_words(context: ReportContext) -> str:
    """Which 95 % interval, and over how many verdicts it is shared."""
    analysis = context.analysis
    name = f"{_INTERVALS[analysis.answer.interval]}{comma()}95\u00a0%"
    if analysis.answer.simultaneous > 1:
        return tr(
            "{name}, shared by up to {simultaneous} verdicts (Holm)",
            name=name,
            simultaneous=analysis.answer.simultaneous,
        )
    return name


def _answer(finding: Finding, analysis: Analysis) -> Answer:
    said, *limits = finding.sentences
    if (of := finding.comparison) is None:
        return Answer(finding.heading, _tone(None, finding.title), said, joined(*limits))
    counts = [f"{one:capital}." for one in (query_counts(of, analysis),) if one is not None]
    return Answer(finding.heading, _tone(of.verdict, finding.title), said, joined(*counts, *limits))


def _tone(verdict: Verdict | None, badge: Note) -> str:
    """That of the verdict, unless its badge weakens it."""
    if verdict is None:
        return "measured" if badge == MEASURED else "undecided"
    return TONES[verdict] if badge == plain_badge(verdict) else "undecided"


def _nothing(context: ReportContext) -> str:
    if context.analysis.answer.invalid_trials and not context.analysis.answer.trials:
        return tr("No trial counts, so there is no result; the caveats say why.")
    if not context.analysis.answer.trials:
        return tr("No trial has finished, so there is no result.")
    return tr("No complete block has a value to compare, so there is no result.")


def _blocks(context: ReportContext) -> str:
    plan, done = context.plan, context.analysis.answer.blocks
    if plan.stops == "group-sequential":
        return tr(
            "{done} complete, evaluated after {list}",
            done=done,
            list=listed(map(str, plan.looks)),
        )
    if plan.min_blocks == plan.max_blocks:
        return tr(
            "{done} of {max_blocks} (fixed beforehand)", done=done, max_blocks=plan.max_blocks
        )
    return tr(
        "{done} complete, {min_blocks} to {max_blocks} allowed",
        done=done,
        min_blocks=plan.min_blocks,
        max_blocks=plan.max_blocks,
    )


def _trials(context: ReportContext) -> str:
    if context.plan.queries is not None:  # its trials have no length of their own
        answer = context.analysis.answer
        return str(len(answer.trials) + len(answer.partial_trials))
    return tr(
        "{trials} × {seconds}\xa0s measured",
        trials=len(context.analysis.answer.trials),
        seconds=decimals(context.plan.measured_s, "g"),
    )
