"""The top of a history of runs.

Enters: the context. Leaves: one `Answer` for each series of the primary metric and of the
endpoints, and (name, value) pairs. Never: decides where a level changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.history.levels import FEWEST_RUNS
from pgassay.analysis.history.model import Change, Series
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.history.levels import begun_on, judged_sentence, sentence_of
from pgassay.language import tr
from pgassay.report.context import HistoryContext
from pgassay.report.document.blocks import Answer


def answers(context: HistoryContext) -> tuple[Answer, ...]:
    """Returns the present level of the primary metric and of each endpoint, by arm."""
    return tuple(
        Answer(*_badge(one, context), sentence_of(one, context.analysis))
        for one in context.analysis.main
    )


def facts(context: HistoryContext) -> tuple[tuple[str, str], ...]:
    """Returns (name, value): which runs these are, and which of them the gates judged."""
    return tuple(_facts(context))


def _facts(context: HistoryContext) -> Iterator[tuple[str, str]]:
    analysis = context.analysis
    first, last = (begun_on(run) for run in (analysis.runs[0], analysis.runs[-1]))
    count = str(len(analysis.runs))
    yield tr("Runs"), tr("{count}, from {first} to {last}", count=count, first=first, last=last)
    yield tr("Primary metric"), METRICS[analysis.metric].title
    if judged := judged_sentence(analysis):
        yield tr("Gates"), str(judged)


def _badge(one: Series, context: HistoryContext) -> tuple[str, str]:
    if len(one.runs) < FEWEST_RUNS:
        return tr("too few runs"), "undecided"
    if not one.changes:
        return tr("no change"), "same"
    last = one.changes[-1]
    return tr("changed"), tone_of(last, context)


def tone_of(change: Change, context: HistoryContext) -> str:
    """Returns whether a change is for the better or the worse, as a class of style.css; `same`
    where it is smaller than what matters, `measured` where no direction is good."""
    good = METRICS[change.metric].good
    if good == "neither":
        return "measured"
    if change.is_percent and abs(change.change.value) < 100.0 * context.analysis.smallest_effect:
        return "same"
    return "better" if (change.change.value > 0.0) == (good == "higher") else "worse"
