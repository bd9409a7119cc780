"""Interactions of factors, and trends along a factor's levels, in one sentence each.

Enters: an Analysis. Leaves: findings. Never: decides anything.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import (
    Dependence,
    Interaction,
    SimpleEffect,
    Trend,
)
from pgassay.analysis.model import Analysis, RunFacts, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.endpoints import plain_badge
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import as_sentences, aside, interval, more_blocks, outlook, percent
from pgassay.notes import Note, Term

_RULE = "findings/answer/factors"
_FAMILIES = {
    Dependence.DEPENDS: "depends",
    Dependence.NEGLIGIBLE: "depends_negligibly",
    Dependence.INDEPENDENT: "independent",
    Dependence.UNDECIDED: "dependence_undecided",
}


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Returns a finding for each interaction, then one for each trend."""
    found = [
        Finding(FindingKind.INTERACTION, plain_badge(i.verdict), interaction_sentence(i, analysis))
        for i in analysis.answer.interactions
    ]
    found += [
        Finding(FindingKind.TREND, plain_badge(trend.verdict), trend_sentence(trend, analysis))
        for trend in analysis.answer.trends
    ]
    return found


def interaction_sentence(interaction: Interaction, analysis: Analysis) -> Note:
    """One sentence that says whether, and how, one effect depends on another factor."""
    undecided = interaction.verdict is Dependence.UNDECIDED
    base, other = simple_effects_of(interaction, analysis)
    form = outlook(interaction.estimate) if undecided else "any"
    sentence = Note.of(
        f"{_RULE}/{_FAMILIES[interaction.verdict]}.{form}",
        subject=f"{interaction.factor} = {interaction.level}",
        other=interaction.other,
        low=percent(base.estimate.effect_pct),
        base=base.at,
        high=percent(other.estimate.effect_pct),
        at=other.at,
        signed=percent(interaction.estimate.effect_pct),
        interval=interval(interaction.estimate),
        margin=100.0 * analysis.answer.smallest_effect,
        more=more_blocks(interaction.estimate.blocks_to_decide),
    )
    if not interaction.aliases:
        return sentence
    aliased = Note.of("findings/answer/aliased-interaction", list=tuple(interaction.aliases))
    return as_sentences(sentence, aliased)


def simple_effects_of(
    interaction: Interaction, analysis: Analysis
) -> tuple[SimpleEffect, SimpleEffect]:
    """The two effects whose difference is the interaction; first at the other's baseline."""
    own = [
        effect
        for effect in analysis.answer.simple_effects
        if (effect.factor, effect.level, effect.other)
        == (interaction.factor, interaction.level, interaction.other)
    ]
    return own[0], next(effect for effect in own if effect.at == interaction.at)


def trend_sentence(trend: Trend, analysis: Analysis) -> Note:
    """One sentence that says whether a metric rises or falls along a factor's levels."""
    effect, each = trend.estimate.effect_pct or 0.0, trend.per_doubling_pct
    moved = trend.verdict in (Verdict.BETTER, Verdict.WORSE)
    return Note.of(
        f"{_RULE}/trend.{'moves' if moved else trend.verdict.value}",
        metric=Term(METRICS[trend.metric].title),
        moves=Term("rises") if effect > 0 else Term("falls"),
        factor=trend.factor,
        signed=percent(effect),
        lowest=trend.lowest,
        highest=trend.highest,
        doubling=""
        if each is None
        else Note.of("findings/answer/with-each-doubling", change=percent(each)),
        interval=aside(interval(trend.estimate)),
        margin=100.0 * analysis.answer.smallest_effect,
    )
