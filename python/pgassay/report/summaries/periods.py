"""The top of a comparison of two periods.

Enters: the context. Leaves: an `Answer` for what changed most and for the speed, and (name, value)
pairs. Never: decides what is unusual.
"""

from __future__ import annotations

from pgassay.analysis.observation.periods.model import Difference, PeriodFacts
from pgassay.findings.observation.periods import ALWAYS, form_of, overall, sentence_of, usual_from
from pgassay.language import Message, tr
from pgassay.quantities import clock
from pgassay.report.context import PeriodsContext
from pgassay.report.document.blocks import Answer


def answers(context: PeriodsContext) -> tuple[Answer, ...]:
    """Returns what changed most, then throughput, SPEED and session time per transaction."""
    analysis = context.analysis
    found = len(analysis.unusual)
    nothing = tr("not clear") if analysis.source == "within" else tr("as usual")
    badge = (tr("changed"), "measured") if found else (nothing, "same")
    speed = (
        Answer(word_of(one), tone_of(one), sentence_of(one, analysis))
        for one in analysis.of(*ALWAYS)
    )
    return Answer(*badge, overall(analysis)), *speed


def facts(context: PeriodsContext) -> tuple[tuple[str, str], ...]:
    """Returns (name, value): which periods these are, and what the usual difference is from."""
    first, second = context.analysis.periods
    return (
        (tr("Baseline"), _period(first)),
        (tr("Compared"), _period(second)),
        (tr("What is usual"), str(usual_from(context.analysis))),
    )


def word_of(one: Difference) -> str:
    """Returns the badge of a figure."""
    return str(_WORDS[form_of(one)])


_WORDS = {
    "changed": Message("changed"),
    "usual": Message("as usual"),
    "open": Message("not clear"),
    "unknown": Message("not clear"),
}


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
