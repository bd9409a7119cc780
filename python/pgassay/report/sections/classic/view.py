"""The blocks of the classic view: of the arms of a run, or of an observation as one arm.

Enters: the classic view and the arms' names. Leaves: sentences and tables, and how many classic
claims do not hold. Never: judges an arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.analysis.classic.model import (
    LIMITS,
    Agreement,
    ClassicCorrelation,
    ClassicTrend,
    ClassicView,
)
from pgassay.language import decimals, tr
from pgassay.report.document.blocks import Block, Fold, Heading, PageOnly, Paragraph, note
from pgassay.report.document.section import Blocks, Summary, summed_up
from pgassay.report.document.table import Table
from pgassay.report.document.text import Text, joined, texts_of
from pgassay.report.sections.classic.cells import TRIALS, Shown
from pgassay.report.sections.classic.database import (
    claimed_correlations,
    claimed_trends,
    correlation_table,
    figure_table,
    trend_table,
)
from pgassay.report.sections.classic.host import disk_table, disks, host_table, rule_table
from pgassay.report.sections.classic.waits import (
    only_table,
    pareto_table,
    weighted_table,
)

sentence = texts_of(__name__)


def blocks_of(
    view: ClassicView,
    names: Mapping[str, tuple[str, str]],
    *,
    unit: str = TRIALS,
    texts: Mapping[str, str] | None = None,
) -> Blocks:
    """Shows a view; without trends and correlations where there are too few intervals.

    `names`: arm → its short and full name; `unit`: what an arm was measured in; `texts`: statements
    by query id, where they were read.
    """
    shown = Shown(view, names, unit, texts or {})
    too_short = _too_short(shown)
    yield _summary(view)
    yield Paragraph(joined(_source(shown), not too_short and _tested(shown), _refuted(view)))
    yield figure_table(shown)
    if not shown.of_trials:
        yield note(sentence("of_an_observation"))
    if too_short:
        yield note(too_short)
    else:
        yield from _database(shown)
    yield from _wait_events(shown)
    yield from _host(shown, has_trends=not too_short)


def _source(shown: Shown) -> str:
    intervals, interval = shown.view.intervals, decimals(shown.view.interval_s, "g")
    if shown.of_trials:
        return sentence("source_of_trials", intervals=intervals, interval=interval)
    return sentence("source", intervals=intervals, interval=interval)


def _tested(shown: Shown) -> str:
    return sentence("tested_of_trials") if shown.of_trials else sentence("tested")


def _refuted(view: ClassicView) -> Text:
    """Counts the claims, those that do not hold, and those that could not be tested."""
    claims, refuted, untested = _claims(view)
    if not claims:
        return ()
    return sentence.marked("claims", claims=claims, refuted=refuted, untested=untested)


def _summary(view: ClassicView) -> Summary:
    claims, refuted, _ = _claims(view)
    if not claims:
        return summed_up("report/sections/no-claims", intervals=view.intervals)
    return summed_up("report/sections/claims", n=claims, refuted=refuted)


def _claims(view: ClassicView) -> tuple[int, int, int]:
    every: list[ClassicCorrelation | ClassicTrend] = []
    for arm in view.arms:
        every += [*arm.correlations, *arm.trends]
    claims = [one for one in every if one.claims]
    untested = sum(one.agreement is Agreement.TOO_LITTLE for one in claims)
    refuted = sum(one.agreement is not Agreement.AGREE for one in claims) - untested
    return len(claims), refuted, untested


def _too_short(shown: Shown) -> str:
    """Says why there are no trends and correlations; empty where there are."""
    least, intervals = LIMITS["intervals"]["least_for_correlation"], shown.view.intervals
    if intervals >= least:
        return ""
    return sentence("too_short", least=least, unit=shown.unit, intervals=intervals)


def _database(shown: Shown) -> Iterator[Block]:
    claims = (
        *_claimed(tr("Trends"), *claimed_trends(shown)),
        *_claimed(tr("Correlations"), *claimed_correlations(shown)),
        note(sentence("trend")),
    )
    yield Fold(tr("What the classic view claims"), claims, in_text=True)
    every = (trend_table(shown), correlation_table(shown, "database", "buffers"), _left_out())
    yield Fold(tr("Database: all trends and correlations"), every)
    if weights := weighted_table(shown):
        yield Fold(tr("Weights of waits"), [weights, note(sentence("weight"))], in_text=True)


def _claimed(what: str, claimed: Table, others: int) -> Iterator[Block]:
    if claimed:
        yield Paragraph(tr("{what} that the classic view claims:", what=what))
        yield claimed
        yield Paragraph(tr("Others: {others}, without a claim or not measured.", others=others))
    else:
        words = tr("{what}: the classic view claims none of {others}.", what=what, others=others)
        yield Paragraph(words)


def _left_out() -> Paragraph:
    return note(tr("Pairs of which one never varied are left out."))


def _wait_events(shown: Shown) -> Iterator[Fold]:
    if queries := pareto_table(shown):
        summary = tr("Queries: 80 % of each wait type")
        yield Fold(summary, [queries, note(sentence("sessions"))])
    if only := only_table(shown):
        yield Fold(tr("Wait events of one arm only"), [only, note(sentence("chance"))])


def _host(shown: Shown, *, has_trends: bool) -> Iterator[Fold]:
    limits = note(
        sentence("limits"),
        shown.of_trials and tr("In brackets: the trials with the smallest and the largest share."),
        sentence("memory"),
    )
    if shown.of_trials:  # a section of its own has the figures
        yield Fold(tr("Infrastructure: rules of vmstat"), (rule_table(shown), limits), in_text=True)
    else:
        tables = (host_table(shown), rule_table(shown), limits)
        yield Fold(tr("Infrastructure: run queue, memory, rules of vmstat"), tables, in_text=True)
    if has_trends:
        every = (trend_table(shown, host=True), correlation_table(shown, "vmstat"), _left_out())
        yield Fold(tr("Infrastructure: trends, waits beside vmstat"), every)
    names = disks(shown.view)
    if not names:
        return
    summary = (
        tr("Disks and file systems: rules of iostat, what limits them")
        if has_trends
        else tr("Disks and file systems: rules of iostat")
    )
    blocks: list[Block] = [disk_table(shown)] if has_trends else []
    for name, title in names.items():
        blocks += [Heading(title), rule_table(shown, name)]
        if has_trends:
            pairs = correlation_table(shown, "disk", disk=name)
            blocks.append(PageOnly([pairs, trend_table(shown, name)]))
    yield Fold(summary, blocks, in_text=True)
