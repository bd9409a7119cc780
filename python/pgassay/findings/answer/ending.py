"""The end of a run in three lines: the level before and after, the verdict, what to do next.

Enters: an Analysis, its findings. Leaves: an `Ending` of codes with typed values. Never: decides a
verdict, or computes more than a count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.model import Analysis, Comparison, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.endpoints import (
    badge,
    contradicts,
    endpoint_sentence,
    few_blocks,
)
from pgassay.findings.answer.factors import interaction_sentence
from pgassay.findings.answer.limits import weakenings
from pgassay.findings.answer.queries import query_counts
from pgassay.findings.answer.undecided import reason_note, reason_of, way_note
from pgassay.findings.answer.verdicts import verdict_sentence
from pgassay.findings.model import FITNESS, Finding, FindingKind
from pgassay.findings.wording import as_sentences, aside, interval, measured, percent
from pgassay.notes import Importance, Note, Term
from pgassay.plan.model import Plan

_RULE = "findings/answer/ending"
_MOST_ROWS = 4
"""Levels that an ending names; the rest are counted."""
_FIRST = (Verdict.BETTER, Verdict.WORSE)
"""Verdicts that are named before others where there are more levels than rows."""


@dataclass(frozen=True)
class EndingRow:
    """One answer: of a level, or of an arm that is compared with none."""

    badge: Note
    """The verdict in a few words."""
    verdict: Verdict | None
    """None where nothing was compared."""
    sentence: Note
    """The verdict with its interval; where there are several rows, with the figures as well."""
    figures: Note | None = None
    """The metric at the baseline and at the level; None where the sentence has them."""
    queries: Note | None = None
    """How many queries of a set got which verdict; None of other loads."""


@dataclass(frozen=True)
class Ending:
    """What a run says at its end; the report has the rest."""

    rows: tuple[EndingRow, ...]
    following: Note
    """What to do next."""
    more: Note | None = None
    """How many levels have no row."""


def ending_of(plan: Plan, analysis: Analysis, findings: Sequence[Finding]) -> Ending:
    """Returns the ending of a run, finished or not."""
    whole = [one for one in analysis.answer.verdicts() if one.step is None]
    rows = tuple(_rows(whole, analysis, findings))
    left_out = len(whole) - len(rows) if whole else 0
    return Ending(
        rows,
        _following(plan, analysis, findings),
        Note.of("findings/answer/more-levels", n=left_out) if left_out else None,
    )


def _rows(
    whole: Sequence[Comparison], analysis: Analysis, findings: Sequence[Finding]
) -> Iterator[EndingRow]:
    if len(whole) == 1:
        (one,) = whole
        said = verdict_sentence(one, analysis)
        # The sentence of described levels has the figures.
        figures = None if one.verdict is Verdict.DESCRIBED else _named_figures(one)
        counts = query_counts(one, analysis)
        yield EndingRow(badge(one, analysis), one.verdict, said, figures, counts)
    elif whole:
        for one in _foremost(whole):
            said, counts = _compact(one, analysis), query_counts(one, analysis)
            yield EndingRow(badge(one, analysis), one.verdict, said, queries=counts)
    else:
        for found in (one for one in findings if one.kind is FindingKind.VERDICT):
            yield EndingRow(found.title, None, found.claim)


def _foremost(whole: Sequence[Comparison]) -> Sequence[Comparison]:
    """The verdicts that have a row, in the order of the plan: the largest clear effects first."""
    if len(whole) <= _MOST_ROWS:
        return whole
    ranked = sorted(whole, key=lambda one: (one.verdict not in _FIRST, -abs(one.effect_pct or 0.0)))
    return [one for one in whole if one in ranked[:_MOST_ROWS]]


def _named_figures(one: Comparison) -> Note:
    """Such as `8 041 → 9 933 tps (max_wal_size: 32MB → 4GB)`."""
    return Note.of(
        f"{_RULE}/figures.named",
        figures=_figures(one),
        factor=one.factor,
        baseline=one.baseline,
        level=one.level,
    )


def _figures(one: Comparison) -> Note:
    metric = METRICS[one.metric]
    return Note.of(
        f"{_RULE}/figures.{'tps' if metric.name == 'tps' else 'other'}",
        baseline=measured(one.baseline_mean, metric, with_unit=False),
        level=measured(one.level_mean, metric),
        metric=Term(metric.title),
    )


def _compact(one: Comparison, analysis: Analysis) -> Note:
    return Note.of(
        f"{_RULE}/row.text",
        subject=f"{one.factor} = {one.level}",
        figures=_figures(one),
        signed=percent(one.effect_pct),
        interval=aside(interval(one, analysis.answer.smallest_effect)),
    )


def _following(plan: Plan, analysis: Analysis, findings: Sequence[Finding]) -> Note:
    """What to do next: continue, run more blocks, heed a caveat, or nothing."""
    answer = analysis.answer
    whole = [one for one in answer.verdicts() if one.step is None]
    if answer.blocks < plan.min_blocks:
        return Note.of(f"{_RULE}/next.unfinished", least=plan.min_blocks)
    fitness = next((one.claim for one in findings if one.title.code == FITNESS), None)
    if fitness is not None:
        return fitness
    if whole and all(one.verdict is Verdict.DESCRIBED for one in whole):
        return Note(f"{_RULE}/next.described")
    for one in whole:
        if (why := reason_of(one, analysis)) is not None:
            return as_sentences(reason_note(why, answer.smallest_effect), way_note(why))
    doubts = [one.claim for one in findings if one.importance is Importance.VERDICT]
    if doubts:
        more = Note.of("findings/answer/more-caveats", n=len(doubts) - 1) if doubts[1:] else ""
        return Note.of(f"{_RULE}/next.caveat", caveat=doubts[0], more=more)
    for one in whole:
        contrary = (pair for pair in answer.beside(one) if contradicts(pair[0], one))
        said = (
            few_blocks(one),
            *(endpoint_sentence(*pair) for pair in contrary),
            *weakenings(one, analysis),
        )
        if (first := next(filter(None, said), None)) is not None:
            return first
    for found in answer.interactions:
        if found.verdict is Dependence.DEPENDS:
            return interaction_sentence(found, analysis)
    return Note(f"{_RULE}/next.{'nothing' if whole else 'single'}")
