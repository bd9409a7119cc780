"""The top of a comparison of runs made apart.

Enters: the context. Leaves: one `Headline` per side and arm, and (name, value) pairs.
Never: decides a verdict.
"""

from __future__ import annotations

from pgassay.analysis.model import Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.apart.verdicts import badge_of, limit_of, sentence_of, spread_sentence
from pgassay.language import decimals, listed, tr
from pgassay.report.charts.style import TONES
from pgassay.report.context import ApartContext
from pgassay.report.summaries.headline import Headline


def headlines(context: ApartContext) -> tuple[Headline, ...]:
    """That the comparison was forced, if it was; the verdicts over whole trials."""
    warned = [Headline(tr("forced"), TONES[Verdict.WORSE], text) for text in forced(context)]
    found = []
    for one in context.analysis.verdicts():
        if one.comparison.step is None:
            claim, interval = sentence_of(one, context.analysis)
            limit = limit_of(one)
            text = f"{tr('{text}.', text=f'{claim} {interval}'.rstrip())} {limit}".rstrip()
            badge = badge_of(one, forced=bool(warned))
            tone = TONES[Verdict.UNDECIDED if warned else one.comparison.verdict]
            found.append(Headline(badge, tone, text, limit))
    nothing = tr("The runs share no figure of the primary metric, so there is no result.")
    return (*warned, *(found or [Headline(tr("no result"), TONES[Verdict.UNDECIDED], nothing)]))


def facts(context: ApartContext) -> tuple[tuple[str, str], ...]:
    """(name, value): what was judged, and by which spread."""
    analysis = context.analysis
    metric = METRICS[analysis.metric]
    direction = {"higher": tr("higher is better"), "lower": tr("lower is better")}.get(metric.good)
    spreads = dict.fromkeys(words for one in analysis.verdicts() if (words := spread_sentence(one)))
    found = [
        (tr("Primary metric"), listed([metric.title, direction] if direction else [metric.title])),
        (
            tr("Smallest effect that matters"),
            f"±\xa0{decimals(100 * analysis.smallest_effect, 'g')}\xa0%",
        ),
        (tr("Baseline"), context.analysis.sides[0].name),
        (tr("Randomised"), tr("no: the runs were made apart")),
        *((tr("Spread between runs"), words) for words in spreads),
    ]
    return tuple(found)


def forced(context: ApartContext) -> tuple[str, ...]:
    """Why the comparison is meaningless, where it was forced."""
    return tuple(
        tr("The comparison is meaningless and was forced: {why}.", why=why)
        for why in context.analysis.forced
    )


def caveats(context: ApartContext) -> tuple[str, ...]:
    """What makes the comparison doubtful, the worst first."""
    analysis = context.analysis
    left_out = (
        tr("Not all runs have the arm {label}, which is left out.", label=label)
        for label in analysis.left_out
    )
    told = (tr("{text}.", text=text) for text in analysis.caveats)
    return (*forced(context), *told, *left_out)
