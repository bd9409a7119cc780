"""The top of a comparison of two periods.

Enters: the context. Leaves: an `Answer` for what changed most and for the speed, and (name, value)
pairs. Never: decides what is unusual.
"""

from __future__ import annotations

from pgassay.analysis.observation.periods.model import Difference, PeriodFacts
from pgassay.findings.observation.periods import ALWAYS, overall, sentence_of, usual_from
from pgassay.language import tr
from pgassay.quantities import clock
from pgassay.report.context import PeriodsContext
from pgassay.report.document.blocks import Answer


def answers(context: PeriodsContext) -> tuple[Answer, ...]:
    """Returns what changed most, then throughput, SPEED and session time per transaction."""
    analysis = context.analysis
    found = len(analysis.unusual)
    badge = (tr("changed"), "measured") if found else (tr("as usual"), "same")
    shown = [Answer(*badge, overall(analysis))]
    for one in analysis.of(*ALWAYS):
        words = tr("changed") if one.is_unusual else tr("as usual")
        shown.append(Answer(words, tone_of(one), sentence_of(one, analysis)))
    return tuple(shown)


def facts(context: PeriodsContext) -> tuple[tuple[str, str], ...]:
    """Returns (name, value): which periods these are, and what the usual difference is from."""
    first, second = context.analysis.periods
    return (
        (tr("Baseline"), _period(first)),
        (tr("Compared"), _period(second)),
        (tr("What is usual"), str(usual_from(context.analysis))),
    )


def tone_of(one: Difference) -> str:
    """Returns whether a change is for the better or the worse, as a class of style.css; `measured`
    where no direction is good, `same` where it is no more than usual."""
    if not one.is_unusual:
        return "same"
    if one.figure.good == "neither":
        return "measured"
    return "better" if (one.second > one.first) == (one.figure.good == "higher") else "worse"


def _period(one: PeriodFacts) -> str:
    return tr("{label}, {length}", label=one.label, length=clock(one.seconds))
