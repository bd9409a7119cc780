"""The blocks of the classic view: of the arms of a run, or of an observation as one arm.

Enters: the classic view and the arms' names. Leaves: sentences and tables, and how many classic
claims do not hold. Never: judges an arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.analysis.classic.limits import LIMITS
from pgassay.analysis.classic.model import Agreement, ClassicCorrelation, ClassicTrend, ClassicView
from pgassay.language import decimals, tr
from pgassay.report.document.blocks import Block, Fold, Heading, PageOnly, Paragraph, note
from pgassay.report.document.section import Blocks
from pgassay.report.document.table import Table
from pgassay.report.document.text import Text, joined, said
from pgassay.report.sections.classic.cells import TRIALS, WORDS, Shown
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
    yield Paragraph(joined(_source(shown), not too_short and _tested(shown), _refuted(view)))
    yield figure_table(shown)
    if not shown.of_trials:
        yield note(
            tr(
                "Speed and shared buffers: of the database that pgassay is connected to. Waits: of "
                "all databases."
            )
        )
    if too_short:
        yield note(too_short)
    else:
        yield from _database(shown)
    yield from _wait_events(shown)
    yield from _host(shown, has_trends=not too_short)


def _source(shown: Shown) -> str:
    intervals, interval = shown.view.intervals, decimals(shown.view.interval_s, "g")
    if shown.of_trials:
        return tr(
            "The figures, labels and limits of pg_expecto 12.4, from {intervals} intervals of "
            "{interval} s of each trial. No verdict rests on them.",
            intervals=intervals,
            interval=interval,
        )
    return tr(
        "The figures, labels and limits of pg_expecto 12.4, from {intervals} intervals of "
        "{interval} s.",
        intervals=intervals,
        interval=interval,
    )


def _tested(shown: Shown) -> str:
    if shown.of_trials:
        return tr(
            "Beside each correlation and trend stands its tested counterpart, which allows for "
            "autocorrelation, checkpoints, steps of the load and the number of trials."
        )
    return tr(
        "Beside each correlation and trend stands its tested counterpart, which allows for "
        "autocorrelation, checkpoints, steps of the load and chance."
    )


def _refuted(view: ClassicView) -> Text:
    """How many claims there are, and how many of them do not hold or could not be tested."""
    every: list[ClassicCorrelation | ClassicTrend] = []
    for arm in view.arms:
        every += [*arm.correlations, *arm.trends]
    claims = [one for one in every if one.claims]
    if not claims:
        return ()
    untested = sum(one.agreement is Agreement.TOO_LITTLE for one in claims)
    return said(
        "Correlations and trends that the classic view calls high, very high, good or "
        "satisfactory: <b>{claims}</b>; not confirmed by the tested counterpart: <b>{refuted}</b>; "
        "not tested, because there is too little data: <b>{untested}</b>.",
        claims=len(claims),
        refuted=sum(one.agreement is not Agreement.AGREE for one in claims) - untested,
        untested=untested,
    )


def _too_short(shown: Shown) -> str:
    """Why there are no trends and correlations; empty where there are."""
    least, intervals = LIMITS["intervals"]["least_for_correlation"], shown.view.intervals
    if intervals >= least:
        return ""
    return str(WORDS["too_short"]).format(least=least, unit=shown.unit, intervals=intervals)


def _database(shown: Shown) -> Iterator[Block]:
    how = note(
        tr(
            "Trend: a line through z-scores, so the angle is at most 45°. Intervals of "
            "correlations are corrected for all pairs and arms; with two or three trials they "
            "exclude next to nothing. Intervals of trends are not corrected: they test what the "
            "classic view claims, and claim nothing."
        )
    )
    claims = (
        *_claimed(tr("Trends"), *claimed_trends(shown)),
        *_claimed(tr("Correlations"), *claimed_correlations(shown)),
        how,
    )
    yield Fold(tr("What the classic view claims"), claims, in_text=True)
    every = (trend_table(shown), correlation_table(shown, "database", "buffers"), _left_out())
    yield Fold(tr("Database: all trends and correlations"), every)
    if weights := weighted_table(shown):
        what = tr(
            "The weight of a wait type is its correlation with all waits, times the ratio of their "
            "midranges; the share is what it stands for."
        )
        yield Fold(tr("Weights of waits"), [weights, note(what)], in_text=True)


def _claimed(what: str, claimed: Table, others: int) -> Iterator[Block]:
    if claimed:
        yield Paragraph(tr("{what} that the classic view claims:", what=what))
        yield claimed
        yield Paragraph(tr("{others} others: no claim, or not measured.", others=others))
    else:
        words = tr("{what}: the classic view claims none of {others}.", what=what, others=others)
        yield Paragraph(words)


def _left_out() -> Paragraph:
    return note(tr("Pairs of which one never varied are left out."))


def _wait_events(shown: Shown) -> Iterator[Fold]:
    if events := pareto_table(shown, lambda one: one.events, ids=False):
        queries = pareto_table(shown, lambda one: one.queries, ids=True)
        what = tr(
            "Average sessions of the load. “Not known”: sessions without a query id, such as those "
            "that commit."
        )
        summary = tr("Wait events and queries: 80 % of each wait type")
        yield Fold(summary, [events, queries, note(what)])
    met, only = event_table(shown), only_table(shown)
    if met and only:
        chance = tr(
            "An event that is rarely sampled is missing from an arm by chance. p: that chance "
            "alone put all trials with the event into one arm, corrected for all events."
        )
        summary = tr("Wait events: by how many queries met them, and in one arm only")
        yield Fold(summary, [met, only, note(chance)])
    elif met:
        yield Fold(tr("Wait events: by how many queries met them"), [met])


def _host(shown: Shown, *, has_trends: bool) -> Iterator[Fold]:
    limits = note(
        tr(
            "Limits exceeded in more than half of the intervals are an ALARM, in a quarter or more "
            "a WARNING."
        ),
        shown.of_trials and tr("In brackets: the trials with the smallest and the largest share."),
        tr(
            "Memory that is free says little, because Linux uses it as cache; memory that is "
            "available is what counts."
        ),
    )
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
