"""What limits a verdict: a few trials move its mean, it changes within trials, some were lost, rare
ones may be unseen.

Enters: a verdict and its Analysis. Leaves: words of its badge, sentences behind its own. Never:
decides or changes a verdict: that is of the mean over the measured time of the trials that count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from pgassay.analysis.compare.model import Comparison, Dependence
from pgassay.analysis.curves.model import EffectByHalf, HalfEffect
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.verdicts.model import CollapseOutlook, Losses, UnseenCollapses
from pgassay.findings.wording import aside, percent, percent_interval
from pgassay.notes import Note, Term

if TYPE_CHECKING:  # `plan` needs none of it
    from pgassay.analysis.model import Analysis

_RULE = "findings/answer/limits"
_Limit = TypeVar("_Limit", EffectByHalf, Losses, UnseenCollapses)


def by_half(verdict: Comparison, analysis: Analysis) -> EffectByHalf | None:
    """The effect in each half of trials; None where it is not known."""
    return _of(verdict, analysis.behaviour.by_half)


def losses(verdict: Comparison, analysis: Analysis) -> Losses | None:
    """The lost trials of the better level; None where there are none."""
    return _of(verdict, analysis.answer.losses)


def collapses(verdict: Comparison, analysis: Analysis) -> UnseenCollapses | None:
    """How often a level may collapse unseen; None but of levels that are alike."""
    return _of(verdict, analysis.answer.collapses)


def typical(verdict: Comparison, margin: float) -> float | None:
    """The effect in the typical trial, in per cent; None where it differs from the mean by no more
    than `margin`, a share of the baseline's mean or of the level's, if that is larger."""
    usual, effect = verdict.typical_pct, verdict.effect_pct
    if usual is None or effect is None:
        return None
    return usual if abs(usual - effect) > margin * max(100.0, 100.0 + effect) else None


def _of(verdict: Comparison, found: Iterable[_Limit]) -> _Limit | None:
    if verdict.step is not None:
        return None
    at = (verdict.factor, verdict.level)
    return next((one for one in found if (one.factor, one.level) == at), None)


def on_average(verdict: Comparison, analysis: Analysis, badge: Note) -> Note:
    """The badge; it says so where the verdict does not hold in each half of trials."""
    found = by_half(verdict, analysis)
    if found is None or found.verdict is not Dependence.DEPENDS or found.holds_in_both:
        return badge
    return Note.of(f"{_RULE}/halves.badge", verdict=badge)


def lost_words(verdict: Comparison, analysis: Analysis) -> list[Note]:
    """Return what the badge says of lost trials, such as `2 of its 14 trials lost`."""
    found = losses(verdict, analysis)
    if found is None:
        return []
    form = "level" if found.of_level == found.level else "baseline"
    return [Note.of(f"{_RULE}/losses.{form}", lost=found.lost, planned=found.planned)]


def limits(verdict: Comparison, analysis: Analysis) -> list[Note]:
    """Returns a note for each thing that limits what a verdict says."""
    unseen, usual = collapses(verdict, analysis), typical(verdict, analysis.answer.smallest_effect)
    found = []
    if usual is not None:
        mean = verdict.effect_pct or 0.0
        form = "higher" if mean > usual else "lower"
        found.append(Note.of(f"{_RULE}/typical.{form}", typical=usual, mean=mean))
    found += weakenings(verdict, analysis)
    if unseen is not None:
        found.append(_of_collapses(unseen))
    return found


def weakenings(verdict: Comparison, analysis: Analysis) -> list[Note]:
    """Returns a note for each thing by which a verdict might fall: its halves, its lost trials."""
    halves, lost = by_half(verdict, analysis), losses(verdict, analysis)
    found = []
    if halves is not None and halves.verdict is Dependence.DEPENDS:
        found.append(_of_halves(halves, analysis.answer.smallest_effect))
    if lost is not None:
        found.append(_of_losses(lost, verdict))
    return found


def collapse_line(outlook: CollapseOutlook) -> Note:
    """What a plan can say of rare collapses: after its fewest and most blocks, and for more."""
    fewest, *most = outlook.planned
    last = [
        Note.of(f"{_RULE}/outlook.last", blocks=one.trials, most=one.most_pct) for one in most[:1]
    ]
    needed = tuple(
        Note.of(
            f"{_RULE}/outlook.{'further' if place else 'needed'}",
            trials=one.trials,
            most=one.most_pct,
        )
        for place, one in enumerate(outlook.needed)
    )
    return Note.of(
        f"{_RULE}/outlook.line",
        blocks=fewest.trials,
        most=fewest.most_pct,
        last=last[0] if last else "",
        needed=needed,
    )


def _of_halves(found: EffectByHalf, margin: float) -> Note:
    return Note.of(
        f"{_RULE}/halves.sentence",
        first=percent(found.first.effect_pct),
        first_interval=aside(_of_half(found.first, margin)),
        second=percent(found.second.effect_pct),
        second_interval=aside(_of_half(found.second, margin)),
    )


def _of_losses(found: Losses, verdict: Comparison) -> Note:
    metric, tips = METRICS[verdict.metric], found.tips_at_pct
    form = "none" if tips is None else "faster" if metric.good == "higher" else "lower"
    return Note.of(
        f"{_RULE}/losses.{form}{'_one' if found.lost == 1 else ''}",
        lost=found.lost,
        planned=found.planned,
        subject=f"{found.factor} = {found.of_level}",
        metric=Term(metric.title),
        size=abs(tips or 0.0),
    )


def _of_collapses(found: UnseenCollapses) -> Note:
    return Note.of(
        f"{_RULE}/collapses.{'seen' if found.seen else 'unseen'}",
        subject=f"{found.factor} = {found.level}",
        blocks=found.blocks,
        seen=found.seen,
        most=found.most_pct,
    )


def _of_half(one: HalfEffect, margin: float) -> Note:
    return percent_interval(one.ci95_pct, margin, effect_pct=one.effect_pct)
